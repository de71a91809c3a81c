public import HLSPlaylist

/// One failure of an item, also of those that were retried or worked around.
public struct ErrorLogEvent: Sendable, Hashable {
    /// The area of a failure. An open set.
    public struct Domain: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A server answered with a status that is an error.
        public static let http = Domain(rawValue: "http")
        /// No answer, or not all of it.
        public static let network = Domain(rawValue: "network")
        /// A playlist that cannot be read.
        public static let playlist = Domain(rawValue: "playlist")
        /// Media that cannot be read or decoded.
        public static let media = Domain(rawValue: "media")
        /// A key that is missing or wrong.
        public static let key = Domain(rawValue: "key")
        /// The player itself, or a call to it.
        public static let core = Domain(rawValue: "core")
    }

    /// When it failed, by the wall clock.
    public var date: PlaylistDate
    /// The resource that was being loaded, without user information; nil if there was none.
    public var uri: String?
    /// The peer's numeric address, where it answered.
    public var serverAddress: String?
    /// The session, as in ``AccessLogEvent/playbackSessionID``.
    public var playbackSessionID: String?
    /// The HTTP status; negative if there is none.
    public var errorStatusCode: Int
    /// The area of the failure.
    public var errorDomain: Domain
    /// A description of the failure.
    public var errorComment: String?
    /// The header of the answer, as far as there was one.
    public var allHTTPResponseHeaderFields: [HTTPField]

    /// Makes an event; what has a default is unknown.
    public init(
        date: PlaylistDate, uri: String? = nil, serverAddress: String? = nil, playbackSessionID: String? = nil,
        errorStatusCode: Int = -1, errorDomain: Domain = .core, errorComment: String? = nil,
        allHTTPResponseHeaderFields: [HTTPField] = []
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
    public var extendedLogLine: String {
        ExtendedLogText.line([
            .date(date), .time(date), .string(uri), .string(serverAddress), .string(playbackSessionID),
            .integer(Int64(errorStatusCode)), .string(errorDomain.rawValue), .string(errorComment),
        ])
    }

    /// The event as one JSON object.
    public var jsonLine: String {
        var line = JSONLine(event: "error_log")
        line.add("date", .date(date))
        line.add("uri", .string(uri))
        line.add("server_address", .string(serverAddress))
        line.add("playback_session_id", .string(playbackSessionID))
        line.add("status_code", .integer(Int64(errorStatusCode)))
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
    public init(events: [ErrorLogEvent] = []) {
        self.events = events
    }

    /// The log in the W3C extended format, `-` for what is not known.
    public var extendedLogText: String { Self.extendedLogHeader + events.map(\.extendedLogLine).joined() }

    /// What the extended format begins with, with its line feeds.
    public static var extendedLogHeader: String {
        ExtendedLogText(columns: ["date", "time", "uri", "s-ip", "cs-guid", "status", "domain", "comment"]).header
    }

    /// ``extendedLogText`` as bytes.
    public func extendedLogData() -> [UInt8] { Array(extendedLogText.utf8) }

    /// One JSON object per line.
    public var jsonLines: String { events.map { $0.jsonLine + "\n" }.joined() }
}
