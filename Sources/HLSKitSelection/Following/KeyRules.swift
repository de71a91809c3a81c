package import HLSKitLoading
package import HLSKitPlaylist

/// Which of the keys that a playlist offers is used, and what a program puts in its place.
package struct KeyRules: Sendable, Hashable {
    /// `KEYFORMAT`s that the program has keys for, besides `identity`.
    var formats: Set<String> = []
    var override: ContentKeyOverride?

    private static let vectorByteCount = 16
    private static let methods: [EncryptionKey.Method] = [.aes128, .sampleAES, .sampleAESCTR]

    package init(formats: Set<String> = [], override: ContentKeyOverride? = nil) {
        self.formats = formats
        self.override = override
    }

    package init(_ hooks: LoadingHooks) { self.init(formats: hooks.keyFormats, override: hooks.keyOverride) }

    /// The key was given by hand, and takes the place of every key.
    package var isGiven: Bool { override?.key != nil }

    /// Somebody has the keys of all systems.
    private var takesAll: Bool { override?.key != nil || override?.urlString != nil }

    /// Whether somebody has keys of this kind: the network, or the program.
    func admit(_ key: EncryptionKey) -> Bool {
        takesAll || key.effectiveKeyFormat == "identity" || formats.contains(key.effectiveKeyFormat)
    }

    /// The key among the alternatives that this client can use; nil for clear media.
    package func choose(of keys: [EncryptionKey], base: String, mediaSequence: Int) throws(HLSError) -> SegmentKey? {
        guard !keys.isEmpty else { return nil }
        let known = keys.filter { Self.methods.contains($0.method) && admit($0) }
        guard let key = known.first(where: { $0.effectiveKeyFormat == "identity" }) ?? known.first,
            let uri = override?.urlString ?? key.uri
        else {
            let offered = keys.map { "\($0.method.rawValue) (\($0.effectiveKeyFormat))" }.joined(separator: ", ")
            throw HLSError(
                code: .contentKey, urlString: base, cause: "no supported key system", detail: offered.escapingControls)
        }
        guard let url = URIReference.resolve(uri, against: base) else {
            throw HLSError(code: .contentKey, urlString: base, cause: "the URI of a key cannot be resolved")
        }
        let vector = override?.initializationVector ?? key.initializationVector(forMediaSequence: mediaSequence)
        guard vector.count == Self.vectorByteCount else {
            throw HLSError(
                code: .contentKey, urlString: base, cause: "the initialization vector is not 16 bytes long",
                detail: "\(vector.count) bytes")
        }
        return SegmentKey(
            resource: resource(of: key, url: url), method: key.method, initializationVector: vector)
    }

    /// A key, at its absolute URL. Keys that come from elsewhere are not of the playlist's system.
    func resource(of key: EncryptionKey, url: String) -> ResourceID {
        ResourceID(
            kind: .key, url: url,
            keyFormat: takesAll || key.effectiveKeyFormat == "identity" ? nil : key.effectiveKeyFormat)
    }

    /// The keys that a multivariant playlist announces and that somebody has, at its URL.
    package func sessionKeys(of playlist: MultivariantPlaylist, at base: String) -> [ResourceID] {
        var keys: [ResourceID] = []
        for key in playlist.sessionKeys where admit(key) {
            guard let uri = override?.urlString ?? key.uri, let url = URIReference.resolve(uri, against: base) else {
                continue
            }
            let resource = resource(of: key, url: url)
            if !keys.contains(resource) { keys.append(resource) }
        }
        return keys
    }
}
