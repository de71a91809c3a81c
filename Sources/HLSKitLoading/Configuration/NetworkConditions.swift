/// Properties of the network besides its speed. On Linux only the program knows them.
public struct NetworkConditions: Sendable, Hashable {
    /// Bytes cost money: an item's preferences for expensive networks hold. Default false.
    public var isExpensive: Bool
    /// Its user wants as little of it used as possible. Default false.
    public var isConstrained: Bool

    /// Makes conditions; by default the network is neither expensive nor constrained.
    public init(isExpensive: Bool = false, isConstrained: Bool = false) {
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }
}
