/// A large, rarely changed value in its own box. Copying its owner copies only one reference.
@propertyWrapper
package struct Shared<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    package init(wrappedValue: Value) { box = Box(wrappedValue) }

    package var wrappedValue: Value {
        _read { yield box.value }
        set { box = Box(newValue) }
    }
}
