package import HLSKitLoading
package import HLSKitPlaylist

package struct KeyRules: Sendable, Hashable {
    /// The `KEYFORMAT`s for which the app has keys, in addition to `identity`.
    var formats: Set<String> = []
    var override: ContentKeyOverride?

    private static let vectorByteCount = 16
    private static let methods: [EncryptionKey.Method] = [.aes128, .sampleAES, .sampleAESCTR]

    package init(formats: Set<String> = [], override: ContentKeyOverride? = nil) {
        self.formats = formats
        self.override = override
    }

    package init(_ hooks: LoadingHooks) { self.init(formats: hooks.keyFormats, override: hooks.keyOverride) }

    /// Whether an override key replaces all keys.
    package var isGiven: Bool { override?.key != nil }

    private var takesAll: Bool { override?.key != nil || override?.urlString != nil }

    func admit(_ key: EncryptionKey) -> Bool {
        takesAll || key.effectiveKeyFormat == "identity" || formats.contains(key.effectiveKeyFormat)
    }

    /// Returns the key among the alternatives that this client can use, or nil for clear media.
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

    /// Returns the resource of a key at its absolute URL. An overridden key does not belong to the playlist's key
    /// system.
    func resource(of key: EncryptionKey, url: String) -> ResourceID {
        ResourceID(
            kind: .key, url: url,
            keyFormat: takesAll || key.effectiveKeyFormat == "identity" ? nil : key.effectiveKeyFormat)
    }

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
