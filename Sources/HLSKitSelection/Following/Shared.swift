/// A large value that seldom changes, stored separately, so that a copy of its owner copies one reference.
///
/// It is inlinable because the engine reads playlists through it at every event, and an accessor that is not specialized
/// copies the whole value.
@propertyWrapper
@usableFromInline
package struct Shared<Value: Sendable>: Sendable {
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable
    package init(wrappedValue: Value) { box = Box(wrappedValue) }

    @inlinable
    package var wrappedValue: Value {
        _read { yield box.value }
        set { box = Box(newValue) }
    }
}
