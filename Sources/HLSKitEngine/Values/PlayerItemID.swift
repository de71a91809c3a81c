import Synchronization

/// Tells an item from every other one of the process, also from those that are gone. See ``PlayerItem``.
public struct PlayerItemID: Sendable, Hashable, CustomStringConvertible {
    private static let last = Atomic(0)
    private let number = Self.last.add(1, ordering: .relaxed).newValue

    package init() {}

    /// `item 3`, for the third item of the process.
    public var description: String { "item \(number)" }
}
