import HLSKitLoading

/// Tracks the loaded media of an item and decides whether the buffer is empty or full and what to load.
///
/// Holds ranges and sizes, not media. Times are item times.
struct ForwardBuffer: Sendable {
    enum Track: Int, Sendable, Hashable, CaseIterable {
        case video, audio
        /// Never required, because missing subtitles do not stop playback.
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

    struct Piece: Sendable, Hashable {
        var range: Range<Duration>
        var byteCount: Int
        /// Whether this is an `EXT-X-GAP` segment or an abandoned one, without media to wait for.
        var isGap = false
    }

    struct Situation: Sendable, Hashable {
        var playhead: Duration
        var isReverse = false
        /// The end of playback in its direction, or nil while it is unknown, as in live streams.
        var effectiveEnd: Duration?
        /// In live streams, the end of the last listed segment or part.
        var lastAvailable: Duration?
        var preferredForwardBufferDuration: Duration?
        var targetDuration: Duration = .seconds(6)
        /// θ, the amount of media that is enough to start with.
        var startThreshold: Duration = .seconds(2)
        /// In live streams, the minimum amount of listed media to start with. nil stands for a quarter of θ.
        var liveReserve: Duration?
        var nextSegmentDuration: Duration = .zero
        var nextSegmentByteCount = 0
        /// The resources that other players leave, or nil for no limits.
        var bounds: Bounds?
    }

    struct Verdict: Sendable, Hashable {
        /// D, the playable media ahead in the required track that has the least.
        var forwardDuration: Duration
        var isEmpty: Bool
        var isFull: Bool
        var holdsAllRemaining: Bool
        var tracksToLoad: Tracks
    }

    /// Pieces shorter than this are merged with the next ones, to keep their number low.
    private static let pieceDuration = Duration.seconds(2)
    private static let unlimited = Duration.seconds(Int64.max)

    var configuration: BufferingConfiguration
    /// The selected tracks, except subtitles.
    private(set) var requiredTracks: Tracks = []
    private var lanes = [BufferedTrack](repeating: BufferedTrack(), count: Track.allCases.count)

    init(configuration: BufferingConfiguration = .init()) {
        self.configuration = configuration
    }

    var byteCount: Int { lanes.reduce(0) { $0 + $1.byteCount } }

    mutating func setRequiredTracks(_ tracks: Tracks) {
        requiredTracks = tracks.subtracting(.legible)
    }

    /// Adds media. Media that overlaps existing media replaces nothing, but its bytes are counted.
    mutating func insert(_ piece: Piece, in track: Track) {
        guard !piece.range.isEmpty else { return }
        lanes[track.rawValue].insert(piece, mergingBelow: Self.pieceDuration)
    }

    /// Marks missing media, for which playback does not wait. Ranges short enough to jump are ignored.
    mutating func insertMissingMedia(_ range: Range<Duration>?, in track: Track) {
        guard let range, range.upperBound - range.lowerBound > configuration.maxGapJump else { return }
        insert(Piece(range: range, byteCount: 0, isGap: true), in: track)
    }

    /// Marks that `track` ends after its loaded media, so the time up to the effective end needs none.
    mutating func markEnd(of track: Track, _ isAtEnd: Bool = true) {
        lanes[track.rawValue].isAtEnd = isAtEnd
    }

    /// Lets tracks with enough media load up to the target again because a caller waits for a full buffer.
    mutating func endIdle() {
        for index in lanes.indices { lanes[index].updateIdle(isEnough: false, isWorthLoading: true) }
    }

    mutating func removeMedia(from time: Duration, in track: Track? = nil) {
        for index in lanes.indices where track == nil || track?.rawValue == index {
            lanes[index].remove(from: time)
        }
    }

    mutating func removeMedia(before time: Duration, in track: Track) {
        lanes[track.rawValue].remove(before: time)
    }

    mutating func removeAll(in track: Track? = nil) {
        for index in lanes.indices where track == nil || track?.rawValue == index {
            lanes[index] = BufferedTrack()
        }
    }

    /// Drops whole pieces too far behind the playhead, oldest first, and returns them.
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
        if let room = situation.bounds?.backBufferRoom(byteCountAhead(situation)) { limit = min(limit, room) }
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

    /// Returns the playable duration of a track ahead of the playhead, including gaps and short jumps.
    func forwardDuration(of track: Track, _ situation: Situation) -> Duration {
        lanes[track.rawValue].forwardDuration(situation, maxGapJump: configuration.maxGapJump)
    }

    /// Returns the start of the next media of `track`, or nil if `time` is inside media or none follows.
    func start(ofMediaAfter time: Duration, in track: Track) -> Duration? {
        guard let next = lanes[track.rawValue].pieces.first(where: { $0.range.upperBound > time }) else { return nil }
        return next.range.lowerBound > time ? next.range.lowerBound : nil
    }

    /// Returns the end of the gaps at `time` in every required track, or `time` if there are none.
    func timeAfterGaps(at time: Duration) -> Duration {
        let times = Track.allCases.filter { requiredTracks.contains($0) }.map { track in
            lanes[track.rawValue].pieces.reduce(time) { time, piece in
                let isHere = piece.range.lowerBound - time <= configuration.maxGapJump
                return piece.isGap && isHere ? max(time, piece.range.upperBound) : time
            }
        }
        return times.min() ?? time
    }

