public import HLSKitPlaylist

/// One failure of an item, also of those that were retried or worked around.
public struct ErrorLogEvent: Sendable, Hashable {
    /// When it failed, by the wall clock.
    public var date: PlaylistDate
    /// The resource that was being loaded, without user information; nil if there was none.
    public var uri: String?
    /// The peer's numeric address, where it answered.
    public var serverAddress: String?
    /// The session, as in ``AccessLogEvent/playbackSessionID``.
    public var playbackSessionID: String?
    /// The HTTP status; nil if there is none.
    public var errorStatusCode: Int?
    /// The area of the failure.
    public var errorDomain: HLSError.Domain
    /// A description of the failure.
    public var errorComment: String?
    /// The header of the answer, as far as there was one.
    public var allHTTPResponseHeaderFields: [TransportField]

    /// Makes an event; what has a default is unknown.
    package init(
        date: PlaylistDate, uri: String? = nil, serverAddress: String? = nil, playbackSessionID: String? = nil,
        errorStatusCode: Int? = nil, errorDomain: HLSError.Domain = .core, errorComment: String? = nil,
        allHTTPResponseHeaderFields: [TransportField] = []
    ) {
        self.date = date
        self.uri = uri
        self.serverAddress = serverAddress
        self.playbackSessionID = playbackSessionID
        self.errorStatusCode = errorStatusCode
        self.errorDomain = errorDomain
        self.errorComment = errorComment
        self.allHTTPResponseHeaderFields = allHTTPResponseHeaderFields
    }

    /// The event as a line of the extended format, with its line feed.
    package var extendedLogLine: String {
        ExtendedLogText.line([
            .date(date), .time(date), .string(uri), .string(serverAddress), .string(playbackSessionID),
            .integer(Int64(errorStatusCode ?? -1)), .string(errorDomain.rawValue), .string(errorComment),
        ])
    }

    /// The event as one JSON object.
    public var jsonLine: String {
        var line = JSONLine(event: "error_log")
        line.add("date", .date(date))
        line.add("uri", .string(uri))
        line.add("server_address", .string(serverAddress))
        line.add("playback_session_id", .string(playbackSessionID))
        line.add("status_code", .integer(Int64(errorStatusCode ?? -1)))
        line.add("domain", .string(errorDomain.rawValue))
        line.add("comment", .string(errorComment))
        return line.text
    }
}

/// The failures of an item, in the order in which they happened: the last thousand of them.
public struct ErrorLog: Sendable, Hashable {
    /// The oldest first.
    public var events: [ErrorLogEvent]

    /// Makes a log; empty by default.
    package init(events: [ErrorLogEvent] = []) {
        self.events = events
    }

    /// The log in the W3C extended format, `-` for what is not known.
    public var extendedLogText: String { Self.extendedLogHeader + events.map(\.extendedLogLine).joined() }

    /// What the extended format begins with, with its line feeds.
    package static var extendedLogHeader: String {
        ExtendedLogText(columns: ["date", "time", "uri", "s-ip", "cs-guid", "status", "domain", "comment"]).header
    }

    /// ``extendedLogText`` as bytes.
    package func extendedLogData() -> [UInt8] { Array(extendedLogText.utf8) }

    /// One JSON object per line.
    public var jsonLines: String { events.map { $0.jsonLine + "\n" }.joined() }
}
