import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

struct FrameLibrary: Sendable {
    enum Place: Sendable {
        case playlist(FrameSourceCandidate, of: MultivariantPlaylist)
        /// A media playlist. `wasKnown` indicates that it was loaded before the library was created.
        case media(MediaPlaylist, wasKnown: Bool)
        case source(FrameSource)
        case file(FileFrames, end: MediaTime)
    }

    let places: [Place]
    private let inspector: AssetInspector
    private let live: LiveFramePlaylists

    init(_ store: FrameStore, _ options: ImageOptions) async throws {
        let inspector = store.inspector
        self.inspector = inspector
        live = store.live
        let wasOpened = inspector.isOpened
        switch try await inspector.opened() {
        case .media(let playlist): places = [.media(playlist, wasKnown: wasOpened)]
        case .multivariant(let playlist):
            let candidates = FrameSourceCandidate.list(of: playlist, options, context: inspector.selectionContext)
            guard !candidates.isEmpty else {
                guard playlist.variants.contains(where: { _ in true }), !playlist.hasVideo else {
                    throw HLSError(
                        code: .noEligibleVariant, urlString: playlist.url,
                        cause: "no variant with video can be decoded here")
                }
                throw HLSError.noVideo(playlist.url)
            }
            places = candidates.map { .playlist($0, of: playlist) }
        case .file(let file): places = [try await Self.place(of: file, inspector)]
        }
    }

    /// Returns the playlist of a source. The first call makes one request. A live stream makes further ones when the
    /// playlist may have changed.
    func source(_ place: Place) async throws -> FrameSource? {
        switch place {
        case .file: return nil
        case .source(let source): return source
        case .media(let playlist, let wasKnown):
            guard !playlist.isComplete else { return FrameSource(playlist) }
            let inspector = inspector
            let tracker = try await live.tracker(at: inspector.url, playlist, wasKnown: wasKnown) {
                try await inspector.loadMediaPlaylist(at: inspector.url, of: nil)
            }
            return FrameSource(tracker, bandwidth: nil)
        case .playlist(let candidate, let parent):
            let (inspector, url) = (inspector, parent.resolve(candidate.uri) ?? candidate.uri)
            let wasKnown = inspector.knowsMediaPlaylist(at: url)
            let playlist = try await inspector.mediaPlaylist(candidate.uri, of: parent)
            var source: FrameSource
            if playlist.isComplete {
                source = FrameSource(playlist, bandwidth: candidate.bandwidth)
            } else {
                let tracker = try await live.tracker(at: url, playlist, wasKnown: wasKnown) {
                    try await inspector.loadMediaPlaylist(at: url, of: parent)
                }
                source = FrameSource(tracker, bandwidth: candidate.bandwidth)
            }
            (source.objectType, source.hasOtherMedia) = (candidate.objectType, candidate.hasOtherMedia)
            return source
        }
    }

    /// Returns the time range of the first readable source. Its duration is `.indefinite` if it is not declared.
    func timeRange() async throws -> MediaTimeRange {
        var failure: (any Error)?
        for place in places {
            do {
                if case .file(_, let end) = place { return MediaTimeRange(start: .zero, duration: end) }
                guard let source = try await source(place) else { continue }
                guard source.hasExactEnd else { return MediaTimeRange(start: .zero, duration: .indefinite) }
                return MediaTimeRange(start: MediaTime(source.start), duration: MediaTime(source.end - source.start))
            } catch let error as HLSError {
                failure = failure ?? error
            }
        }
        throw failure ?? HLSError.notAvailable("the stream has no video")
    }

    private static func place(of file: MediaFile, _ inspector: AssetInspector) async throws -> Place {
        let facts = try await inspector.facts(of: file)
        guard facts.tracks.contains(where: { $0.description.mediaType == .video }) else {
            throw HLSError.noVideo(file.url)
        }
        if case .mp4(let header, _, let index) = file.content {
            if let frames = FileFrames(header, url: file.url) { return .file(frames, end: facts.duration) }
            if let index, let map = file.movieRange, let playlist = playlist(of: index, map: map, url: file.url) {
                return .source(FrameSource(playlist))
            }
        }
        if case .container(let container) = file.content {
            var source = FrameSource(try container.videoPlaylist())
            source.container = container
            source.hasExactEnd = container.duration != nil
            return .source(source)
        }
        let length = facts.duration.duration
        var playlist = MediaPlaylist(
            url: file.url, targetDuration: length ?? .seconds(1),
            segments: [MediaSegment(uri: file.url, duration: length ?? .seconds(86_400))])
        playlist.hasEndList = true
        var source = FrameSource(playlist)
        source.hasExactEnd = length != nil
        return .source(source)
    }

    /// Describes a fragmented file from its index. Returns nil if the index refers to other indexes.
    private static func playlist(of index: SegmentIndex, map: Range<Int>, url: String) -> MediaPlaylist? {
        var offset = index.firstByteOffset
        var segments: [MediaSegment] = []
        let timescale = Int64(index.timescale)
        for reference in index.references {
            let (end, overflow) = offset.addingReportingOverflow(reference.byteCount)
            guard !reference.isIndex, !overflow else { return nil }
            // 32 bits times a billion fit.
            let length = Duration.nanoseconds(Int64(reference.duration) * 1_000_000_000 / timescale)
            var segment = MediaSegment(
                uri: url, duration: length, byteRange: ByteRange(offset: offset, length: reference.byteCount))
            segment.map = MediaInitializationSection(
                uri: url, byteRange: ByteRange(offset: map.lowerBound, length: map.count))
            segments.append(segment)
            offset = end
        }
        guard !segments.isEmpty else { return nil }
        var playlist = MediaPlaylist(url: url, targetDuration: .seconds(1), segments: MediaSegments(segments))
        playlist.hasEndList = true
        return playlist
    }
}

extension MultivariantPlaylist {
    fileprivate var hasVideo: Bool { AssetVariant.list(of: self).contains(where: \.hasVideo) }
}
