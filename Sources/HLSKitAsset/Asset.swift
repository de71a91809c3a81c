public import FoundationEssentials
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitSelection
package import HLSKitTime
import Synchronization

/// A stream or file that you inspect and play.
///
/// An asset is an HLS stream or a bare media file (MP4, MPEG-TS, packed audio), on a server or on this machine. It
/// loads nothing until you request a property, and then only the resources that the property needs. If several
/// properties need the same resource, the asset loads it once. Values and failures are final: to try again, create
/// another asset.
///
/// ```swift
/// let asset = Asset(urlString: "https://example.com/master.m3u8")
/// let (duration, variants) = try await asset.load(.duration, .variants)
/// ```
///
/// See <doc:InspectingAssets>.
public final class Asset: Sendable {
    private struct Entry {
        var loadCount = 0
        var result: Result<any Sendable, HLSError>?
    }

    /// The absolute URL of the multivariant playlist, media playlist or media file, exactly as given.
    public let urlString: String
    /// The same URL as a `URL`, or `nil` if the text is not a URL.
    ///
    /// Characters that a `URL` cannot hold are percent-encoded. Requests use ``urlString``.
    public var url: URL? { URL(string: urlString) }
    /// The object that loads resources that do not come from the network, and loads keys ahead of time.
    public let resourceLoader: AssetResourceLoader
    package let options: AssetOptions
    /// The playlists, kept for the items that are created from the asset.
    package let cache: ResourceCache
    private let inspection = Mutex<AssetInspector?>(nil)
    private let entries = Mutex<[AssetPropertyKey: Entry]>([:])

    /// Creates an asset without accessing the network or the disk.
    ///
    /// - Parameters:
    ///   - url: The http, https or file URL, or a URL with a scheme that your resource loader serves.
    ///   - options: The options for the requests of the asset and of its items.
    public convenience init(url: URL, options: AssetOptions = .init()) {
        self.init(urlString: url.absoluteString, options: options)
    }

    /// Creates an asset from a URL text, without accessing the network or the disk.
    ///
    /// The asset uses the text as it is, including URLs of playlists that `URL` would change or refuse.
    ///
    /// - Parameters:
    ///   - urlString: The absolute http, https or file URL. A plain path is not a URL, so loading it fails.
    ///   - options: The options for the requests of the asset and of its items.
    public convenience init(urlString: String, options: AssetOptions = .init()) {
        self.init(urlString: urlString, options: options, stored: nil)
    }

    package init(urlString: String, options: AssetOptions, stored: (any StoredMedia)?) {
        self.urlString = urlString
        self.options = options
        cache = ResourceCache(keepsMedia: false, stored: stored)
        resourceLoader = AssetResourceLoader(url: urlString, loader: options.hooks.resourceLoader)
    }

    /// The inspector, created on first use. For a `file:` URL, creating it looks up the file's folder, because the
    /// playlist may name only files in that folder.
    package var inspector: AssetInspector {
        inspection.withLock { inspection in
            if let inspection { return inspection }
            var options = options
            options.hooks = hooks
            let inspector = AssetInspector(url: urlString, options: options, cache: cache)
            inspection = inspector
            return inspector
        }
    }

    /// The app's hooks. The resource loader cannot be changed after this call.
    package var hooks: LoadingHooks {
        var hooks = options.hooks
        hooks.resourceLoader = resourceLoader.begin()
        return hooks
    }

    // MARK: Properties

    /// Loads a property.
    ///
    /// A loaded property is returned from memory. If several loads run at the same time, each request is made once. If
    /// the caller's task is cancelled, only this call ends, with ``HLSError/Code/cancelled``. You can load the property
    /// again.
    ///
    /// - Throws: The same error in each call, except ``HLSError/Code/cancelled``.
    public func load<Value: Sendable>(_ property: AssetProperty<Value>) async throws(HLSError) -> Value {
        if let result: Result<Value, HLSError> = known(property.key) { return try result.get() }
        entries.withLock { $0[property.key, default: Entry()].loadCount += 1 }
        let result: Result<Value, HLSError>
        do {
            result = .success(try await property.compute(inspector))
        } catch {
            result = .failure(HLSError(error))
        }
        return try finish(property.key, result).get()
    }

    /// Loads several properties at once and returns the values in the order of the arguments.
    ///
    /// The properties load at the same time, so that a shared resource is requested once.
    /// - Throws: The error of the first property, in the order of the arguments, that fails.
    public func load<each Value: Sendable>(
        _ properties: repeat AssetProperty<each Value>
    ) async throws(HLSError) -> (repeat each Value) {
        var cancels: [@Sendable () -> Void] = []
        let pending = (repeat begin(each properties, &cancels))
        let cancel: @Sendable () -> Void = { [cancels] in
            for cancel in cancels { cancel() }
        }
        do {
            return try await withTaskCancellationHandler {
                do {
                    return (repeat try await (each pending).value)
                } catch {
                    cancel()
                    throw error
                }
            } onCancel: {
                cancel()
            }
        } catch {
            throw HLSError(error)
        }
    }

    private func begin<Value: Sendable>(
        _ property: AssetProperty<Value>, _ cancels: inout [@Sendable () -> Void]
    ) -> Task<Value, any Error> {
        let task = Task(executorPreference: options.executor) { try await self.load(property) }
        cancels.append { task.cancel() }
        return task
    }

