/// Why an item cannot be played, or not to its end.
public struct PlayerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. An open set.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A resource without which nothing can be played does not exist or is refused by its server (HTTP 4xx, no such
        /// file).
        public static let notFound = Code(rawValue: "notFound")
        /// The network failed and kept failing after retries.
        public static let network = Code(rawValue: "network")
        /// Not a playlist, or one that breaks a rule that matters.
        public static let badPlaylist = Code(rawValue: "badPlaylist")
        /// No variant may be played: all are excluded by settings, or cannot be decoded here.
        public static let noEligibleVariant = Code(rawValue: "noEligibleVariant")
        /// Encrypted with a method that is not supported, or the key cannot be loaded or is wrong.
        public static let contentKey = Code(rawValue: "contentKey")
        /// Media that cannot be demuxed or decoded.
        public static let badMedia = Code(rawValue: "badMedia")
        /// Video or audio that nothing can decode, beside other media that plays. Never why an item fails.
        public static let trackLeftOut = Code(rawValue: "trackLeftOut")
        /// The requested part of the item does not exist.
        public static let notAvailable = Code(rawValue: "notAvailable")
        /// An output cannot be written.
        public static let output = Code(rawValue: "output")
        /// A live stream whose playlist does not continue.
        public static let staleLive = Code(rawValue: "staleLive")
        /// A scheme, address, certificate or size that the rules do not allow.
        public static let refused = Code(rawValue: "refused")
        /// A control call with arguments that cannot be.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// An item that belongs to another player.
        public static let itemInUse = Code(rawValue: "itemInUse")
        /// An output that belongs to another item.
        public static let outputInUse = Code(rawValue: "outputInUse")
        /// A mistake in the library.
        public static let `internal` = Code(rawValue: "internal")
    }

    /// The kind of failure.
    public var code: Code
    /// The resource that it is about, without secrets (docs/behaviour/credentials.md); nil if there is none.
    public var url: String? {
        get { publicURL }
        set { publicURL = newValue.map(Redaction.url) }
    }
    private var publicURL: String?
    /// The cause, in a few words (`segment not found`).
    public var cause: String
    /// HTTP status, transport code, line number or limit (`HTTP 404`, `line 14`); nil if there is none.
    public var detail: String?

    /// Makes an error; without `url` no resource is to blame.
    public init(code: Code, url: String? = nil, cause: String, detail: String? = nil) {
        self.code = code
        publicURL = url.map(Redaction.url)
        self.cause = Redaction.text(cause)
        self.detail = detail.map(Redaction.text)
    }

    /// `<cause>: <url> (<detail>)`
    public var description: String {
        var text = cause
        if let url { text += ": \(url)" }
        if let detail { text += " (\(detail))" }
        return text
    }
}
