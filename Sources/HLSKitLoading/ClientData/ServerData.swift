/// What a server tells of a response and of itself: Common Media Server Data, CMSD.
///
/// Read from the fields `CMSD-Static` and `CMSD-Dynamic`. Values that are not of their key's kind are left out, and so is a
/// field that is no structured field. Source: CTA-5006.
public struct ServerData: Sendable, Hashable {
    /// `CMSD-Static`, as sent; nil without one.
    public var staticText: String?
    /// `CMSD-Dynamic`, as sent; nil without one.
    public var dynamicText: String?
    /// `etp` of the server next to the player: the throughput that it estimates, in bits per second.
    public var estimatedThroughput: Double?
    /// `mb`, the least of all servers on the way: the bit rate that is not to be exceeded, in bits per second.
    public var maximumBitRate: Double?
    /// `rtt` of the server next to the player.
    public var roundTripTime: Duration?
    /// `rd`, the longest: how long the first byte was waited for at a server.
    public var responseDelay: Duration?
    /// `du`: a server on the way is under duress.
    public var isUnderDuress = false
    /// `at`: when the resource became available at the origin, in milliseconds since 1970.
    public var availabilityTime: Int?
    /// `ht`: how long the origin held the response.
    public var heldTime: Duration?

    /// nil where no field is of CMSD.
    package init?(_ fields: [TransportField]) {
        func text(_ name: String) -> String? {
            let values = fields.lazy.filter { $0.isNamed(name) }.map(\.value)
            let text = values.joined(separator: ", ")
            return text.isEmpty ? nil : text
        }
        guard fields.contains(where: \.isOfServerData) else { return nil }
        staticText = text("CMSD-Static")
        dynamicText = text("CMSD-Dynamic")
        if staticText == nil, dynamicText == nil { return nil }
        let own = staticText.flatMap(StructuredItem.dictionary) ?? [:]
        availabilityTime = own["at"].flatMap { $0.value.natural }
        heldTime = own["ht"].flatMap { $0.value.natural }.map { .milliseconds($0) }
        // Servers add themselves at the end: the last one is next to the player.
        for server in dynamicText.flatMap(StructuredItem.list) ?? [] { take(server.parameters) }
    }

    private mutating func take(_ parameters: [String: StructuredItem.Value]) {
        estimatedThroughput = parameters["etp"]?.natural.map { Double($0) * 1000 }
        roundTripTime = parameters["rtt"]?.natural.map { .milliseconds($0) }
        if let limit = parameters["mb"]?.natural.map({ Double($0) * 1000 }) {
            maximumBitRate = min(maximumBitRate ?? limit, limit)
        }
        if let delay = parameters["rd"]?.natural.map({ Duration.milliseconds($0) }) {
            responseDelay = max(responseDelay ?? delay, delay)
        }
        if parameters["du"] == .flag(true) { isUnderDuress = true }
    }
}

/// What servers told, kept apart: most never tell anything, and carry eight bytes.
package final class ServerDataNote: Sendable, Hashable {
    package let data: ServerData

    package init(_ data: ServerData) { self.data = data }

    /// nil where no field is of CMSD.
    package convenience init?(_ fields: [TransportField]) {
        guard let data = ServerData(fields) else { return nil }
        self.init(data)
    }

    package static func == (one: ServerDataNote, other: ServerDataNote) -> Bool {
        one === other || one.data == other.data
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(data) }
}

extension TransportField {
    /// Asked of each field of each response.
    fileprivate var isOfServerData: Bool {
        let bytes = name.utf8
        guard bytes.count > 5, let first = bytes.first, first == 0x43 || first == 0x63 else { return false }
        return name.prefix(5).lowercased() == "cmsd-"
    }
}

extension StructuredItem.Value {
    /// A number that is not negative. Some servers write decimals where whole ones belong.
    fileprivate var natural: Int? {
        switch self {
        case .integer(let number) where number >= 0: number
        case .decimal(let number) where number >= 0: Int(number.rounded())
        default: nil
        }
    }
}
