/// The Common Media Client Data (CMCD) that a player sends to servers.
///
/// Requests over http and https carry it in header fields or in one parameter of the URL. Events can also be reported
/// to separate servers. URLs in logs, caches and recordings do not contain the data, and the data never contains
/// credentials. Without such a configuration, nothing is sent or measured for it.
///
/// Sources: CTA-5004 (version 1), CTA-5004-B (version 2).
public struct ClientData: Sendable, Hashable {
    /// The version of CMCD in requests.
    ///
    /// Events always use version 2.
    public enum Version: Int, Sendable, Hashable, CaseIterable {
        case one = 1
        case two
    }

    /// The way in which requests carry the data.
    public enum Transmission: String, Sendable, Hashable, CaseIterable {
        /// The fields `CMCD-Object`, `CMCD-Request`, `CMCD-Session` and `CMCD-Status`.
        case headers
        /// The parameter `CMCD` at the end of the URL's query, which only the server sees.
        case query
    }

    /// The value of a custom key.
    ///
    /// Version 2 has strings and tokens of at most 64 characters. It sends numbers as strings and a flag as the token
    /// `true`, and omits longer values.
    public enum CustomValue: Sendable, Hashable {
        /// A quoted string of printable ASCII characters.
        case string(String)
        /// A word without quotes.
        case token(String)
        /// An integer of up to fifteen digits.
        case integer(Int)
        /// A number with three digits after the decimal point.
        case decimal(Double)
        /// The key without a value.
        case flag
    }

    /// The header fields, which differ in how often their content changes.
    public enum HeaderField: String, Sendable, Hashable, CaseIterable {
        /// Data that changes with the requested object.
        case object = "CMCD-Object"
        /// Data that changes with each request.
        case request = "CMCD-Request"
        /// Data that does not change during a session.
        case session = "CMCD-Session"
        /// Data that changes occasionally.
        case status = "CMCD-Status"
    }

    /// A server that receives reports of events.
    ///
    /// Reports are POST requests with the type `application/cmcd` and one event per line. They carry no user
    /// credentials and no cookies, and redirects are followed. At most 500 lines wait, beyond which the oldest is
    /// dropped. Playback never waits for a report.
    ///
    /// After status 429, 5xx or no response within 10 s, the report is sent again. The wait is the `Retry-After` value,
    /// or 1 s, 2 s and so on up to 1 min. Status 410 ends the reports of the session. After any other error, the lines
    /// of the report are dropped.
    public struct EventTarget: Sendable, Hashable {
        /// The http or https URL of the server.
        ///
        /// User information in it is not sent.
        public var urlString: String
        /// The events to report.
        ///
        /// The default is all except ``ClientData/Event/responseReceived``.
        public var events: Set<Event> = Set(Event.allCases).subtracting([.responseReceived])
        /// The time between ``ClientData/Event/timeInterval`` events.
        ///
        /// The default is 30 s. The value is at least 1 s, or zero for no such events.
        public var interval = Duration.seconds(30)
        /// The number of events that triggers a report, from 1 to 100.
        ///
        /// The default is 10.
        public var batchCount = 10
        /// The age of the oldest event that triggers a report.
        ///
        /// The default is 5 s.
        public var batchDelay = Duration.seconds(5)
        /// The keys for this target, like ``ClientData/keys``.
        ///
        /// Required keys of an event are always sent.
        public var keys: Set<String>?
        /// The `Authorization` value for this target's origin only.
        ///
        /// By default, none is sent.
        public var authorization: String?

        /// Creates a target.
        public init(urlString: String) { self.urlString = urlString }
    }

    /// The kinds of events with their tokens.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        case playState = "ps"
        case bitrateChange = "bc"
        case playbackRate = "pr"
        case contentID = "c"
        /// Media comes from another host.
        case hostname = "h"
        case error = "e"
        case timeInterval = "t"
        /// A request has ended. Each request is one line.
        case responseReceived = "rr"
        case mute = "m"
        case unmute = "um"
        /// Only the app knows the following events. See ``Player/report(_:)``.
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

    /// The version of CMCD in requests.
    ///
    /// The default is 1.
    public var version = Version.one
    /// The way in which requests carry the data, or `nil` to report only events.
    ///
    /// The default is headers.
    public var transmission: Transmission? = .headers
    /// The content ID, `cid`.
    ///
    /// By default, there is none. The ID is truncated to 64 characters in version 1 and to 128 in version 2.
    public var contentID: String?
    /// The session ID, `sid`, of at most 64 characters, or `nil` for the UUID of the playback session.
    ///
    /// The UUID is the default. `X-Playback-Session-Id` and logs contain it, too.
    public var sessionID: String?
    /// The signature of the content, `cs`, in version 2.
    ///
    /// By default, there is none.
    public var contentSignature: String?
    /// The keys to send, including custom keys, or `nil` for all except `tpb`.
    ///
    /// The default is `nil`. The key `tpb` is excluded because it reveals more about the machine than most servers
    /// need.
    public var keys: Set<String>?
    /// The values of custom keys.
    ///
    /// A name is in lower case and has a prefix such as `com.example-`. Other keys are not sent.
    public var customKeys: [String: CustomValue] = [:]
    /// The header fields of custom keys, by key.
    ///
    /// The default is ``HeaderField/request``.
    public var customKeyFields: [String: HeaderField] = [:]
    /// The ratio of the requested throughput, `rtp`, to the bit rate.
    ///
    /// The default is 5.
    public var requestedThroughputFactor = 5.0
    /// The servers that receive reports of events.
    public var eventTargets: [EventTarget] = []

    /// Creates a configuration that sends all keys of version 1 in header fields.
    public init() {}

    /// Returns whether a name is a valid custom key: `[a-z][a-z0-9.-]*` with a hyphen inside.
    public static func isCustomKey(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, (0x61...0x7A).contains(first), bytes.last != 0x2D else { return false }
        return bytes.contains(0x2D)
            && bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E }
    }

    package static func isKey(_ name: String, in version: Version) -> Bool {
        guard let key = ClientDataKey(rawValue: name) else { return false }
        return version == .one ? ClientDataKey.versionOne.contains(key) : key != .nrr
    }
}
