import HLSKitLoading

/// Knows which media of an item is loaded, and says from it whether the buffer is empty or full and what may be loaded.
///
/// Holds ranges and sizes, not media. Item times are measured from item time 0.
///
/// See docs/behaviour/buffering.md.
struct ForwardBuffer: Sendable {
    enum Track: Int, Sendable, Hashable, CaseIterable {
        case video, audio
        /// Never required: subtitles that are missing do not stop playback.
        case legible
    }

    struct Tracks: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let video = Tracks(.video)
        static let audio = Tracks(.audio)
        static let legible = Tracks(.legible)

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        init(_ track: Track) {
            rawValue = 1 << UInt8(track.rawValue)
        }

        func contains(_ track: Track) -> Bool { contains(Tracks(track)) }
    }

    /// Loaded media of one track.
    struct Piece: Sendable, Hashable {
        var range: Range<Duration>
        var byteCount: Int
        /// An `EXT-X-GAP` segment, or one that was given up: there is nothing here and nothing to wait for.
        var isGap = false
    }

    /// What the buffer does not know by itself.
    struct Situation: Sendable, Hashable {
        var playhead: Duration
        var isReverse = false
        /// Where playback ends in its direction; nil while that is not known, as for live.
        var effectiveEnd: Duration?
        /// Live: the end of the last segment or part that is listed.
        var lastAvailable: Duration?
        /// The item's wish; nil where it has none.
        var preferredForwardBufferDuration: Duration?
        var targetDuration: Duration = .seconds(6)
        /// θ: what is enough to start with.
        var startThreshold: Duration = .seconds(2)
        /// Live: less than this is not worth starting with, though it is all that is listed; nil for a quarter of θ.
        var liveReserve: Duration?
        /// Length and probable size of the segment to be loaded next.
        var nextSegmentDuration: Duration = .zero
        var nextSegmentByteCount = 0
        /// What other players leave; nil for everything.
        var bounds: Bounds?
    }

    /// What follows from the ranges and a situation.
    struct Verdict: Sendable, Hashable {
        /// D: playable media ahead, the least of the required tracks.
        var forwardDuration: Duration
        var isEmpty: Bool
        var isFull: Bool
        /// All media up to the effective end is here.
        var holdsAllRemaining: Bool
        /// Tracks that want more media.
        var tracksToLoad: Tracks
    }

    /// Pieces shorter than this grow with what follows them, so that there are few.
    private static let pieceDuration = Duration.seconds(2)
    private static let unlimited = Duration.seconds(Int64.max)

    var configuration: BufferingConfiguration
    /// The selected ones among video and audio.
    private(set) var requiredTracks: Tracks = []
    private var lanes = [BufferedTrack](repeating: BufferedTrack(), count: Track.allCases.count)

    init(configuration: BufferingConfiguration = .init()) {
        self.configuration = configuration
    }

    /// Bytes held, ahead and behind.
    var byteCount: Int { lanes.reduce(0) { $0 + $1.byteCount } }

    mutating func setRequiredTracks(_ tracks: Tracks) {
        requiredTracks = tracks.subtracting(.legible)
    }

    /// Takes in media. What overlaps media that is already there replaces nothing; its bytes count.
    mutating func insert(_ piece: Piece, in track: Track) {
        guard !piece.range.isEmpty else { return }
        lanes[track.rawValue].insert(piece, mergingBelow: Self.pieceDuration)
    }

    /// Nothing is to be waited for in a hole. One that is played over is none.
    mutating func insertHole(_ range: Range<Duration>?, in track: Track) {
        guard let range, range.upperBound - range.lowerBound > configuration.maxGapJump else { return }
        insert(Piece(range: range, byteCount: 0, isGap: true), in: track)
    }

    /// Notes that `track` has no media after what is loaded: what follows up to the effective end needs no waiting.
    mutating func markEnd(of track: Track, _ isAtEnd: Bool = true) {
        lanes[track.rawValue].isAtEnd = isAtEnd
    }

    /// Lets tracks that have had enough load again up to the target: somebody waits for a full buffer.
    mutating func endRest() {
        for index in lanes.indices { lanes[index].updateRest(isEnough: false, isWorthLoading: true) }
    }

    /// Drops what `track` (nil: every track) holds from `time` on.
    mutating func removeMedia(from time: Duration, in track: Track? = nil) {
        for index in lanes.indices where track == nil || track?.rawValue == index {
            lanes[index].remove(from: time)
        }
    }

    /// Drops what `track` holds before `time`.
    mutating func removeMedia(before time: Duration, in track: Track) {
        lanes[track.rawValue].remove(before: time)
    }

    /// Drops everything that `track` (nil: every track) holds.
    mutating func removeAll(in track: Track? = nil) {
        for index in lanes.indices where track == nil || track?.rawValue == index {
            lanes[index] = BufferedTrack()
        }
    }

    /// Drops what lies too far behind the playhead, whole pieces, the oldest first, and tells what it was.
    @discardableResult
    mutating func evict(_ situation: Situation) -> [(track: Track, range: Range<Duration>)] {
        var evicted: [(track: Track, range: Range<Duration>)] = []
        let reach = configuration.backDuration
        for track in Track.allCases {
            while let piece = lanes[track.rawValue].farthestBehind(situation), piece.distanceBehind(situation) > reach {
                lanes[track.rawValue].removeFarthestBehind(situation)
                evicted.append((track, piece.range))
            }
        }
        var limit = configuration.maxBackBufferBytes
        if let room = situation.bounds?.roomBehind(byteCountAhead(situation)) { limit = min(limit, room) }
        var excess = lanes.reduce(0) { $0 + $1.byteCountBehind(situation) } - limit
        while excess > 0 {
            let candidates = Track.allCases.compactMap { track in
                lanes[track.rawValue].farthestBehind(situation).map { (track: track, piece: $0) }
            }
            let farthest = candidates.max {
                $0.piece.distanceBehind(situation) < $1.piece.distanceBehind(situation)
            }
            guard let (track, piece) = farthest else { break }
            lanes[track.rawValue].removeFarthestBehind(situation)
            excess -= piece.byteCount
            evicted.append((track, piece.range))
        }
        return evicted
    }

    func byteCountAhead(_ situation: Situation) -> Int {
        lanes.reduce(0) { $0 + $1.byteCountAhead(situation) }
    }

    /// Playable media of one track ahead of the playhead. Gaps and holes that are played over count.
    func forwardDuration(of track: Track, _ situation: Situation) -> Duration {
        lanes[track.rawValue].forwardDuration(situation, maxGapJump: configuration.maxGapJump)
    }

    /// Where the first media of `track` begins that lies after `time`; nil where `time` lies inside some, or none follows.
    func start(ofMediaAfter time: Duration, in track: Track) -> Duration? {
        guard let next = lanes[track.rawValue].pieces.first(where: { $0.range.upperBound > time }) else { return nil }
        return next.range.lowerBound > time ? next.range.lowerBound : nil
    }

    /// Where the gaps end in which `time` lies, or which begin there, in every required track; else `time`.
    func timeAfterGaps(at time: Duration) -> Duration {
        let times = Track.allCases.filter { requiredTracks.contains($0) }.map { track in
            lanes[track.rawValue].pieces.reduce(time) { time, piece in
                let isHere = piece.range.lowerBound - time <= configuration.maxGapJump
                return piece.isGap && isHere ? max(time, piece.range.upperBound) : time
            }
        }
        return times.min() ?? time
    }

    /// Ranges in which every required track has media; holes that are played over do not split them.
    func loadedTimeRanges() -> [Range<Duration>] {
        var common: [Range<Duration>]?
        for track in Track.allCases where requiredTracks.contains(track) {
            let ranges = lanes[track.rawValue].loadedRanges(maxGapJump: configuration.maxGapJump)
            common = common.map { $0.flatMap { range in ranges.compactMap { $0.overlap(with: range) } } } ?? ranges
        }
        return common ?? []
    }

    /// Judges the buffer. Changes only which tracks are at rest because they have enough.
    mutating func evaluate(_ situation: Situation) -> Verdict {
        guard !requiredTracks.isEmpty else {
            return Verdict(
                forwardDuration: .zero, isEmpty: true, isFull: false, holdsAllRemaining: false, tracksToLoad: [])
        }
        let target = target(situation)
        let remaining = situation.remaining
        let bytesAhead = byteCountAhead(situation)
        let (bytesThen, overflow) = bytesAhead.addingReportingOverflow(situation.nextSegmentByteCount)
        let exceedsBytes = overflow || bytesThen > configuration.maxBufferBytes
        let needed = max(situation.startThreshold, situation.nextSegmentDuration)

        var verdict = Verdict(
            forwardDuration: Self.unlimited, isEmpty: false, isFull: true, holdsAllRemaining: remaining != nil,
            tracksToLoad: [])
        for track in Track.allCases {
            let isRequired = requiredTracks.contains(track)
            let ahead = forwardDuration(of: track, situation)
            let hasAll = remaining.map { ahead >= $0 } ?? false
            let needsMore = isRequired && ahead < needed
            let isEnough = isEnough(ahead, target: target, situation)
            var stopsForBytes = exceedsBytes && !needsMore
            var waits = false
            if let bounds = situation.bounds {
                let next = situation.nextSegmentDuration
                if bounds.isExceeded(by: ahead + next, bytesAhead), !needsMore { stopsForBytes = true }
                // What is on its way is as good as here, but for who waits for it.
                let then = ahead + (bounds.pendingDurations[track] ?? .zero)
                waits = bounds.isExceeded(by: then + next, bytesAhead, bounds.pendingByteCount)
                if isRequired, then < needed { waits = false }
                if let reserve = bounds.reserve, ahead >= reserve { waits = true }
            }
            lanes[track.rawValue].updateRest(
                isEnough: isEnough, isWorthLoading: isWorthLoading(ahead, target: target, situation))
            if !hasAll, !stopsForBytes, !waits, !lanes[track.rawValue].isResting {
                verdict.tracksToLoad.insert(Tracks(track))
            }
            guard isRequired else { continue }
            verdict.forwardDuration = min(verdict.forwardDuration, ahead)
            verdict.holdsAllRemaining = verdict.holdsAllRemaining && hasAll
            verdict.isFull = verdict.isFull && (hasAll || stopsForBytes || isEnough)
        }
        verdict.isEmpty = verdict.forwardDuration < configuration.stallEpsilon && !verdict.holdsAllRemaining
        // Live with a long target: all there is, if it is worth starting with.
        let ahead = verdict.forwardDuration
        if let available = situation.available, ahead >= available - configuration.maxGapJump {
            let isWorthStarting =
                situation.liveReserve.map { ahead >= $0 } ?? (ahead + ahead + ahead + ahead >= situation.startThreshold)
            if isWorthStarting { verdict.isFull = true }
        }
        return verdict
    }

    /// The most that is loaded ahead.
    func limit(_ situation: Situation) -> Duration { configuration.forwardDurationLimit ?? target(situation) }

    /// T.
    private func target(_ situation: Situation) -> Duration {
        guard let wish = situation.preferredForwardBufferDuration else { return configuration.forwardDuration }
        return max(wish, situation.targetDuration)
    }

    private func isEnough(_ ahead: Duration, target: Duration, _ situation: Situation) -> Bool {
        if let limit = configuration.forwardDurationLimit { return ahead + situation.nextSegmentDuration > limit }
        return ahead >= target
    }

    /// Below the target by a fifth of it and by a target duration, at the latest below half of it. Written without
    /// quotients: dividing durations is slow, and this is asked with every piece that arrives.
    private func isWorthLoading(_ ahead: Duration, target: Duration, _ situation: Situation) -> Bool {
        guard configuration.forwardDurationLimit == nil else { return true }
        let gap = target - ahead
        return ahead + ahead < target || (gap > situation.targetDuration && gap + gap + gap + gap + gap > target)
    }
}

extension ForwardBuffer.Situation {
    /// Media time from the playhead to the effective end, in the direction of playback.
    var remaining: Duration? {
        effectiveEnd.map { max(.zero, isReverse ? playhead - $0 : $0 - playhead) }
    }

    /// Media time that is listed ahead of the playhead; only for live in the direction of its edge.
    var available: Duration? {
        isReverse ? nil : lastAvailable.map { max(.zero, $0 - playhead) }
    }
}

extension Range<Duration> {
    fileprivate func overlap(with other: Self) -> Self? {
        let range = clamped(to: other)
        return range.isEmpty ? nil : range
    }
}
