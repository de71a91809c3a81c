/// The Common Media Server Data (CMSD) of a response.
///
/// It is read from the fields `CMSD-Static` and `CMSD-Dynamic`. Values of the wrong type and malformed fields are
/// ignored.
///
/// Source: CTA-5006.
public struct ServerData: Sendable, Hashable {
    /// The `CMSD-Static` field as sent, or `nil` if there is none.
    public var staticText: String?
    /// The `CMSD-Dynamic` field as sent, or `nil` if there is none.
    public var dynamicText: String?
    /// The throughput in bits per second that the last server estimates (`etp`).
    ///
    /// The last server is the one next to the player.
    public var estimatedThroughput: Double?
    /// The highest bit rate that the player should use, in bits per second (`mb`).
    ///
    /// It is the lowest value of all servers on the path.
    public var maximumBitRate: Double?
    /// The round-trip time to the last server (`rtt`).
    public var roundTripTime: Duration?
    /// The longest time for which a server waited for the first byte (`rd`).
    public var responseDelay: Duration?
    /// A Boolean value that indicates whether a server on the path is under duress (`du`).
    public var isUnderDuress = false
    /// The time at which the resource became available at the origin, in milliseconds since 1970 (`at`).
    public var availabilityTime: Int?
    /// The time for which the origin blocked the response (`ht`).
    public var heldTime: Duration?

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
        // Each server appends its entry, so the last one is next to the player.
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

/// A box for server data. Most servers send none, and the reference then only takes eight bytes.
package final class CMSDRecord: Sendable, Hashable {
    package let data: ServerData

    package init(_ data: ServerData) { self.data = data }

    package convenience init?(_ fields: [TransportField]) {
        guard let data = ServerData(fields) else { return nil }
        self.init(data)
    }

    package static func == (one: CMSDRecord, other: CMSDRecord) -> Bool {
        one === other || one.data == other.data
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(data) }
}

extension TransportField {
    /// Fast, because it is called for every field of every response.
    fileprivate var isOfServerData: Bool {
        let bytes = name.utf8
        guard bytes.count > 5, let first = bytes.first, first == 0x43 || first == 0x63 else { return false }
        return name.prefix(5).lowercased() == "cmsd-"
    }
}

extension StructuredItem.Value {
    /// A nonnegative integer. Some servers write decimals instead of integers.
    fileprivate var natural: Int? {
        switch self {
        case .integer(let number) where number >= 0: number
        case .decimal(let number) where number >= 0: Int(number.rounded())
        default: nil
        }
    }
}
