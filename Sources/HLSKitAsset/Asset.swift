public import FoundationEssentials
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitSelection
package import HLSKitTime
import Synchronization

/// Something that can be inspected and played: an HLS stream, or a bare media file (MP4, MPEG-TS, packed audio), over the
/// network or on this machine.
///
/// An asset loads nothing until it is asked, and then only what the answer needs. A resource that several
/// properties need is fetched once. A value stays, and so does a failure: to try again, make another asset.
///
/// ```swift
/// let asset = Asset(urlString: "https://example.com/master.m3u8")
/// let (duration, variants) = try await asset.load(.duration, .variants)
/// ```
///
/// See docs/behaviour/assets.md.
public final class Asset: Sendable {
    private struct Entry {
        var loadCount = 0
        var result: Result<any Sendable, HLSError>?
    }

    /// The absolute URL of the multivariant playlist, media playlist or media file, exactly as it was given.
    public let urlString: String
    /// The same as a `URL`, with what a URL cannot hold percent-encoded; nil where the text is not a URL even so. Requests are
    /// made by ``urlString``.
    public var url: URL? { URL(string: urlString) }
    /// Loads resources that do not come from the network, and keys ahead of time.
    public let resourceLoader: AssetResourceLoader
    package let options: AssetOptions
    /// The playlists, for the items that are made of the asset.
    package let cache: ResourceCache
    private let inspection = Mutex<AssetInspector?>(nil)
    private let entries = Mutex<[AssetPropertyKey: Entry]>([:])

    /// Touches neither network nor disk.
    ///
    /// - Parameters:
    ///   - url: an http, https or file URL, or one of a scheme that the program's own loader serves.
    ///   - options: hold for the asset's requests and for those of its items.
    public convenience init(url: URL, options: AssetOptions = .init()) {
        self.init(urlString: url.absoluteString, options: options)
    }

    /// Touches neither network nor disk. Playlists name URLs that `URL` would change or refuse: this takes them as they
    /// are.
    ///
    /// - Parameters:
    ///   - urlString: an absolute http, https or file URL. A plain path is not a URL: loading it fails.
    ///   - options: hold for the asset's requests and for those of its items.
    public convenience init(urlString: String, options: AssetOptions = .init()) {
        self.init(urlString: urlString, options: options, stored: nil)
    }

    /// - Parameter stored: media that need not be loaded.
    package init(urlString: String, options: AssetOptions, stored: (any StoredMedia)?) {
        self.urlString = urlString
        self.options = options
        cache = ResourceCache(keepsMedia: false, stored: stored)
        resourceLoader = AssetResourceLoader(url: urlString, loader: options.hooks.resourceLoader)
    }

    /// The loader; made on first use. For a `file:` URL it then finds out the file's folder, which is all that
    /// its playlist may name.
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

    /// Where the program takes part in loading. The resource loader stays from now on.
    package var hooks: LoadingHooks {
        var hooks = options.hooks
        hooks.resourceLoader = resourceLoader.begin()
        return hooks
    }

    // MARK: Properties

    /// Loads a property.
    ///
    /// A loaded property is answered from memory. Of several loads at a time each request is made once. When the caller's
    /// task is cancelled this call alone ends, with ``HLSError/Code/cancelled``; the property may be loaded again.
    ///
    /// - Throws: the same error at each call, but for ``HLSError/Code/cancelled``.
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

    /// Loads several properties at once; the values come in the order of the arguments.
    ///
    /// All of them are under way at the same time, so that what they share is requested once.
    /// - Throws: the error of the first property, in the order of the arguments, that has one.
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

    /// How far a property is. Never starts any work.
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
        // Each key has one type of value.
        case .success(let value): (value as? Value).map { .success($0) }
        }
    }

    /// Keeps the first result of a property. A cancelled load leaves none.
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

    /// Ends whatever is being loaded: pending loads throw ``HLSError/Code/cancelled``. Loaded properties stay, and the
    /// rest may be loaded again.
    public func cancelLoading() { inspection.withLock { $0 }?.cancel() }

    /// A player has found out the duration, which needs not be loaded then.
    package func note(duration: MediaTime) {
        entries.withLock { entries in
            guard entries[.duration]?.result == nil else { return }
            entries[.duration, default: Entry()].result = .success(duration)
        }
    }

    // MARK: Tracks

    /// The track with this number; nil if there is none. Costs what `tracks` does.
    public func loadTrack(withTrackID trackID: Int) async throws(HLSError) -> AssetTrack? {
        try await load(.tracks).first { $0.trackID == trackID }
    }

    /// The tracks of a type. Costs what `tracks` does.
    public func loadTracks(withMediaType mediaType: MediaKind) async throws(HLSError) -> [AssetTrack] {
        try await load(.tracks).filter { $0.mediaType == mediaType }
    }

    /// The tracks with a characteristic. Costs what `tracks` does.
    public func loadTracks(
        withMediaCharacteristic characteristic: MediaCharacteristic
    ) async throws(HLSError) -> [AssetTrack] {
        try await load(.tracks).filter { $0.hasMediaCharacteristic(characteristic) }
    }

    // MARK: Variants

    /// All reasons why this machine does not play a variant, with no limits set: codecs, protection, and the keys of its own
    /// media playlist. Empty where it is played. Costs that playlist, and the first bytes of media where no codecs are
    /// declared.
    ///
    /// - Parameter variant: one of `variants`.
    /// - Throws: also `noEligibleVariant` where it is not.
    public func ineligibilityReasons(for variant: AssetVariant) async throws(HLSError) -> [IneligibilityReason] {
        try await HLSError.typed { try await inspector.ineligibilityReasons(of: variant) }
    }

    // MARK: Media selection

    /// The options for a characteristic (``MediaCharacteristic/audible``, `legible` or `visual`), of which one at a
    /// time can be selected; nil if there are none. Costs the first request only, but for audio that no playlist names:
    /// its options are the audio tracks of the first segment, which cost what `tracks` does.
    public func loadMediaSelectionGroup(
        for characteristic: MediaCharacteristic
    ) async throws(HLSError) -> MediaSelectionGroup? {
        try await HLSError.typed { try await inspector.mediaSelectionGroup(for: characteristic) }
    }

    // MARK: Metadata

    /// The metadata of one format.
    public func loadMetadata(for format: MetadataFormat) async throws(HLSError) -> [MetadataItem] {
        try await load(.metadata).filter { $0.format == format }
    }

    /// The chapters with titles of one language, in the order of time; empty if there are none.
    ///
    /// From the session data `com.apple.hls.chapters` or, of an MP4 file, its chapter tracks or its chapter list.
    /// - Parameter locale: a BCP 47 tag, one of `availableChapterLocales`.
    public func loadChapterMetadataGroups(
        withTitleLocale locale: String
    ) async throws(HLSError) -> [TimedMetadataGroup] {
        try await HLSError.typed { try await inspector.chapters().groups(locale: locale) }
    }

    /// The chapters in the best language that there is, in the order of time; empty if there are none.
    ///
    /// - Parameter languages: BCP 47 tags, the most wanted first. Where none of them is there, the first language of the
    ///   chapters is taken.
    public func loadChapterMetadataGroups(
        bestMatchingPreferredLanguages languages: [String]
    ) async throws(HLSError) -> [TimedMetadataGroup] {
        let chapters = try await HLSError.typed { try await inspector.chapters() }
        let locales = chapters.locales
        guard let locale = LanguageTag.bestMatch(for: languages, among: locales) ?? locales.first else { return [] }
        return chapters.groups(locale: locale)
    }
}
