public import FoundationEssentials

/// A type that provides keys that the player cannot load itself.
///
/// Examples are keys of custom key systems (`KEYFORMAT`), and keys with URLs that the network does not support
/// (`skd:`).
///
/// Each key is requested once per item, even if several segments and renditions need it, and again for the reasons in
/// ``ContentKeyRequest/Reason``. Keys decrypt media with the `METHOD` in the playlist. Systems that hide keys from the
/// app (FairPlay, Widevine) are not supported, but ``DownloadConfiguration/keepsEncryption`` stores such media without
/// decrypting it.
public protocol KeyProvider: Sendable {
    /// The `KEYFORMAT`s for which it has keys. `identity` stands for keys without one.
    var keyFormats: Set<String> { get }
    /// The longest time that a response may take. The default is 10 s.
    var deadline: Duration { get }
    /// Returns the key, or `nil` to ask the next provider and finally the network.
    ///
    /// After an ``HLSError`` that is not ``HLSError/isPermanent``, such as ``HLSError/Code/timedOut``, the key is
    /// requested again according to ``RetryPolicies``. Any other error denies the key, and the item fails after it has
    /// played its buffer. A denied renewal only has an effect when the key expires.
    func key(for request: ContentKeyRequest) async throws -> ContentKey?
}

extension KeyProvider {
    /// The default deadline of ten seconds.
    public var deadline: Duration { .seconds(10) }
}

/// A request for a key.
public struct ContentKeyRequest: Sendable, Hashable {
    /// The reason for a key request.
    ///
    /// The set is open.
    public struct Reason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The raw value.
        public var description: String { rawValue }

        /// Media needs the key, or the multivariant playlist announces it.
        public static let needed = Reason(rawValue: "needed")
        /// The ``ContentKey/renewalInterval`` or ``ContentKey/expirationInterval`` has ended.
        public static let renewal = Reason(rawValue: "renewal")
        /// The last response did not arrive within ``KeyProvider/deadline``.
        public static let timedOut = Reason(rawValue: "timedOut")
        /// The key in the last response had already expired.
        ///
        /// The key is requested once for this reason.
        public static let receivedResponseWithExpiredLease = Reason(rawValue: "receivedResponseWithExpiredLease")
        /// The last key did not decrypt the media.
        ///
        /// This is requested once until the key has decrypted media.
        public static let receivedObsoleteContentKey = Reason(rawValue: "receivedObsoleteContentKey")
    }

    /// The absolute URL of the key, or `nil` if ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The absolute URL of the key as written.
    public var urlString: String
    /// The `KEYFORMAT` of the key.
    public var keyFormat: String
    /// The URL with which the item was created.
    public var itemURLString: String
    /// The reason for the request.
    ///
    /// The default is ``Reason/needed``.
    public var reason: Reason

    package init(url: String, keyFormat: String, itemURL: String, reason: Reason = .needed) {
        urlString = url
        self.keyFormat = keyFormat
        itemURLString = itemURL
        self.reason = reason
    }

    /// The bytes of a `data:` URI, or `nil` for other URIs.
    ///
    /// Key systems call them initialization data.
    public var initializationData: [UInt8]? {
        guard let data = try? DataURL(urlString) else { return nil }
        return data.bytes
    }
}

/// A key and its period of validity.
public struct ContentKey: Sendable, Hashable {
    /// The key of 16 bytes.
    public var bytes: [UInt8]
    /// The time after the response at which the key is requested again, or `nil` (the default) for never.
    ///
    /// The provider gets the reason ``ContentKeyRequest/Reason/renewal``. The request starts in parallel with the next
    /// segment, and the key stays in use. A paused player with a full buffer starts no segment, so it requests the key
    /// when playback resumes.
    public var renewalInterval: Duration?
    /// The time after the response at which the key expires, or `nil` (the default) for never.
    ///
    /// Segments that start later wait for a renewed key. Segments that were already loaded are played.
    public var expirationInterval: Duration?
    /// A Boolean value that indicates whether the key may be stored on disk.
    ///
    /// The default is `true`. A ``DownloadTask`` and a ``PersistentKeyProvider`` store keys. A download fails if it may
    /// not store a key.
    public var isPersistable = true

    /// Creates a key, which never expires by default.
    public init(_ bytes: [UInt8], renewalInterval: Duration? = nil, expirationInterval: Duration? = nil) {
        self.bytes = bytes
        self.renewalInterval = renewalInterval
        self.expirationInterval = expirationInterval
    }

    var terms: KeyTerms {
        KeyTerms(renewal: renewalInterval, expiration: expirationInterval, isPersistable: isPersistable)
    }
}

/// The terms of a key that the app gave, from its arrival.
package struct KeyTerms: Sendable, Hashable {
    package var renewal: Duration?
    package var expiration: Duration?
    var isPersistable = true

    /// Whether the key may be stored in a file, which could be used by anyone at any time.
    package var mayBeStored: Bool { isPersistable && expiration == nil }
}
