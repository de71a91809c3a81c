import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Inspects an asset. Each resource is loaded once, however many properties need it.
package final class AssetInspector: Sendable {
    private static let maximumSessionDataByteCount = 4 << 20
    /// The largest key, in bytes (R28).
    static let maximumKeyByteCount = 4 << 10
    package static let maximumSegmentByteCount = 256 << 20
    static let maximumVariantTryCount = 8
    /// The number after which tracks outside of the presentation are counted.
    private static let fallbackTrackIDs = 1000

    package enum Opened: Sendable {
        case multivariant(MultivariantPlaylist)
        case media(MediaPlaylist)
        case file(MediaFile)
    }

    package let url: String
    package let client: ResourceClient
    // The loads must not retain this object, because it retains them.
    private let opening: SharedLoads<String, Opened>
    private let playlists: SharedLoads<String, MediaPlaylist>
    private let heads: SharedLoads<String, MediaHead>
    private let files: SharedLoads<String, MediaFileFacts>
    private let data: SharedLoads<String, [UInt8]>

    package init(url: String, client: ResourceClient) {
        self.url = url
        self.client = client
        let executor = client.options.executor
        opening = SharedLoads(executor: executor)
        playlists = SharedLoads(executor: executor)
        heads = SharedLoads(executor: executor)
        files = SharedLoads(executor: executor)
        data = SharedLoads(executor: executor)
    }

    convenience init(url: String, options: AssetOptions, cache: ResourceCache? = nil) {
        self.init(url: url, client: ResourceClient(url: url, options: options, cache: cache))
    }

    package func cancel() {
        opening.cancel()
        playlists.cancel()
        heads.cancel()
        files.cancel()
        data.cancel()
    }

    // MARK: Resources

    package func opened() async throws -> Opened {
        let (url, client) = (url, client)
        return try await opening.value(for: url) {
            if let type = client.options.unknownMIMEType { throw DeclaredKind.refusal(of: type, url: url) }
            let resource = try await client.load(url, .multivariantPlaylist, limit: .max, namedBy: nil) {
                OpeningReader(
                    url: url, options: client.parserOptions, amount: .estimate, declared: client.options.declaredKind)
            }
            switch resource {
            case .playlist(.multivariant(let playlist), _): return .multivariant(playlist)
            case .playlist(.media(let playlist), _): return .media(try playlist.withSegments(url: url))
            case .mp4(let header, let url, let byteCount):
                return .file(try await MediaFile(header, url: url, byteCount: byteCount, client: client))
            case .mp4Ahead(let scanner, let url, let byteCount):
                return .file(try await MediaFile.open(scanner, url: url, byteCount: byteCount, client: client))
            case .media(let head, let url, let byteCount):
                return .file(MediaFile(head, url: url, byteCount: byteCount))
            case .container(let file): return .file(MediaFile(file))
            }
        }
    }

    package func mediaPlaylist(_ uri: String, of parent: MultivariantPlaylist) async throws -> MediaPlaylist {
        guard let url = parent.resolve(uri) else {
            throw HLSError(
                code: .badPlaylist, urlString: parent.url, cause: "a URI cannot be resolved",
                detail: uri.escapingControls)
        }
        let client = client
        let source = parent.url
        let variables = parent.variables
        return try await playlists.value(for: url) {
            try await Self.mediaPlaylist(at: url, namedBy: source, variables: variables, client)
        }
    }

    package func knowsMediaPlaylist(at url: String) -> Bool { playlists.hasResult(for: url) }
    package var isOpened: Bool { opening.hasResult(for: url) }

    /// Loads the current version of a media playlist and does not keep it.
    ///
    /// - Parameter parent: The playlist that names it, or `nil` for the asset's own URL.
    package func loadMediaPlaylist(at url: String, of parent: MultivariantPlaylist?) async throws -> MediaPlaylist {
        try await Self.mediaPlaylist(at: url, namedBy: parent?.url, variables: parent?.variables, client)
    }

    private static func mediaPlaylist(
        at url: String, namedBy source: String?, variables: [String: String]?, _ client: ResourceClient
    ) async throws -> MediaPlaylist {
        var options = client.parserOptions
        options.importedVariables = variables
        let playlist = try await client.load(url, .mediaPlaylist, limit: .max, namedBy: source) {
            [options] in PlaylistReader(url: url, options: options)
        }
        guard case .media(let media) = playlist else {
            throw HLSError(
                code: .badPlaylist, urlString: url, cause: "a multivariant playlist where a media playlist belongs")
        }
        return try media.withSegments(url: url)
    }

    package func sessionData(at url: String) async throws -> [UInt8] {
        let (client, source) = (client, self.url)
        return try await data.value(for: url) {
            try await client.bytes(
                url, .sessionData, limit: Self.maximumSessionDataByteCount, namedBy: source)
        }
    }

    package func facts(of file: MediaFile) async throws -> MediaFileFacts {
        let client = client
        return try await files.value(for: file.url) { try await file.facts(client: client) }
    }

    func head(of playlist: MediaPlaylist) async throws -> MediaHead {
        let client = client
        return try await heads.value(for: playlist.url) { try await Self.head(of: playlist, client: client) }
    }

    private static func head(of playlist: MediaPlaylist, client: ResourceClient) async throws -> MediaHead {
        // The oldest segment of a live stream may leave the server before it is requested.
        let segments = playlist.segments
        let isAvailable = { (segment: MediaSegment) in !segment.isGap }
        guard let segment = playlist.isComplete ? segments.first(where: isAvailable) : segments.last(where: isAvailable)
        else {
            throw HLSError(code: .badPlaylist, urlString: playlist.url, cause: "the playlist lists no segment")
        }
        var initialization: MP4InitializationSection?
        if let map = segment.map {
            initialization = try await self.initialization(map, of: segment, in: playlist, client: client)
            if let initialization, !initialization.tracks.isEmpty { return MediaHead(tracks: initialization.tracks) }
        }
        guard let url = playlist.resolve(segment.uri) else {
            throw HLSError(code: .badPlaylist, urlString: playlist.url, cause: "a URI cannot be resolved")
        }
        let key = try await self.key(among: segment.keys, of: segment, in: playlist, client: client)
        return try await client.load(
            url, .segment, range: segment.loadedRange, limit: maximumSegmentByteCount, namedBy: playlist.url
        ) { [initialization] in
            // A loaded key has the right length.
            let decryption = key.flatMap { try? DecryptionBox(key: $0.1, vector: $0.0.initializationVector) }
            return MediaHeadReader(.tracks, initialization: initialization, decryption: decryption)
        }
    }

    private static func initialization(
        _ map: MediaInitializationSection, of segment: MediaSegment, in playlist: MediaPlaylist, client: ResourceClient
    ) async throws -> MP4InitializationSection {
        guard let url = playlist.resolve(map.uri) else {
            throw HLSError(code: .badPlaylist, urlString: playlist.url, cause: "a URI cannot be resolved")
        }
        var bytes = try await client.bytes(
            url, .initializationSection, range: map.loadedRange, limit: maximumSegmentByteCount,
            namedBy: playlist.url)
        do {
            if let (key, secret) = try await key(among: map.keys, of: segment, in: playlist, client: client) {
                let box = try DecryptionBox(key: secret, vector: key.initializationVector)
                bytes = try box.decryptWhole(bytes)
            }
            return try MP4InitializationSection(parsing: bytes[...])
        } catch let error as DecryptionError {
            throw HLSError(error, url: url)
        } catch let error as MediaError {
            throw HLSError(error, url: url)
        }
    }

    /// The key that encrypts whole segments, or `nil` if they are clear.
    private static func key(
        among keys: [EncryptionKey], of segment: MediaSegment, in playlist: MediaPlaylist, client: ResourceClient
    ) async throws -> (SegmentKey, [UInt8])? {
        // Sample encryption leaves the headers in the clear.
        let whole = keys.filter { $0.method != .sampleAES && $0.method != .sampleAESCTR }
        guard
            let key = try client.keyRules.choose(
                of: whole, base: playlist.url, mediaSequence: segment.mediaSequence)
        else { return nil }
        return (key, try await client.key(key.resource, namedBy: playlist.url).bytes)
    }

    // MARK: The first variant

    package var selectionContext: SelectionContext {
        var context = SelectionContext()
        context.isPassThrough = client.options.acceptsAllCodecs
        context.canDecode = CodecRegistry.canDecode(entry:)
        return context
    }

    /// The indexes of the variants in the order in which they are tried.
    ///
    /// The first one is the variant to start on, followed by the other eligible ones. If none is eligible, all variants
    /// are tried.
    private func variantOrder(of playlist: MultivariantPlaylist) -> [Int] {
        let candidates = AssetVariant.list(of: playlist)
        let eligible = VariantEligibility(candidates, in: selectionContext).eligible
        let first = InitialVariantRule().choose(
            from: eligible,
            knownThroughput: client.options.initialBitRateHint.flatMap { $0.isFinite && $0 > 0 ? $0 : nil })
        let others = (eligible.isEmpty ? candidates : eligible).map(\.index)
        let start = eligible.playlistIndex(of: first?.variantID)
        return (start.map { [$0] } ?? []) + others.filter { $0 != start }
    }

    func eligibleVariants(of playlist: MultivariantPlaylist) -> [Int] {
        let eligible = Set(
            VariantEligibility(AssetVariant.list(of: playlist), in: selectionContext).eligible.map(\.index))
        return variantOrder(of: playlist).filter(eligible.contains)
    }

    /// The media playlist that playback would start with, and its variant. The result is `nil` for a bare file.
    func primary() async throws -> (MediaPlaylist, VariantStream?)? {
        switch try await opened() {
        case .file: return nil
        case .media(let playlist): return (playlist, nil)
        case .multivariant(let parent):
            var failure: (any Error)?
            for index in variantOrder(of: parent).prefix(Self.maximumVariantTryCount) {
                do {
                    return (try await mediaPlaylist(parent.variants[index].uri, of: parent), parent.variants[index])
                } catch let error as HLSError {
                    failure = failure ?? error
                }
            }
            throw failure
                ?? HLSError(code: .noEligibleVariant, urlString: parent.url, cause: "the playlist lists no variant")
        }
    }

    // MARK: Times

    func duration() async throws -> MediaTime {
        if case .file(let file) = try await opened() { return try await facts(of: file).duration }
        return try await primary()?.0.time ?? .indefinite
    }

    func minimumTimeOffsetFromLive() async throws -> MediaTime? {
        guard let (playlist, _) = try await primary(), !playlist.isComplete else { return nil }
        // As a player decides, if its configuration allows low latency.
        let usesParts = LowLatencyProfile(of: playlist, isAllowed: true) == .lowLatency
        let tracker = PlaylistTracker(
            playlist, requestURL: playlist.url, url: playlist.url, start: .zero, loadBegan: .zero, now: .zero,
            usesParts: usesParts)
        return MediaTime(exactly: tracker.holdBack)
    }

    func shortestTrackEnd() async throws -> MediaTime? {
        let ends = try await tracks().filter { $0.mediaType == .video || $0.mediaType == .audio }
            .map(\.facts.timeRange.end)
        return ends.min()
    }

    // MARK: Variants

    func variants() async throws -> [AssetVariant] {
        guard case .multivariant(let playlist) = try await opened() else { return [AssetVariant(onlyVariantAt: url)] }
        return AssetVariant.list(of: playlist, judgedIn: selectionContext)
    }

    private func canDecode(_ entry: String) -> Bool {
        client.options.acceptsAllCodecs || CodecRegistry.canDecode(entry: entry)
    }

    func hasProtectedContent() async throws -> Bool {
        switch try await opened() {
        case .file(let file): return try await facts(of: file).tracks.contains { $0.description.encryption != nil }
        case .multivariant(let playlist):
            if playlist.sessionKeys.needKeySystem { return true }
        case .media: break
        }
        return try await primary()?.0.segments.contains { !$0.isGap && $0.keys.needKeySystem } ?? false
    }

    func playbackConfigurationOptions() async throws -> [PlaybackConfigurationOption] {
        guard case .multivariant(let playlist) = try await opened() else { return [] }
        var result: [PlaybackConfigurationOption] = []
        for layout in playlist.variants.flatMap(\.requiredLayouts) {
            let option = PlaybackConfigurationOption(rawValue: layout)
            if !result.contains(option) { result.append(option) }
        }
        return result
    }

    // MARK: Media selection

    func mediaSelectionGroup(for characteristic: MediaCharacteristic) async throws -> MediaSelectionGroup? {
        let playlist = try await optionsPlaylist()
        if let playlist, let group = MediaSelectionGroup(characteristic, of: playlist, canDecode: canDecode) {
            return group
        }
        guard characteristic == .audible else { return nil }
        if case .file(let file) = try await opened() {
            return AudioTrackOptions(file.playableTracks, canDecode: CodecRegistry.canDecode).group
        }
        // No playlist names the audio tracks, so the segments must.
        guard let (playlist, _) = try await primary() else { return nil }
        return AudioTrackOptions(try await head(of: playlist).tracks, canDecode: CodecRegistry.canDecode).group
    }

    func availableMediaCharacteristics() async throws -> [MediaCharacteristic] {
        guard let playlist = try await optionsPlaylist() else { return [] }
        return [MediaCharacteristic.visual, .audible, .legible].filter {
            MediaSelectionGroup($0, of: playlist, canDecode: canDecode) != nil
        }
    }

    /// The playlist whose renditions are the options. A file has one made from its tracks.
    private func optionsPlaylist() async throws -> MultivariantPlaylist? {
        switch try await opened() {
        case .multivariant(let playlist): return playlist
        case .media: return nil
        case .file(let file):
            let selection = FileSelection(file.playableTracks)
            return selection.hasOptions ? selection.multivariantPlaylist(url: url, bitRate: 0) : nil
        }
    }

    // MARK: Tracks

    func tracks() async throws -> [AssetTrack] {
        if case .file(let file) = try await opened() {
            return number(try await facts(of: file).tracks)
        }
        guard let (playlist, variant) = try await primary() else { return [] }
        guard let variant, case .multivariant(let parent) = try await opened() else {
            return try await tracks(of: playlist)
        }
        async let main = laneTracks(playlist, rendition: nil, variant: variant)
        let audio = parent.playedRendition(.audio, group: variant.audio, except: variant.uri)
        let subtitles = parent.playedRendition(.subtitles, group: variant.subtitles, except: variant.uri)
        async let audioTracks = laneTracks(of: audio, in: parent)
        async let text = laneTracks(of: subtitles, in: parent)
        var facts = try await main
        // The audio in the variant is not played together with an audio rendition.
        let own = try await audioTracks
        if !own.isEmpty { facts.removeAll { $0.description.mediaType == .audio } }
        // Do not fail if only the subtitles cannot be loaded.
        let lines: [TrackFacts]
        do { lines = try await text } catch let error as HLSError where error.code != .refused { lines = [] }
        return number(facts + own + lines)
    }

    func tracks(of playlist: MediaPlaylist) async throws -> [AssetTrack] {
        number(try await laneTracks(playlist, rendition: nil, variant: nil))
    }

    private func number(_ facts: [TrackFacts], from first: Int = 1) -> [AssetTrack] {
        facts.enumerated().map { index, facts in
            AssetTrack(trackID: first + index, facts: facts, rendition: facts.rendition, inspector: self)
        }
    }

    private func laneTracks(of rendition: Rendition?, in parent: MultivariantPlaylist) async throws -> [TrackFacts] {
        guard let rendition, let uri = rendition.uri else { return [] }
        return try await laneTracks(try await mediaPlaylist(uri, of: parent), rendition: rendition, variant: nil)
    }

    private func laneTracks(
        _ playlist: MediaPlaylist, rendition: Rendition?, variant: VariantStream?
    ) async throws -> [TrackFacts] {
        let head = try await head(of: playlist)
        let origin = head.origin
        let hasKeys = playlist.segments.contains { !$0.keys.isEmpty } && isDecryptable(playlist)
        return head.tracks.map { track in
            var facts = TrackFacts(
                track, extent: head.extents[track.id], origin: origin.converted(to: track.timescale).value,
                duration: playlist.time)
            facts.rendition = rendition
            facts.isDecryptable = hasKeys
            if track.mediaType == .video {
                facts.declaredFrameRate = variant?.frameRate
                facts.declaredVideoRange = variant?.videoRange
            }
            facts.metadata = track.mediaType == .audio ? head.tags.flatMap(MetadataItem.items(of:)) : []
            return facts
        }
    }

    func audioFallbacks(of track: AssetTrack) async throws -> [AssetTrack] {
        guard let own = track.rendition, own.type == .audio, let count = own.channelCount,
            case .multivariant(let parent) = try await opened()
        else { return [] }
        var seen: Set<String> = []
        let fallbacks = parent.renditions.enumerated().filter { _, other in
            guard other.type == .audio, other.name == own.name, other.language == own.language, let uri = other.uri,
                let channels = other.channelCount, channels < count
            else { return false }
            return seen.insert(uri).inserted
        }.sorted { ($1.element.channelCount ?? 0, $0.offset) < ($0.element.channelCount ?? 0, $1.offset) }
        var tracks: [AssetTrack] = []
        for (index, rendition) in fallbacks {
            let facts = try await laneTracks(of: rendition, in: parent).filter { $0.description.mediaType == .audio }
            tracks += number(Array(facts.prefix(1)), from: Self.fallbackTrackIDs + 1 + index)
        }
        return tracks
    }

    // MARK: Metadata

    func metadata() async throws -> [MetadataItem] {
        switch try await opened() {
        case .multivariant(let playlist): return MetadataItem.items(of: playlist, inspector: self)
        case .media: return []
        case .file(let file):
            switch file.content {
            case .mp4(_, let data, _): return MetadataItem.items(of: data)
            case .elementary(let head): return head.tags.flatMap(MetadataItem.items(of:))
            case .container(let file): return MetadataItem.items(of: file.metadata)
            }
        }
    }

    func chapters() async throws -> Chapters {
        switch try await opened() {
        case .media: return .none
        case .file(let file):
            if case .container(let file) = file.content {
                return Chapters(file.metadata, end: file.duration.map { MediaTime($0) } ?? .indefinite)
            }
            guard case .mp4(let header, let data, _) = file.content else { return .none }
            let tracks = ChapterTracks(url: file.url, header: header)
            if !tracks.tables.isEmpty {
                // Unlike the chapter list, the tracks have languages and images. The list, however, costs no request.
                do {
                    let chapters = try await tracks.chapters(client)
                    if !chapters.isEmpty {
                        return Chapters(chapters: chapters, end: try await facts(of: file).duration)
                    }
                } catch let error as HLSError where !data.chapters.isEmpty && error.code != .refused {}
            }
            guard !data.chapters.isEmpty else { return .none }
            return Chapters(data.chapters, end: try await facts(of: file).duration)
        case .multivariant(let playlist): return try await chapters(of: playlist)
        }
    }

    func chapters(of playlist: MultivariantPlaylist) async throws -> Chapters {
        guard let data = playlist.sessionData.first(where: { $0.dataID == "com.apple.hls.chapters" }) else {
            return .none
        }
        var text = data.value.map { Array($0.utf8) }
        let url = data.uri.flatMap(playlist.resolve)
        if let url, text == nil { text = try await sessionData(at: url) }
        guard let text, let document = JSONDocument(parsing: text),
            let chapters = Chapters(document, end: .indefinite)
        else {
            throw HLSError(
                code: .badPlaylist, urlString: url ?? playlist.url, cause: "malformed chapter document")
        }
        return chapters
    }

    func chapterLocales() async throws -> [String] { try await chapters().locales }
}

