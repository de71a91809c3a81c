public import HLSKitLoading
public import HLSKitPlaylist

/// Keeps the keys of another provider on the disk, so that encrypted media plays without asking it: after a restart, and
/// without a network.
///
/// A key that is stored and neither expired nor to be renewed is given without asking. One that is to be renewed is asked
/// for, and given as it is where the other provider fails. Keys whose ``ContentKey/isPersistable`` is false are never
/// stored. Files can be read by their owner alone; they are not encrypted.
///
/// ```swift
/// configuration.hooks.keyProviders = [try PersistentKeyProvider(MyKeys(), folder: "/var/lib/app/keys")]
/// ```
public struct PersistentKeyProvider: KeyProvider {
    /// Where nobody answers, a key that is to be renewed is asked for again after this.
    private static let renewalDelay = Duration.seconds(60)

    private let base: any KeyProvider
    private let store: KeyStore
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> PlaylistDate

    /// Makes the folder where it is not there.
    ///
    /// - Parameters:
    ///   - base: is asked for keys that are not stored.
    ///   - folder: its path. No other program writes to it.
    ///   - clock: the players' clock, for deadlines. Default: `ContinuousClock`.
    ///   - now: the date, for keys that expire; nil (the default) is the system's.
    /// - Throws: ``HLSError`` where the folder cannot be made, is a link or belongs to another user.
    public init(
        _ base: any KeyProvider, folder: String, clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> PlaylistDate)? = nil
    ) throws(HLSError) {
        self.base = base
        self.clock = clock
        self.now = now ?? { SourceClock.host.date }
        store = try KeyStore(path: folder)
    }

    /// Those of the other provider.
    public var keyFormats: Set<String> { base.keyFormats }

    /// That of the other provider, and 5 s for the disk.
    public var deadline: Duration { base.deadline + .seconds(5) }

    /// The stored key, or what the other provider gives, which is stored.
    ///
    /// - Throws: what the other provider throws; an error that is not an ``HLSError`` as one with ``HLSError/Code/application``.
    public func key(for request: ContentKeyRequest) async throws(HLSError) -> ContentKey? {
        let stored = request.reason == .receivedObsoleteContentKey ? nil : await storedKey(for: request)
        if let stored, !stored.isDue, request.reason == .needed { return stored.key }
        let given: ContentKey?
        do throws(LoadingError) {
            given = try await UserCall(clock: clock).value(
                of: "the key provider", url: request.urlString, within: base.deadline
            ) { [base] in try await base.key(for: request) }
        } catch {
            guard var key = stored?.key, error.code != .refused else { throw HLSError(transport: error) }
            key.renewalInterval = Self.renewalDelay
            return key
        }
        guard let given else { return nil }
        // What cannot be stored is of use nevertheless.
        try? await keep(given, for: request)
        return given
    }

    // MARK: Stored keys

    /// The URLs of the keys that are stored.
    public var storedKeyURLStrings: Set<String> {
        get async {
            let store = store
            return await DiskThread.run(clock) { Set(store.entries.map(\.url)) }
        }
    }

    /// Removes the stored keys of a URL, of whatever key system.
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

    /// nil where there is none, or it has expired.
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
