import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

struct FrameSource: Sendable {
    enum Kind: Sendable, Hashable {
        /// Each segment is one frame.
        case iFrames
        case segments
    }

    enum Plan: Sendable, Hashable {
        /// The first sync frame of this segment.
        case head(Int)
        /// Exactly the frame at that time, or a nearby one that is cheaper. The search begins in this segment.
        case search(Int)
    }

    /// The distance within which any frame is acceptable without a limit. Longer segments are searched for a nearer
    /// one.
    private static let nearEnough = Duration.seconds(6)

    let playlist: MediaPlaylist
    let kind: Kind
    /// Bits per second, or nil if not declared.
    var bandwidth: Int?
    var objectType: ClientDataFacts.ObjectType?
    /// Whether ``bandwidth`` includes other media.
    var hasOtherMedia = false
    /// The item times of the segment starts and of the end of the last segment.
    let starts: [Duration]
    /// Whether the end is known, so that no frame exists after it.
    var hasExactEnd = true
    /// The file whose video the playlist describes. Its segments are not loaded but made.
    var container: ContainerFile?

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
    var start: Duration { starts.first ?? .zero }
    var end: Duration { starts.last ?? .zero }

    /// Returns the segment at a time, or the first one before the start and the last one after the end.
    func index(at time: Duration) -> Int {
        var (low, high) = (0, max(0, segmentCount - 1))
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= time { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// Returns the way to get the frame at a time, or nil if this source has no suitable one.
    ///
    /// - Parameter lost: The segments that could not be loaded, which are handled like gaps.
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

    private func head(near time: Duration, from index: Int, _ options: ImageOptions, _ lost: Set<Int>) -> Int? {
        var isFirst = true
        var best: (index: Int, distance: Duration)?
        // Crosses gaps only if any frame is acceptable.
        for step in 0..<segmentCount {
            let candidates = [index - step, index + 1 + step].filter { (0..<segmentCount).contains($0) }
            if candidates.isEmpty { break }
            for candidate in candidates where !isGap(candidate, lost) {
                let distance = abs(starts[candidate] - time)
                guard options.allows(starts[candidate], for: time), best.map({ distance < $0.distance }) ?? true else {
                    continue
                }
                // The start of a segment represents all times around it, unless the segment is too long for that.
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

struct FrameSourceCandidate: Sendable, Hashable {
    var uri: String
    var bandwidth: Int?
    var objectType = ClientDataFacts.ObjectType.video
    var hasOtherMedia = false
}

extension FrameSourceCandidate {
    /// The largest number of playlists to try for one frame.
    static let maximumCount = 4

    /// Orders I-frame playlists before variants. In each group, the smallest one that fills `maximumSize` is first,
    /// followed by the others by distance.
    static func list(
        of playlist: MultivariantPlaylist, _ options: ImageOptions, context: SelectionContext
    ) -> [FrameSourceCandidate] {
        let iFrames = playlist.iFrameVariants.filter { variant in
            variant.codecs.allSatisfy { isPlayable($0, context) }
        }.map { variant in
            Choice(
                candidate: FrameSourceCandidate(uri: variant.uri, bandwidth: variant.bandwidth),
                size: variant.resolution.map { PixelSize(width: $0.width, height: $0.height) })
        }
        var withoutAudio = AssetVariant.list(of: playlist)
        let whole = withoutAudio.reduce(into: [:]) { $0[$1.index] = $1 }
        for index in withoutAudio.indices {
            withoutAudio[index].codecs.removeAll { CodecString(rawValue: $0).mediaType == .audio }
        }
        let variants = VariantEligibility(withoutAudio, in: context).eligible.filter(\.hasVideo).map { variant in
            let group = playlist.variants[variant.index].audio
            let hasOtherMedia =
                group.map { playlist.renditions(.audio, groupID: $0).contains { $0.uri != nil } } ?? false
            return Choice(
                candidate: FrameSourceCandidate(
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
        var candidate: FrameSourceCandidate
        var size: PixelSize?
        var bandwidth: Int { candidate.bandwidth ?? 0 }
    }

    private static func order(_ choices: [Choice], _ limit: PixelSize) -> [FrameSourceCandidate] {
        let isLimited = limit.width > 0 || limit.height > 0
        func fills(_ choice: Choice) -> Bool {
            guard isLimited else { return false }
            // If sizes are not declared, the smallest is as likely as any to be large enough.
            guard let size = choice.size else { return true }
            return (limit.width > 0 && size.width >= limit.width) || (limit.height > 0 && size.height >= limit.height)
        }
        let filling = choices.filter(fills).sorted {
            ($0.size?.pixelCount ?? 0, $0.bandwidth) < ($1.size?.pixelCount ?? 0, $1.bandwidth)
        }
        // At full size, prefer the best of those with equal size.
        let others = choices.filter { !fills($0) }.sorted {
            ($1.size?.pixelCount ?? 0, $1.bandwidth) < ($0.size?.pixelCount ?? 0, $0.bandwidth)
        }
        return (filling + others).map(\.candidate)
    }
}
