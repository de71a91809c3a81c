/// What is known of the network besides its speed.
public struct NetworkConditions: Sendable, Hashable {
    /// Bytes cost money: an item's preferences for expensive networks hold. Default false.
    public var isExpensive: Bool

    public init(isExpensive: Bool = false) {
        self.isExpensive = isExpensive
    }
}
