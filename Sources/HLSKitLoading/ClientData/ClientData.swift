/// What a player tells servers of itself and of its playing: Common Media Client Data, CMCD.
///
/// Requests over http and https carry it, as header fields or as one parameter of the URL; events can be reported to servers
/// of their own besides. URLs in logs, caches and recordings are those without it. It never holds credentials.
/// Without a configuration of this kind nothing is sent, and nothing is counted for it.
///
/// Sources: CTA-5004 (version 1), CTA-5004-B (version 2). See docs/behaviour/client-data.md.
public struct ClientData: Sendable, Hashable {
    /// The version of CMCD that requests carry. Events are always of version 2.
    public enum Version: Int, Sendable, Hashable, CaseIterable {
        case one = 1
        case two
    }

    /// How requests carry it.
    public enum Transmission: String, Sendable, Hashable, CaseIterable {
        /// `CMCD-Object`, `CMCD-Request`, `CMCD-Session` and `CMCD-Status`.
        case headers
        /// The parameter `CMCD` at the end of the URL's query. Nobody but the server sees it.
        case query
    }

    /// The value of a key of one's own. Version 2 knows strings and tokens of at most 64 characters: numbers are strings
    /// there, a flag is the token `true`, and what is longer is not sent.
    public enum CustomValue: Sendable, Hashable {
        /// In quotes; printable ASCII.
        case string(String)
        /// A word without quotes.
        case token(String)
        /// Up to fifteen digits.
        case integer(Int)
        /// Three digits after the point.
        case decimal(Double)
        /// The key alone.
        case flag
    }

    /// The header fields, by how often what they have changes.
    public enum HeaderField: String, Sendable, Hashable, CaseIterable {
        /// With the object that is asked for.
        case object = "CMCD-Object"
        /// With each request.
        case request = "CMCD-Request"
        /// Not in a session.
        case session = "CMCD-Session"
        /// Now and then.
        case status = "CMCD-Status"
    }

    /// A server that events are reported to.
    ///
    /// Events go by POST as `application/cmcd`, one a line, several at a time, without the user's credentials and without
    /// cookies. Redirects are followed. At most 500 lines wait, then the oldest goes. Status 429 and 5xx, and no answer within
    /// 10 s, are tried again as `Retry-After` says or after 1 s, 2 s and so on up to 1 min; 410 ends the reports of the
    /// session; other answers end those of the batch. Playback waits for none of it.
    public struct EventTarget: Sendable, Hashable {
        /// Where they go: http or https. User information in it is not sent.
        public var urlString: String
        /// Default: all but ``ClientData/Event/responseReceived``.
        public var events: Set<Event> = Set(Event.allCases).subtracting([.responseReceived])
        /// The time between events of ``ClientData/Event/timeInterval``; 1 s at least, zero for none. Default 30 s.
        public var interval = Duration.seconds(30)
        /// A report goes when so many events are there, from 1 to 100. Default 10.
        public var batchCount = 10
        /// A report goes when its first event is so old. Default 5 s.
        public var batchDelay = Duration.seconds(5)
        /// As ``ClientData/keys``, for this target. Keys that the kind of event requires are sent anyway.
        public var keys: Set<String>?
        /// The value of `Authorization` for this target and its origin alone. Default: none.
        public var authorization: String?

        /// Makes a target.
        public init(urlString: String) { self.urlString = urlString }
    }

    /// Kinds of events, by their tokens.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        case playState = "ps"
        case bitrateChange = "bc"
        case playbackRate = "pr"
        case contentID = "c"
        /// Media comes from another host.
        case hostname = "h"
        case error = "e"
        case timeInterval = "t"
        /// A request has ended; one line for each.
        case responseReceived = "rr"
        case mute = "m"
        case unmute = "um"
        /// These are known to the program alone: ``Player/report(_:)``.
        case backgrounded = "b"
        case playerExpand = "pe"
        case playerCollapse = "pc"
        case adBreakStart = "abs"
        case adBreakEnd = "abe"
        case adStart = "as"
        case adEnd = "ae"
        case skip = "sk"
        case custom = "ce"
    }

    /// Default: 1.
    public var version = Version.one
    /// Default: header fields. nil leaves requests alone: only events are reported.
    public var transmission: Transmission? = .headers
    /// Names the content, `cid`: at most 64 characters in version 1, 128 in version 2; what is longer is cut. Default: none.
    public var contentID: String?
    /// Names the session, `sid`, at most 64 characters. nil (the default) is the playback session's UUID, which
    /// `X-Playback-Session-Id` and logs have.
    public var sessionID: String?
    /// A signature of the content, `cs`, in version 2. Default: none.
    public var contentSignature: String?
    /// The keys that are sent, custom ones among them. nil (the default) is all but `tpb`, which tells more of the machine
    /// than most servers need.
    public var keys: Set<String>?
    /// Keys of one's own: lower case, and with a prefix of the kind `com.example-`. Others are not sent.
    public var customKeys: [String: CustomValue] = [:]
    /// Where these go in header fields, by their names. Default: ``HeaderField/request``.
    public var customKeyFields: [String: HeaderField] = [:]
    /// The throughput that is asked for, `rtp`, is the bit rate times this. Default 5.
    public var requestedThroughputFactor = 5.0
    /// Where events are reported.
    public var eventTargets: [EventTarget] = []

    /// Makes a configuration: version 1 in header fields, all keys.
    public init() {}

    /// Whether a name may be that of a custom key: `[a-z][a-z0-9.-]*` with a hyphen inside.
    public static func isCustomKey(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, (0x61...0x7A).contains(first), bytes.last != 0x2D else { return false }
        return bytes.contains(0x2D)
            && bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E }
    }

    /// Whether a version has a key of this name.
    package static func isKey(_ name: String, in version: Version) -> Bool {
        guard let key = ClientDataKey(rawValue: name) else { return false }
        return version == .one ? ClientDataKey.versionOne.contains(key) : key != .nrr
    }
}
