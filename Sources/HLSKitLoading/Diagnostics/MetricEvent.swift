public import FoundationEssentials
public import HLSKitPlaylist
public import HLSKitTime

/// Something measured while an item is loaded and played.
///
/// The types are named as in AVFoundation, without `AV`; `PlayerItem.metrics(ofType:)` gives those of one type.
/// See docs/behaviour/logs.md.
public protocol MetricEvent: Sendable {
    /// When it was measured, and where playback was.
    var context: MetricContext { get }
}

extension MetricEvent {
    /// The event as one JSON object: `v`, `event`, what it says, `item_time`, `date` and at last `time`. Empty for kinds
    /// that are not the library's.
    public var jsonLine: String { (self as? any MetricRecord)?.record ?? "" }
}

/// A metric event that the library makes, as a line of NDJSON.
package protocol MetricRecord: MetricEvent {
    /// The name of the kind.
    static var name: String { get }
    /// See ``MetricEvent/jsonLine``.
    var record: String { get }
}

/// When something was measured, and where playback was.
public struct MetricContext: Sendable, Hashable {
    /// When it was measured, by the wall clock.
    public var date: PlaylistDate
    /// Time since the player was made.
    public var elapsedTime: Duration
    /// The item time that was being presented.
    public var mediaTime: MediaTime
    /// Names the playback session to servers, too.
    public var sessionID: String

    /// Makes a context.
    package init(date: PlaylistDate, elapsedTime: Duration, mediaTime: MediaTime, sessionID: String) {
        self.date = date
        self.elapsedTime = elapsedTime
        self.mediaTime = mediaTime
        self.sessionID = sessionID
    }
}

/// One request, from its start to its end.
public struct MetricRequest: Sendable, Hashable {
    /// The URL that was requested, without secrets; nil where ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The URL that was requested as it was written, without secrets.
    public var urlString: String
    /// The peer's numeric address; nil if there was no response.
    public var serverAddress: String?
    /// The HTTP status, of an answer that is an error too; 200 or 206 for other schemes; nil if there was no response.
    public var statusCode: Int?
    /// Times since the player was made; ``responseStartTime`` is nil if no answer came.
    public var requestStartTime: Duration
    /// When the first byte of the response arrived; see ``requestStartTime``.
    public var responseStartTime: Duration?
    /// When the request ended, whether it succeeded or not; see ``requestStartTime``.
    public var responseEndTime: Duration
    /// Bytes of the body that arrived.
    public var byteCount: Int
    /// The response came from a cache, so that it says nothing about the network.
    public var wasReadFromCache: Bool
    /// What servers told with the response (CMSD); nil where they told nothing.
    public var serverData: ServerData? { serverNote?.data }
    package var serverNote: ServerDataNote?
    /// Why it failed; nil if it did not.
    public var error: String?
    /// Phases of the transfer, where it came to an end.
    public var transfer: TransferMetrics?

    /// Makes a request that succeeded, without details of its transfer.
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
    /// When the transfer began, which waits for a connection where those are limited, and when its phases were over: nil
    /// for those that did not take place, as on a connection that was open.
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
    /// What servers told, where they did.
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
