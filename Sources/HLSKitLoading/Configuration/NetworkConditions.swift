/// Properties of the network other than its speed.
///
/// On Linux, only your app knows them.
public struct NetworkConditions: Sendable, Hashable {
    /// A Boolean value that indicates whether the network is expensive.
    ///
    /// The default is `false`. On an expensive network, an item's preferences for expensive networks apply.
    public var isExpensive: Bool
    /// A Boolean value that indicates whether the user wants to reduce network use.
    ///
    /// The default is `false`.
    public var isConstrained: Bool

    /// Creates conditions.
    ///
    /// By default, the network is neither expensive nor constrained.
    public init(isExpensive: Bool = false, isConstrained: Bool = false) {
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }
}
