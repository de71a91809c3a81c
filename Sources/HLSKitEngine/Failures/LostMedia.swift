import HLSKitLoading

/// The unavailable segments of one lane since its last media, and the time spent on them.
///
/// A single missing segment is skipped because the next one may be available. After several in a row, no more media is
/// expected.
struct LostMedia: Sendable {
    struct Run: Sendable, Hashable {
        var count = 0
        var start: Duration?
    }

    private struct Loss {
        var id: SegmentID
        var start: Duration
    }

    /// Sorted by segment.
    private var losses: [Loss] = []
    /// When the first request of each role that is being retried began.
    private var failing: [SegmentID: Duration] = [:]
    /// The time spent on losses. Parallel failures are counted once.
    private var time = Duration.zero
    private var accountedUntil = Duration.zero
    /// When the first request that has failed since the last media began.
    private var firstFailure: Duration?

    /// Notes that a request for the segment with this role failed. It began at `began`.
    mutating func failed(_ role: SegmentID, began: Duration) {
        if failing[role] == nil { failing[role] = began }
        if firstFailure == nil { firstFailure = began }
    }

    /// Returns the time without media while media was requested, up to `time`, if `role` keeps failing.
    func duration(with role: SegmentID, at time: Duration) -> Duration {
        guard let began = failing[role] else { return self.time }
        return self.time + max(.zero, time - max(began, accountedUntil))
    }

    /// Returns the time without media up to `time`, regardless of requests.
    ///
    /// In a live stream, something is always requested, and segments that leave the window are dropped without a
    /// result.
    func silence(at time: Duration) -> Duration { firstFailure.map { max(.zero, time - $0) } ?? .zero }

    /// Notes that a segment is abandoned. `role` is where its failures were counted.
    mutating func lose(_ id: SegmentID, role: SegmentID, start: Duration, at now: Duration) {
        time = duration(with: role, at: now)
        accountedUntil = max(accountedUntil, now)
        failing[role] = nil
        let index = losses.firstIndex { $0.id > id } ?? losses.endIndex
        losses.insert(Loss(id: id, start: start), at: index)
    }

    /// Notes that media of a segment arrived, so earlier losses no longer count.
    mutating func deliver(_ id: SegmentID, role: SegmentID, at now: Duration) {
        failing[role] = nil
        firstFailure = nil
        guard time > .zero || !losses.isEmpty || !failing.isEmpty else { return }
        time = .zero
        accountedUntil = max(accountedUntil, now)
        losses.removeAll { $0.id < id }
    }

    /// Returns the longest run.
    ///
    /// - Parameters:
    ///   - loaded: The segments with received bytes.
    ///   - underWay: The segments that may still receive bytes.
    func run(loaded: some Sequence<SegmentID>, underWay: some Sequence<SegmentID>) -> Run {
        let lastLoaded = loaded.max()
        let open = Array(underWay)
        var longest = Run()
        var run = Run()
        var before: SegmentID?
        for loss in losses {
            if let lastLoaded, loss.id < lastLoaded { continue }
            if let before, open.contains(where: { before < $0 && $0 < loss.id }) { run = Run() }
            run.count += 1
            run.start = run.start ?? loss.start
            before = loss.id
            if run.count > longest.count { longest = run }
        }
        return longest
    }
}

extension LostMedia {
    struct LossLimits: Sendable, Hashable {
        /// The maximum time to wait for media, or nil for no limit.
        private(set) var time: Duration?
        /// The maximum number of consecutive segments, or nil if only time is limited.
        private(set) var count: Int?
        private let isLive: Bool

        init(_ policies: RetryPolicies, isLive: Bool, targetDuration: Duration) {
            self.isLive = isLive
            // A live window moves by itself, so only time is limited.
            count = isLive ? nil : policies.lostSegmentLimit
            // A longer retry budget for one segment also extends the total time.
            let segments = policies[.segment]
            guard let time = policies.lostMediaTime, let budget = isLive ? segments.liveBudget : segments.budget else {
                return
            }
            self.time = max(time, budget, isLive ? targetDuration * 10 : .zero)
        }

        /// Returns whether media will have been missing for too long at `time` if `role` keeps failing.
        func isTooLong(_ lost: LostMedia, with role: SegmentID, at time: Duration) -> Bool {
            guard let limit = self.time else { return false }
            return (isLive ? lost.silence(at: time) : lost.duration(with: role, at: time)) > limit
        }

        func isTooMuch(_ run: LostMedia.Run) -> Bool { count.map { run.count >= $0 } ?? false }
    }
}

// MARK: - Reports

extension ItemState {
    /// Reported ranges of missing media. Each is reported once even if several tracks miss it.
    struct KnownGaps: Sendable {
        /// Shorter ranges are differences between listed and actual durations of segments.
        static let shortest = Duration.milliseconds(100)
        private static let mostKept = 32

        private var reported: [Range<Duration>] = []

        func isNews(_ gap: Range<Duration>) -> Bool {
            gap.upperBound - gap.lowerBound >= Self.shortest && !reported.contains { $0.overlaps(gap) }
        }

        /// Adds a range and drops the oldest one beyond the limit.
        mutating func note(_ gap: Range<Duration>) {
            reported.append(gap)
            if reported.count > Self.mostKept { reported.removeFirst() }
        }
    }
}
