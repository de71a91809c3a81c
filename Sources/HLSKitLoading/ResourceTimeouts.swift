/// The deadlines of requests, by the class of the resource (D04).
///
/// The properties of ``TransportTimeouts`` set here directly hold for every class that has no deadlines of its own:
/// `timeouts.firstByte = .seconds(4)` is for all, `timeouts[.key].firstByte = .seconds(2)` for keys alone.
@dynamicMemberLookup
public struct ResourceTimeouts: Sendable, Hashable {
    private var common: TransportTimeouts
    private var own: [ResourceClass: TransportTimeouts] = [:]

    /// The same deadlines for all classes.
    public init(_ common: TransportTimeouts = .init()) { self.common = common }

    /// The deadlines of one class. Setting one of them gives the class deadlines of its own: those for all as they are at that
    /// time, and the change.
    public subscript(resourceClass: ResourceClass) -> TransportTimeouts {
        get { own[resourceClass] ?? common }
        set { own[resourceClass] = newValue }
    }

    /// A deadline of all classes that have none of their own.
    public subscript<Value>(dynamicMember path: WritableKeyPath<TransportTimeouts, Value>) -> Value {
        get { common[keyPath: path] }
        set { common[keyPath: path] = newValue }
    }
}
