import Synchronization

/// Tells an item from every other one of the process, also from those that are gone. See ``PlayerItem``.
public struct PlayerItemID: Sendable, Hashable {
    private static let last = Atomic(0)
    private let number = Self.last.add(1, ordering: .relaxed).newValue

    init() {}
}
