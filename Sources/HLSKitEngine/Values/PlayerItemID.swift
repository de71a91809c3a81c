import Synchronization

/// A unique identifier of a ``PlayerItem`` in the process. It is never reused.
public struct PlayerItemID: Sendable, Hashable, CustomStringConvertible {
    private static let last = Atomic(0)
    private let number = Self.last.add(1, ordering: .relaxed).newValue

    package init() {}

    /// A text such as `item 3` for the third item of the process.
    public var description: String { "item \(number)" }
}
