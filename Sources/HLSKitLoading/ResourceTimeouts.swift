/// The deadlines of requests by resource class (D04).
///
/// The properties of ``TransportTimeouts`` apply to every class without separate deadlines. For example,
/// `timeouts.firstByte = .seconds(4)` applies to all, and `timeouts[.key].firstByte = .seconds(2)` only to keys.
@dynamicMemberLookup
public struct ResourceTimeouts: Sendable, Hashable {
    private var common: TransportTimeouts
    private var own: [ResourceClass: TransportTimeouts] = [:]

    /// Creates the same deadlines for all classes.
    public init(_ common: TransportTimeouts = .init()) { self.common = common }

    /// The deadlines of one class.
    ///
    /// The first change gives the class separate deadlines: a copy of the common ones with the change.
    public subscript(resourceClass: ResourceClass) -> TransportTimeouts {
        get { own[resourceClass] ?? common }
        set { own[resourceClass] = newValue }
    }

    /// A deadline of all classes without separate deadlines.
    public subscript<Value>(dynamicMember path: WritableKeyPath<TransportTimeouts, Value>) -> Value {
        get { common[keyPath: path] }
        set { common[keyPath: path] = newValue }
    }
}
