public import FoundationEssentials
public import HLSKitPlaylist
public import HLSKitTime

/// A measurement made while an item is loaded and played.
///
/// The types have AVFoundation's names without `AV`. `PlayerItem.metrics(ofType:)` returns the events of one type. See
/// <doc:Logging>.
public protocol MetricEvent: Sendable {
    /// The time of the measurement, and the position of playback.
    var context: MetricContext { get }
}

extension MetricEvent {
    /// The event as one JSON object, or an empty string for event types of other modules.
    ///
    /// The members are `v`, `event`, the values of the event, `item_time`, `date` and finally `time`.
    public var jsonLine: String { (self as? any MetricRecord)?.record ?? "" }
}

package protocol MetricRecord: MetricEvent {
    static var name: String { get }
    var record: String { get }
}

/// The time of a measurement, and the position of playback.
public struct MetricContext: Sendable, Hashable {
    /// The date of the measurement on the wall clock.
    public var date: PlaylistDate
    /// The time since the creation of the player.
    public var elapsedTime: Duration
    /// The item time that was being presented.
    public var mediaTime: MediaTime
    /// The ID of the playback session, which servers receive, too.
    public var sessionID: String

    package init(date: PlaylistDate, elapsedTime: Duration, mediaTime: MediaTime, sessionID: String) {
        self.date = date
        self.elapsedTime = elapsedTime
        self.mediaTime = mediaTime
        self.sessionID = sessionID
    }
}

/// A request from its start to its end.
public struct MetricRequest: Sendable, Hashable {
    /// The requested URL without secrets, or `nil` if ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The requested URL as written, without secrets.
    public var urlString: String
    /// The numeric address of the peer, or `nil` if there was no response.
    public var serverAddress: String?
    /// The HTTP status, even of an error response, or `nil` if there was no response.
    ///
    /// For other schemes, it is 200 or 206.
    public var statusCode: Int?
    /// The time of the request since the creation of the player.
    public var requestStartTime: Duration
    /// The time of the first byte of the response, or `nil` if there was no response.
    ///
    /// It counts from the creation of the player.
    public var responseStartTime: Duration?
    /// The time at which the request succeeded or failed.
    ///
    /// It counts from the creation of the player.
    public var responseEndTime: Duration
    /// The number of received bytes of the body.
    public var byteCount: Int
    /// A Boolean value that indicates whether the response came from a cache.
    ///
    /// It then does not count for the measured throughput.
    public var wasReadFromCache: Bool
    /// The CMSD data of the response, or `nil` if there was none.
    public var serverData: ServerData? { serverNote?.data }
    package var serverNote: CMSDRecord?
    /// The reason for the failure, or `nil` if the request succeeded.
    public var error: String?
    /// The phases of the transfer, if it has ended.
    public var transfer: TransferMetrics?

    package init(
        url: String, requestStartTime: Duration, responseEndTime: Duration, byteCount: Int = 0,
        wasReadFromCache: Bool = false
    ) {
        urlString = Redaction.url(url)
        self.requestStartTime = requestStartTime
        self.responseEndTime = responseEndTime
        self.byteCount = byteCount
        self.wasReadFromCache = wasReadFromCache
    }

    package var members: [(String, LogValue)] {
        [
            ("url", .string(urlString)), ("server_address", .string(serverAddress)),
            ("request_start", LogValue(requestStartTime.seconds)),
            ("response_start", LogValue(responseStartTime?.seconds)),
            ("response_end", LogValue(responseEndTime.seconds)), ("bytes", .integer(Int64(byteCount))),
            ("from_cache", .bool(wasReadFromCache)), ("error", .string(error)),
        ] + phaseMembers + serverMembers
    }
}

extension MetricRequest {
    /// The start of the transfer, which may wait for a connection, and the ends of its phases. Phases that did not take
    /// place are nil, for example on a reused connection.
    private var phaseMembers: [(String, LogValue)] {
        let began = transfer.map { transfer in
            max(requestStartTime, (responseStartTime ?? requestStartTime + transfer.firstByte) - transfer.firstByte)
        }
        func end(_ phase: KeyPath<TransferMetrics, Duration>) -> LogValue {
            guard let transfer, let began, transfer[keyPath: phase] > .zero else { return .string(nil) }
            return LogValue((began + transfer[keyPath: phase]).seconds)
        }
        let name = transfer.flatMap { $0.protocolName.isEmpty ? nil : $0.protocolName }
        return [
            ("transfer_start", LogValue(began?.seconds)), ("name_lookup_end", end(\.nameLookup)),
            ("connect_end", end(\.connect)), ("secure_connect_end", end(\.secureConnect)),
            ("protocol", .string(name)),
            ("reused_connection", transfer.map { .bool($0.reusedConnection) } ?? .string(nil)),
        ]
    }
}

extension MetricRequest {
    private var serverMembers: [(String, LogValue)] {
        guard let serverData else { return [] }
        return [
            ("cmsd_static", .string(serverData.staticText)), ("cmsd_dynamic", .string(serverData.dynamicText)),
        ].filter { if case .string(nil) = $0.1 { false } else { true } }
    }
}

extension MetricRecord {
    package func line(_ members: [(String, LogValue)]) -> String {
        var line = JSONLine(event: Self.name)
        for (name, value) in members { line.add(name, value) }
        let time = context.mediaTime
        line.add("item_time", LogValue(time.isNumeric ? time.seconds : nil))
        line.add("date", .date(context.date))
        line.add("time", LogValue(context.elapsedTime.seconds))
        return line.text
    }
}