    /// Returns the loading state of a property.
    ///
    /// The method never starts any work.
    public func status<Value>(of property: AssetProperty<Value>) -> PropertyStatus<Value> {
        let result: Result<Value, HLSError>? = known(property.key)
        switch result {
        case .success(let value): return .loaded(value)
        case .failure(let error): return .failed(error)
        case nil:
            let isLoading = entries.withLock { ($0[property.key]?.loadCount ?? 0) > 0 }
            return isLoading ? .loading : .notYetLoaded
        }
    }

    private func known<Value: Sendable>(_ key: AssetPropertyKey) -> Result<Value, HLSError>? {
        switch entries.withLock({ $0[key]?.result }) {
        case nil: nil
        case .failure(let error): .failure(error)
        // Each key has one value type.
        case .success(let value): (value as? Value).map { .success($0) }
        }
    }

    /// Keeps the first result of a property. A cancelled load has no result to keep.
    private func finish<Value: Sendable>(
        _ key: AssetPropertyKey, _ result: Result<Value, HLSError>
    ) -> Result<Value, HLSError> {
        entries.withLock { entries in
            entries[key, default: Entry()].loadCount -= 1
            guard entries[key]?.result == nil else { return }
            switch result {
            case .success(let value): entries[key]?.result = .success(value)
            case .failure(let error) where error.code != .cancelled: entries[key]?.result = .failure(error)
            case .failure: break
            }
        }
        if case .failure(let error) = result, error.code == .cancelled { return result }
        return known(key) ?? result
    }

    /// Cancels all loading: pending loads throw ``HLSError/Code/cancelled``.
    ///
    /// Loaded properties are kept. You can load the others again.
    public func cancelLoading() { inspection.withLock { $0 }?.cancel() }

    package func note(duration: MediaTime) {
        entries.withLock { entries in
            guard entries[.duration]?.result == nil else { return }
            entries[.duration, default: Entry()].result = .success(duration)
        }
    }

    // MARK: Tracks

    /// Loads the track with this number, or returns `nil` if there is none.
    ///
    /// The method costs the same as `tracks`.
    public func loadTrack(withTrackID trackID: Int) async throws(HLSError) -> AssetTrack? {
        try await load(.tracks).first { $0.trackID == trackID }
    }

    /// Loads the tracks of a type.
    ///
    /// The method costs the same as `tracks`.
    public func loadTracks(withMediaType mediaType: MediaKind) async throws(HLSError) -> [AssetTrack] {
        try await load(.tracks).filter { $0.mediaType == mediaType }
    }

    /// Loads the tracks with a characteristic.
    ///
    /// The method costs the same as `tracks`.
    public func loadTracks(
        withMediaCharacteristic characteristic: MediaCharacteristic
    ) async throws(HLSError) -> [AssetTrack] {
        try await load(.tracks).filter { $0.hasMediaCharacteristic(characteristic) }
    }

    // MARK: Variants

    /// Loads all reasons why this machine does not play a variant, or an empty array if it does.
    ///
    /// The reasons are codecs, protection and the keys in the variant's media playlist. No limits apply. Costs the
    /// media playlist and, if the playlist declares no codecs, the first bytes of the media.
    ///
    /// - Parameter variant: One of the asset's `variants`.
    /// - Throws: ``HLSError``, with code `noEligibleVariant` if the variant is not one of the asset's.
    public func ineligibilityReasons(for variant: AssetVariant) async throws(HLSError) -> [IneligibilityReason] {
        try await HLSError.typed { try await inspector.ineligibilityReasons(of: variant) }
    }

    // MARK: Media selection

    /// Loads the options for a characteristic, or returns `nil` if there are none.
    ///
    /// The characteristic is ``MediaCharacteristic/audible``, `legible` or `visual`. One option at a time can be
    /// selected. Costs only the first request. If no playlist names the audio, the options are the audio tracks of the
    /// first segment, which cost the same as `tracks`.
    public func loadMediaSelectionGroup(
        for characteristic: MediaCharacteristic
    ) async throws(HLSError) -> MediaSelectionGroup? {
        try await HLSError.typed { try await inspector.mediaSelectionGroup(for: characteristic) }
    }

    // MARK: Metadata

    /// Loads the metadata in one format.
    public func loadMetadata(for format: MetadataFormat) async throws(HLSError) -> [MetadataItem] {
        try await load(.metadata).filter { $0.format == format }
    }

    /// Loads the chapters with titles in one language, in order of time.
    ///
    /// The array is empty if there are none.
    ///
    /// They come from the session data `com.apple.hls.chapters` or, in an MP4 file, from chapter tracks or the chapter
    /// list.
    /// - Parameter locale: The BCP 47 tag, one of `availableChapterLocales`.
    public func loadChapterMetadataGroups(
        withTitleLocale locale: String
    ) async throws(HLSError) -> [TimedMetadataGroup] {
        try await HLSError.typed { try await inspector.chapters().groups(locale: locale) }
    }

    /// Loads the chapters in the best available language, in order of time.
    ///
    /// The array is empty if there are none.
    ///
    /// - Parameter languages: The BCP 47 tags, most preferred first. If none of them is available, the chapters' first
    ///   language is used.
    public func loadChapterMetadataGroups(
        bestMatchingPreferredLanguages languages: [String]
    ) async throws(HLSError) -> [TimedMetadataGroup] {
        let chapters = try await HLSError.typed { try await inspector.chapters() }
        let locales = chapters.locales
        guard let locale = LanguageTag.bestMatch(for: languages, among: locales) ?? locales.first else { return [] }
        return chapters.groups(locale: locale)
    }
}
