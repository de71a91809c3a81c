import HLSKitLoading

/// Segments of one lane that could not be had, and the time that was spent on them, since its media came last.
///
/// One that is missing is passed over, as the next may well be there. Several in a row say that nothing comes any more.
struct LostMedia: Sendable {
    /// Those of the end of the lane, without any media behind or between them.
    struct Run: Sendable, Hashable {
        var count = 0
        /// The item time at which the first begins.
        var start: Duration?
    }

    private struct Loss {
        var id: SegmentID
        var start: Duration
    }

    /// In their order.
    private var losses: [Loss] = []
    /// When the first request of each began that has failed and is made again.
    private var failing: [SegmentID: Duration] = [:]
    /// What the losses took, time counted once where several failed side by side.
    private var time = Duration.zero
    private var accountedUntil = Duration.zero
    /// When the first request began that has failed since media came last.
    private var firstFailure: Duration?

    /// A request for the segment that counts as `role` failed. It began at `began`.
    mutating func failed(_ role: SegmentID, began: Duration) {
        if failing[role] == nil { failing[role] = began }
        if firstFailure == nil { firstFailure = began }
    }

    /// How long there will have been no media at `time` in which media was asked for, if `role` has failed until then.
    func duration(with role: SegmentID, at time: Duration) -> Duration {
        guard let began = failing[role] else { return self.time }
        return self.time + max(.zero, time - max(began, accountedUntil))
    }

    /// How long there will have been no media at `time`, whatever was asked for meanwhile: in a live stream something is
    /// always asked for, and what is not there any more is let go without an end.
    func silence(at time: Duration) -> Duration { firstFailure.map { max(.zero, time - $0) } ?? .zero }

    /// A segment is given up. What is in `role` has counted for it.
    mutating func lose(_ id: SegmentID, role: SegmentID, start: Duration, at now: Duration) {
        time = duration(with: role, at: now)
        accountedUntil = max(accountedUntil, now)
        failing[role] = nil
        let index = losses.firstIndex { $0.id > id } ?? losses.endIndex
        losses.insert(Loss(id: id, start: start), at: index)
    }

    /// Media of a segment came: what was lost before it is a hole.
    mutating func deliver(_ id: SegmentID, role: SegmentID, at now: Duration) {
        failing[role] = nil
        firstFailure = nil
        guard time > .zero || !losses.isEmpty || !failing.isEmpty else { return }
        time = .zero
        accountedUntil = max(accountedUntil, now)
        losses.removeAll { $0.id < id }
    }

    /// The longest run. `loaded` segments have brought bytes, those `underWay` may still.
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

/// How much of a lane may be missing before nothing is hoped for any more.
struct LossLimits: Sendable, Hashable {
    /// How long media is waited for; nil is for ever.
    private(set) var time: Duration?
    /// Segments in a row; nil where only time counts.
    private(set) var count: Int?
    private let isLive: Bool

    init(_ policies: RetryPolicies, isLive: Bool, targetDuration: Duration) {
        self.isLive = isLive
        // A live window moves on by itself: there only time counts.
        count = isLive ? nil : policies.lostSegmentLimit
        // Who wants one segment tried for longer wants to wait for longer.
        let segments = policies[.segment]
        guard let time = policies.lostMediaTime, let budget = isLive ? segments.liveBudget : segments.budget else {
            return
        }
        self.time = max(time, budget, isLive ? targetDuration * 10 : .zero)
    }

    /// Whether no media will have come for too long at `time`, if the segment that counts as `role` has not until then.
    func isTooLong(_ lost: LostMedia, with role: SegmentID, at time: Duration) -> Bool {
        guard let limit = self.time else { return false }
        return (isLive ? lost.silence(at: time) : lost.duration(with: role, at: time)) > limit
    }

    func isTooMuch(_ run: LostMedia.Run) -> Bool { count.map { run.count >= $0 } ?? false }
}