extension ResourceClient {
    package var parserOptions: PlaylistParser.Options {
        PlaylistParser.Options(mode: options.isPlaylistParsingStrict ? .strict : .lenient)
    }
}

extension [EncryptionKey] {
    fileprivate var needKeySystem: Bool { !isEmpty && allSatisfy { $0.effectiveKeyFormat != "identity" } }
}

extension MediaPlaylist {
    /// The duration, or `.indefinite` while the playlist can still grow.
    fileprivate var time: MediaTime { isComplete ? MediaTime(exactly: duration) : .indefinite }

    /// Rejects a playlist that has ended without a segment (R32).
    fileprivate func withSegments(url: String) throws(HLSError) -> MediaPlaylist {
        guard !segments.isEmpty || !isComplete else {
            throw HLSError(code: .badPlaylist, urlString: url, cause: "the playlist lists no segment")
        }
        return self
    }
}

extension MultivariantPlaylist {
    /// The rendition of a group that is played by default, or `nil` if the variant carries the media itself.
    package func playedRendition(
        _ type: Rendition.MediaType, group: String?, except variantURI: String
    ) -> Rendition? {
        guard let group else { return nil }
        let members = renditions(type, groupID: group)
        let played = members.first { $0.isDefault } ?? members.first { $0.isAutoselect } ?? members.first
        return played?.uri == variantURI ? nil : played
    }
}

extension MediaTime {
    /// Creates a playlist's time in units of 1/90,000 s or, if it is not exact in those, in nanoseconds.
    fileprivate init(exactly duration: Duration) {
        let time = MediaTime(duration, timescale: 90_000)
        self = time.hasBeenRounded ? MediaTime(duration, timescale: 1_000_000_000) : time
    }
}
