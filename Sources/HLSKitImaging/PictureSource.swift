import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// A playlist, or something that is read like one, that pictures are taken from.
struct PictureSource: Sendable {
    enum Kind: Sendable, Hashable {
        /// Each segment is one picture.
        case iFrames
        case segments
    }

    /// Where the picture of a wish comes from.
    enum Plan: Sendable, Hashable {
        /// The first picture of this segment that can be decoded by itself.
        case head(Int)
        /// The picture at that time exactly, or a nearby one that is cheaper; begins with this segment.
        case search(Int)
    }

    /// A picture this near will do where there is no limit: longer segments are searched for one.
    private static let nearEnough = Duration.seconds(6)

    let playlist: MediaPlaylist
    let kind: Kind
    /// Bits per second; nil if not declared.
    var bandwidth: Int?
    /// What its segments are, for servers; nil if not declared.
    var objectType: ClientDataFacts.ObjectType?
    /// ``bandwidth`` is of what goes with it besides.
    var hasOtherMedia = false
    /// Item times at which segments start, and where the last one ends.
    let starts: [Duration]
    /// The end is known, so that there is nothing behind it.
    var hasExactEnd = true

    /// A list of a live stream, where it is on the timeline.
    init(_ tracker: PlaylistTracker, bandwidth: Int?) {
        playlist = tracker.playlist
        self.bandwidth = bandwidth
        kind = tracker.playlist.isIFramesOnly ? .iFrames : .segments
        starts = tracker.starts
    }

    init(_ playlist: MediaPlaylist, bandwidth: Int? = nil) {
        self.playlist = playlist
        self.bandwidth = bandwidth
        kind = playlist.isIFramesOnly ? .iFrames : .segments
        var starts = [Duration.zero]
        starts.reserveCapacity(playlist.segments.count + 1)
        var end = Duration.zero
        for segment in playlist.segments {
            end += segment.duration
            starts.append(end)
        }
        self.starts = starts
    }

    var segmentCount: Int { starts.count - 1 }
    /// Where the first segment begins: of a live stream that is not zero.
    var start: Duration { starts.first ?? .zero }
    var end: Duration { starts.last ?? .zero }

    /// The segment that is on at a time: the first before the start, the last behind the end.
    func index(at time: Duration) -> Int {
        var (low, high) = (0, max(0, segmentCount - 1))
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= time { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// How to get at the picture of a time; nil if this source has none that will do.
    ///
    /// - Parameter lost: segments that could not be loaded: they are like gaps.
    func plan(_ time: Duration, _ options: ImageOptions, lost: Set<Int> = []) -> Plan? {
        guard segmentCount > 0 else { return nil }
        let index = index(at: time)
        if let head = head(near: time, from: index, options, lost) { return .head(head) }
        guard kind == .segments, !isGap(index, lost) else { return nil }
        return .search(index)
    }

    private func isGap(_ index: Int, _ lost: Set<Int>) -> Bool {
        playlist.segments[index].isGap || lost.contains(index)
    }

    /// The segment whose start is nearest to a time and near enough.
    private func head(near time: Duration, from index: Int, _ options: ImageOptions, _ lost: Set<Int>) -> Int? {
        var isFirst = true
        var best: (index: Int, distance: Duration)?
        // Beyond gaps, too, where anything will do.
        for step in 0..<segmentCount {
            let candidates = [index - step, index + 1 + step].filter { (0..<segmentCount).contains($0) }
            if candidates.isEmpty { break }
            for candidate in candidates where !isGap(candidate, lost) {
                let distance = abs(starts[candidate] - time)
                guard options.allows(starts[candidate], for: time), best.map({ distance < $0.distance }) ?? true else {
                    continue
                }
                // The start of a segment stands for all times around it, unless segments are so long that it says little
                // of them.
                if kind == .segments, isFirst, distance > Self.nearEnough { continue }
                best = (candidate, distance)
            }
            if best != nil { break }
            if kind == .segments, !isGap(index, lost) { break }
            isFirst = false
        }
        return best?.index
    }
}

// MARK: - Which playlists

/// A playlist that could be a source, not loaded yet.
struct PictureSourceCandidate: Sendable, Hashable {
    var uri: String
    var bandwidth: Int?
    var objectType = ClientDataFacts.ObjectType.video
    /// ``bandwidth`` is of what goes with it besides.
    var hasOtherMedia = false
}

extension PictureSourceCandidate {
    /// More playlists are not tried for one picture.
    static let maximumCount = 4

    /// I-frame playlists first, then variants; of each kind the smallest that fills `maximumSize`, then the others from
    /// the nearest on.
    static func list(
        of playlist: MultivariantPlaylist, _ options: ImageOptions, context: SelectionContext
    ) -> [PictureSourceCandidate] {
        let iFrames = playlist.iFrameVariants.filter { variant in
            variant.codecs.allSatisfy { isPlayable($0, context) }
        }.map { variant in
            Choice(
                candidate: PictureSourceCandidate(uri: variant.uri, bandwidth: variant.bandwidth),
                size: variant.resolution.map { PixelSize(width: $0.width, height: $0.height) })
        }
        var withoutSound = AssetVariant.list(of: playlist)
        let whole = withoutSound.reduce(into: [:]) { $0[$1.index] = $1 }
        for index in withoutSound.indices {
            withoutSound[index].codecs.removeAll { CodecString(rawValue: $0).mediaType == .audio }
        }
        let variants = VariantEligibility(withoutSound, in: context).eligible.filter(\.hasVideo).map { variant in
            let group = playlist.variants[variant.index].audio
            let hasOtherMedia =
                group.map { playlist.renditions(.audio, groupID: $0).contains { $0.uri != nil } } ?? false
            return Choice(
                candidate: PictureSourceCandidate(
                    uri: variant.uri, bandwidth: Int(variant.bandwidth),
                    objectType: hasOtherMedia ? .video : whole[variant.index]?.objectType ?? .video,
                    hasOtherMedia: hasOtherMedia),
                size: variant.resolution)
        }
        let ordered = order(iFrames, options.maximumSize).prefix(2) + order(variants, options.maximumSize)
        return Array(ordered.prefix(maximumCount))
    }

    private static func isPlayable(_ entry: String, _ context: SelectionContext) -> Bool {
        context.isPassThrough || context.canDecode(entry)
    }

    private struct Choice {
        var candidate: PictureSourceCandidate
        var size: PixelSize?
        var bandwidth: Int { candidate.bandwidth ?? 0 }
    }

    private static func order(_ choices: [Choice], _ limit: PixelSize) -> [PictureSourceCandidate] {
        let isLimited = limit.width > 0 || limit.height > 0
        func fills(_ choice: Choice) -> Bool {
            guard isLimited else { return false }
            // Where sizes are undeclared, the smallest is as likely as any to be large enough.
            guard let size = choice.size else { return true }
            return (limit.width > 0 && size.width >= limit.width) || (limit.height > 0 && size.height >= limit.height)
        }
        let filling = choices.filter(fills).sorted {
            ($0.size?.pixelCount ?? 0, $0.bandwidth) < ($1.size?.pixelCount ?? 0, $1.bandwidth)
        }
        // At full size the best of those that are equally large is wanted.
        let others = choices.filter { !fills($0) }.sorted {
            ($1.size?.pixelCount ?? 0, $1.bandwidth) < ($0.size?.pixelCount ?? 0, $0.bandwidth)
        }
        return (filling + others).map(\.candidate)
    }
}