    /// Returns the ranges in which every required track has media. Jumps up to the limit do not split them.
    func loadedTimeRanges() -> [Range<Duration>] {
        var common: [Range<Duration>]?
        for track in Track.allCases where requiredTracks.contains(track) {
            let ranges = lanes[track.rawValue].loadedRanges(maxGapJump: configuration.maxGapJump)
            common = common.map { $0.flatMap { range in ranges.compactMap { $0.overlap(with: range) } } } ?? ranges
        }
        return common ?? []
    }

    /// Judges the buffer. The only state that changes is which tracks have stopped loading.
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
                // Media in flight counts as loaded, except for decisions that wait for it.
                let then = ahead + (bounds.pendingDurations[track] ?? .zero)
                waits = bounds.isExceeded(by: then + next, bytesAhead, bounds.pendingByteCount)
                if isRequired, then < needed { waits = false }
                if let reserve = bounds.reserve, ahead >= reserve { waits = true }
            }
            lanes[track.rawValue].updateIdle(
                isEnough: isEnough, isWorthLoading: isWorthLoading(ahead, target: target, situation))
            if !hasAll, !stopsForBytes, !waits, !lanes[track.rawValue].isIdle {
                verdict.tracksToLoad.insert(Tracks(track))
            }
            guard isRequired else { continue }
            verdict.forwardDuration = min(verdict.forwardDuration, ahead)
            verdict.holdsAllRemaining = verdict.holdsAllRemaining && hasAll
            verdict.isFull = verdict.isFull && (hasAll || stopsForBytes || isEnough)
        }
        verdict.isEmpty = verdict.forwardDuration < configuration.stallEpsilon && !verdict.holdsAllRemaining
        // In live streams with a long target, all listed media is enough if playback can start with it.
        let ahead = verdict.forwardDuration
        if let available = situation.available, ahead >= available - configuration.maxGapJump {
            let isWorthStarting =
                situation.liveReserve.map { ahead >= $0 } ?? (ahead + ahead + ahead + ahead >= situation.startThreshold)
            if isWorthStarting { verdict.isFull = true }
        }
        return verdict
    }

    func limit(_ situation: Situation) -> Duration { configuration.forwardDurationLimit ?? target(situation) }

    private func target(_ situation: Situation) -> Duration {
        guard let preference = situation.preferredForwardBufferDuration else { return configuration.forwardDuration }
        return max(preference, situation.targetDuration)
    }

    private func isEnough(_ ahead: Duration, target: Duration, _ situation: Situation) -> Bool {
        if let limit = configuration.forwardDurationLimit { return ahead + situation.nextSegmentDuration > limit }
        return ahead >= target
    }

    /// Returns whether the buffer is far enough below its target to load again.
    ///
    /// That is a fifth of the target and more than a target duration, or half of the target. The calculation avoids
    /// division, which is slow for durations, because it runs for every arriving piece.
    private func isWorthLoading(_ ahead: Duration, target: Duration, _ situation: Situation) -> Bool {
        guard configuration.forwardDurationLimit == nil else { return true }
        let gap = target - ahead
        return ahead + ahead < target || (gap > situation.targetDuration && gap + gap + gap + gap + gap > target)
    }
}

extension ForwardBuffer.Situation {
    var remaining: Duration? {
        effectiveEnd.map { max(.zero, isReverse ? playhead - $0 : $0 - playhead) }
    }

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

// MARK: - Bounds

extension ForwardBuffer {
    struct Bounds: Sendable, Hashable {
        var byteCount: Int?
        var duration: Duration?
        var pendingByteCount = 0
        var nextByteCount = 0
        var pendingDurations: [Track: Duration] = [:]
        /// The amount of media ahead above which other players have priority, or nil if they have none.
        var reserve: Duration?
    }
}

extension ForwardBuffer.Bounds {
    /// Returns whether the next segment would exceed the limits.
    ///
    /// - Parameters:
    ///   - ahead: The duration of media ahead, including the segment.
    ///   - byteCounts: The bytes without the segment.
    func isExceeded(by ahead: Duration, _ byteCounts: Int...) -> Bool {
        if let duration, ahead > duration { return true }
        return byteCount.map { room in byteCounts.reduce(nextByteCount, +) > room } ?? false
    }

    func backBufferRoom(_ bytesAhead: Int) -> Int? {
        byteCount.map { max(0, $0 - bytesAhead - pendingByteCount - nextByteCount) }
    }
}

// MARK: - Reserve of live streams

extension ForwardBuffer {
    /// The amount of media required ahead before a live stream resumes after a stall.
    ///
    /// Near the edge, only the next listed segment can be loaded, and it takes as long to appear as it lasts. Playback
    /// that resumes with one segment would stall again after each segment.
    struct LiveBufferTarget: Sendable, Hashable {
        /// The maximum duration of the next listed piece: the longest segment or the part target duration.
        var piece: Duration
        /// The distance from the edge at which to play.
        var offset: Duration
        var window: Duration

        /// Returns the media required ahead at rate 1.
        ///
        /// - Parameters:
        ///   - threshold: The amount of media that is enough if only loading takes time.
        ///   - available: The media listed ahead of the playhead.
        ///   - loadTime: The time to load the next piece, or nil if unknown.
        func need(threshold: Duration, available: Duration, loadTime: Duration?) -> Duration {
            let usual = min(threshold, max(offset - piece, piece * 2))
            // The next piece is already listed.
            guard available < usual + piece else { return usual }
            let load = min(loadTime ?? piece / 4, piece)
            // Waiting for more media than the window lists would fall behind the window.
            return min(max(usual, piece + load), max(piece, window - piece))
        }
    }
}
