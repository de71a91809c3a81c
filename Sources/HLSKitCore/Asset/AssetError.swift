import HLSMedia
import HLSPlaylist

/// Why a property of an asset cannot be loaded.
public struct AssetError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. An open set.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no such resource, or its server refuses it (HTTP 4xx, no such file).
        public static let notFound = Code(rawValue: "notFound")
        /// The network failed and kept failing after retries.
        public static let network = Code(rawValue: "network")
        /// Neither a playlist nor media, or a playlist that breaks a rule that matters.
        public static let badPlaylist = Code(rawValue: "badPlaylist")
        /// Media that cannot be read.
        public static let badMedia = Code(rawValue: "badMedia")
        /// A scheme, address, certificate or size that the rules do not allow.
        public static let refused = Code(rawValue: "refused")
        /// Encrypted with a method that is not supported, or the key cannot be loaded.
        public static let contentKey = Code(rawValue: "contentKey")
        /// None of the variants can be played here.
        public static let noEligibleVariant = Code(rawValue: "noEligibleVariant")
        /// The asset's URL is none.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The requested property is unknown without reading more media.
        public static let notAvailable = Code(rawValue: "notAvailable")
    }

    /// The kind of failure.
    public var code: Code
    /// The resource that it is about, without secrets (docs/behaviour/credentials.md); nil if there is none.
    public var url: String? {
        get { fullURL.map(Redaction.url) }
        set { fullURL = newValue }
    }
    /// For the program that may know a fresh one.
    private(set) var fullURL: String?
    /// The cause, in a few words.
    public var cause: String
    /// HTTP status, transport code, line number or limit; nil if there is none.
    public var detail: String?
    /// HTTP status of the answer; nil if there was none, or it was no failure.
    public var status: Int?

    /// Makes an error; without `url` no resource is to blame.
    public init(code: Code, url: String? = nil, cause: String, detail: String? = nil) {
        self.code = code
        fullURL = url
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

extension AssetError {
    /// The cause where a resource has not the bytes that were asked for.
    static let noSuchRange = LoadingFailure.badRange

    /// A failure of loading, as ``LoadingFailure`` has it.
    init(_ error: LoadingError, as role: LoadingFailure.Role) {
        let failure = LoadingFailure(error, as: role)
        self.init(
            code: Code(rawValue: failure.kind.rawValue), url: error.url, cause: failure.cause, detail: failure.detail)
        // Of a range that is not there the status is that of a success.
        if error.code != .badRange { status = error.status }
    }

    init(_ error: PlaylistError, url: String) {
        let words = error.words
        self.init(
            code: error.code == .limitExceeded ? .refused : .badPlaylist, url: url, cause: words.cause,
            detail: words.detail)
    }

    init(_ error: MediaError, url: String) {
        self.init(code: .badMedia, url: url, cause: "the media cannot be read", detail: error.description)
    }

    init(_ error: DecryptionError, url: String) {
        self.init(code: .contentKey, url: url, cause: "the media cannot be decrypted", detail: error.text)
    }

    static func notAvailable(_ cause: String, url: String? = nil) -> AssetError {
        AssetError(code: .notAvailable, url: url, cause: cause)
    }
}
