public import HLSKitLoading
public import HLSKitPlaylist

/// A key provider that stores the keys of another provider on the disk.
///
/// Encrypted media then plays after a restart, or without a network. A stored key is returned without a request unless
/// it has expired or is due for renewal. A key that is due for renewal is requested. If the other provider fails, the
/// stored key is used. Keys whose ``ContentKey/isPersistable`` is `false` are never stored. Only the owner can read the
/// files, but they are not encrypted.
///
/// ```swift
/// configuration.hooks.keyProviders = [try PersistentKeyProvider(MyKeys(), folder: "/var/lib/app/keys")]
/// ```
public struct PersistentKeyProvider: KeyProvider {
    private static let renewalDelay = Duration.seconds(60)

    private let base: any KeyProvider
    private let store: KeyStore
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> PlaylistDate

    /// Creates a provider, and the folder if it does not exist.
    ///
    /// - Parameters:
    ///   - base: The provider that supplies keys that are not stored.
    ///   - folder: The path of the folder. No other program may write to it.
    ///   - clock: The players' clock, for deadlines. The default is `ContinuousClock`.
    ///   - now: Returns the date, for keys that expire. With the default, `nil`, it is the system's date.
    /// - Throws: ``HLSError`` if the folder cannot be created, is a link or belongs to another user.
    public init(
        _ base: any KeyProvider, folder: String, clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> PlaylistDate)? = nil
    ) throws(HLSError) {
        self.base = base
        self.clock = clock
        self.now = now ?? { SourceClock.host.date }
        store = try KeyStore(path: folder)
    }

    /// The key formats of the other provider.
    public var keyFormats: Set<String> { base.keyFormats }

    /// The deadline of the other provider plus 5 s for the disk.
    public var deadline: Duration { base.deadline + .seconds(5) }

    /// Returns the stored key, or requests the key from the other provider and stores it.
    ///
    /// - Throws: The other provider's error. Errors other than ``HLSError`` become one with
    ///   ``HLSError/Code/application``.
    public func key(for request: ContentKeyRequest) async throws(HLSError) -> ContentKey? {
        let stored = request.reason == .receivedObsoleteContentKey ? nil : await storedKey(for: request)
        if let stored, !stored.isDue, request.reason == .needed { return stored.key }
        let given: ContentKey?
        do throws(LoadingError) {
            given = try await AppCall(clock: clock).value(
                of: "the key provider", url: request.urlString, within: base.deadline
            ) { [base] in try await base.key(for: request) }
        } catch {
            guard var key = stored?.key, error.code != .refused else { throw HLSError(transport: error) }
            key.renewalInterval = Self.renewalDelay
            return key
        }
        guard let given else { return nil }
        // Ignore the error, because the key can be used even if it cannot be stored.
        try? await keep(given, for: request)
        return given
    }

    // MARK: Stored keys

    /// The URLs of the stored keys.
    public var storedKeyURLStrings: Set<String> {
        get async {
            let store = store
            return await DiskThread.run(clock) { Set(store.entries.map(\.url)) }
        }
    }

    /// Removes the stored keys for a URL, for all key systems.
    public func removeKeys(atURLString url: String) async {
        let store = store
        await DiskThread.run(clock) {
            for entry in store.entries where entry.url == url {
                store.remove(url: entry.url, keyFormat: entry.keyFormat)
            }
        }
    }

    /// Removes all stored keys.
    public func removeAllKeys() async {
        let store = store
        await DiskThread.run(clock) { store.removeAll() }
    }

    private struct Stored: Sendable {
        var key: ContentKey
        var isDue: Bool
    }

    private func storedKey(for request: ContentKeyRequest) async -> Stored? {
        let (store, now) = (store, now().seconds)
        return await DiskThread.run(clock) {
            guard let entry = store.entry(url: request.urlString, keyFormat: request.keyFormat) else { return nil }
            if let expiration = entry.expiration, expiration <= now {
                store.remove(url: request.urlString, keyFormat: request.keyFormat)
                return nil
            }
            func interval(_ date: Int64?) -> Duration? {
                date.map { .seconds($0.subtractingReportingOverflow(now).partialValue) }
            }
            let key = ContentKey(
                entry.bytes, renewalInterval: interval(entry.renewal), expirationInterval: interval(entry.expiration))
            return Stored(key: key, isDue: entry.renewal.map { $0 <= now } ?? false)
        }
    }

    private func keep(_ key: ContentKey, for request: ContentKeyRequest) async throws(HLSError) {
        let (store, date) = (store, now())
        try await DiskThread.run(clock) { () throws(HLSError) in
            guard key.isPersistable else { return store.remove(url: request.urlString, keyFormat: request.keyFormat) }
            try store.write(
                KeyStore.Entry(
                    url: request.urlString, keyFormat: request.keyFormat, bytes: key.bytes,
                    renewal: key.renewalInterval.map { (date + $0).seconds },
                    expiration: key.expirationInterval.map { (date + $0).seconds }))
        }
    }
}
