public import FoundationEssentials

/// Gives the player keys that it cannot, or should not, load by itself: those of key systems of the program's own
/// (`KEYFORMAT`), and those with URLs that mean nothing to the network (`skd:`).
///
/// Each key is asked for once per item, however many segments and renditions need it, and again for the reasons that
/// ``ContentKeyRequest/Reason`` lists. The keys decrypt by the `METHOD` that the playlist gives. Systems that keep keys
/// from the program (FairPlay, Widevine) cannot be served; ``DownloadConfiguration/keepsEncryption`` stores such media as
/// it is.
public protocol KeyProvider: Sendable {
    /// The `KEYFORMAT`s that it has keys for; `identity` is that of keys without one.
    var keyFormats: Set<String> { get }
    /// How long an answer may take. Default 10 s.
    var deadline: Duration { get }
    /// The key; nil where this provider does not know it, so that the next one, and at last the network, is asked.
    ///
    /// An ``HLSError`` that is not ``HLSError/isPermanent``, as one with ``HLSError/Code/timedOut``, has the key asked for again
    /// as ``RetryPolicies`` say. Any other error refuses it: the item fails once what was loaded is played. A renewal that is refused is no failure as long
    /// as the key has not expired.
    func key(for request: ContentKeyRequest) async throws -> ContentKey?
}

extension KeyProvider {
    /// Ten seconds.
    public var deadline: Duration { .seconds(10) }
}

/// The key that is wanted, and why.
public struct ContentKeyRequest: Sendable, Hashable {
    /// Why a key is asked for. An open set.
    public struct Reason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// Media needs it, or the multivariant playlist announces it.
        public static let needed = Reason(rawValue: "needed")
        /// Its ``ContentKey/renewalInterval`` or ``ContentKey/expirationInterval`` is over.
        public static let renewal = Reason(rawValue: "renewal")
        /// The last answer did not come within ``KeyProvider/deadline``.
        public static let timedOut = Reason(rawValue: "timedOut")
        /// The key of the last answer had expired when it came. Asked once.
        public static let receivedResponseWithExpiredLease = Reason(rawValue: "receivedResponseWithExpiredLease")
        /// The media could not be decrypted with the last key. Asked once, until media was read with the key.
        public static let receivedObsoleteContentKey = Reason(rawValue: "receivedObsoleteContentKey")
    }

    /// The URI of the key, made absolute; nil where ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The URI of the key, made absolute, as it is written.
    public var urlString: String
    /// `KEYFORMAT` of the key.
    public var keyFormat: String
    /// The URL that the item was made with.
    public var itemURLString: String
    /// Why it is asked for. Default ``Reason/needed``.
    public var reason: Reason

    /// Makes a request.
    package init(url: String, keyFormat: String, itemURL: String, reason: Reason = .needed) {
        urlString = url
        self.keyFormat = keyFormat
        itemURLString = itemURL
        self.reason = reason
    }

    /// What key systems call initialization data: the bytes of a `data:` URI. nil for other URIs.
    public var initializationData: [UInt8]? {
        guard let data = try? DataURL(urlString) else { return nil }
        return data.bytes
    }
}

/// A key, and how long it is good for.
public struct ContentKey: Sendable, Hashable {
    /// The key, 16 bytes.
    public var bytes: [UInt8]
    /// After how long the provider is asked for it again, with ``ContentKeyRequest/Reason/renewal``: with the first
    /// segment that is begun from then on, beside it, while the key is used further. Counts from the answer. nil (the
    /// default) is never. A paused player that has loaded enough begins no segment, and asks when it plays again.
    public var renewalInterval: Duration?
    /// After how long no segment is begun with it: the next one waits for a renewed key, and what was loaded before is
    /// played. Counts from the answer. nil (the default) is never.
    public var expirationInterval: Duration?
    /// Whether it may be written to a disk: by a ``DownloadTask``, which fails where it may not, and by
    /// ``PersistentKeyProvider``. Default true.
    public var isPersistable = true

    /// Makes a key that never expires, unless stated otherwise.
    public init(_ bytes: [UInt8], renewalInterval: Duration? = nil, expirationInterval: Duration? = nil) {
        self.bytes = bytes
        self.renewalInterval = renewalInterval
        self.expirationInterval = expirationInterval
    }

    /// What is told of it besides its bytes.
    var terms: KeyTerms {
        KeyTerms(renewal: renewalInterval, expiration: expirationInterval, isPersistable: isPersistable)
    }
}

/// How long a key is good for that the program gave, from its arrival, and what for.
package struct KeyTerms: Sendable, Hashable {
    package var renewal: Duration?
    package var expiration: Duration?
    var isPersistable = true

    /// It may become a file that anybody can use at any time.
    package var mayBeStored: Bool { isPersistable && expiration == nil }
}
