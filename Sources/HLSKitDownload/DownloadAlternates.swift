import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The other playlists from which a segment can be loaded if its chosen playlist does not provide it.
///
/// Redundant copies come first, then other variants or, for a rendition, other groups. As in playback, a playlist that
/// failed is avoided for a while. If a chosen playlist is not available but has a copy elsewhere, its segments are
/// first loaded from the copy.
struct DownloadAlternates: Sendable {
    struct Request: Sendable, Hashable {
        var target: DownloadPlan.ItemID
        var alternate: Int
    }

    private let alternates: [DownloadSelection.Alternate]
    /// The lane of each open alternate, by its index.
    var lanes: [Int: Int] = [:]
    private var box: PenaltyBox<Int>
    /// The lanes of the chosen playlists that are avoided.
    private var left: PenaltyBox<Int>
    private var passed: Set<DownloadPlan.ItemID> = []
    private var tried: [DownloadPlan.ItemID: Set<Int>] = [:]
    private var failures: [DownloadPlan.ItemID: HLSError] = [:]
    private var requests: [DownloadPlan.ItemID: Request] = [:]
    private var waiting: [Request] = []
    private var openCount = 0

    init(_ selection: DownloadSelection, policies: RetryPolicies) {
        alternates = selection.alternates
        box = PenaltyBox(duration: policies.penalty)
        left = PenaltyBox(duration: policies.penalty)
    }

    func entry(of alternate: Int) -> DownloadSelection.Entry { alternates[alternate].entry }

    var isBusy: Bool { !waiting.isEmpty || openCount > 0 }

    func alternateRequest(of id: DownloadPlan.ItemID) -> Request? { requests[id] }

    func hasMore(for target: DownloadPlan.ItemID) -> Bool { next(for: target, at: .zero) != nil }

    enum Next: Sendable, Hashable {
        case elsewhere
        /// The chosen playlist, which was skipped before.
        case chosen
        /// No source is left. The error is the first one.
        case nowhere(HLSError)
    }

    /// Chooses the next source for a segment.
    ///
    /// - Parameter isOver: Whether the retry policies allow no more attempts.
    mutating func look(
        for target: DownloadPlan.ItemID, after error: HLSError, isOver: Bool, at now: Duration
    ) -> Next {
        let first = failures[target] ?? error
        failures[target] = first
        guard !isOver else { return .nowhere(first) }
        let next = next(for: target, at: now)
        // The chosen playlist is better than one of another quality.
        if next.map({ !alternates[$0].isRedundant }) ?? true, passed.remove(target) != nil { return .chosen }
        guard let next else { return .nowhere(first) }
        alternateRequest(for: next, of: target)
        return .elsewhere
    }

    private mutating func alternateRequest(for alternate: Int, of target: DownloadPlan.ItemID) {
        tried[target, default: []].insert(alternate)
        waiting.append(Request(target: target, alternate: alternate))
    }

    // MARK: The same elsewhere

    func isRedundant(_ target: DownloadPlan.ItemID, at now: Duration) -> Bool { copy(of: target, at: now) != nil }

    private func copy(of target: DownloadPlan.ItemID, at now: Duration) -> Int? {
        let penalized = box.penalized(at: now)
        return alternates.indices.first {
            alternates[$0].target == target.lane && alternates[$0].isRedundant && !penalized.contains($0)
                && tried[target]?.contains($0) != true
        }
    }

    mutating func leave(_ lane: Int, at now: Duration) { left.add(lane, at: now) }

    mutating func passesOver(_ target: DownloadPlan.ItemID, at now: Duration) -> Bool {
        guard requests[target] == nil, tried[target] == nil, left.penalized(at: now).contains(target.lane),
            let copy = copy(of: target, at: now)
        else { return false }
        passed.insert(target)
        alternateRequest(for: copy, of: target)
        return true
    }

    /// The best alternate that was not tried. Those that failed recently come last.
    private func next(for target: DownloadPlan.ItemID, at now: Duration) -> Int? {
        let left = alternates.indices.filter {
            alternates[$0].target == target.lane && tried[target]?.contains($0) != true
        }
        let penalized = box.penalized(at: now)
        return left.first { !penalized.contains($0) } ?? left.first
    }

    mutating func penalize(_ alternate: Int, at now: Duration) { box.add(alternate, at: now) }

    mutating func takeWaiting() -> [Request] {
        defer { waiting = [] }
        openCount += waiting.count
        return waiting
    }

    mutating func finishOpening() { openCount -= 1 }

    mutating func note(_ id: DownloadPlan.ItemID, for alternateRequest: Request) { requests[id] = alternateRequest }

    /// The segment of a playlist for the same time as another segment, or `nil` if none has matching boundaries.
    static func index(in tracker: PlaylistTracker, from start: Duration, to end: Duration) -> Int? {
        let tolerance = max(.milliseconds(50), (end - start) / 8)
        guard let index = tracker.index(containing: (start + end) / 2),
            magnitude(tracker.starts[index] - start) <= tolerance,
            magnitude(tracker.starts[index + 1] - end) <= tolerance
        else { return nil }
        return index
    }

    private static func magnitude(_ duration: Duration) -> Duration { max(duration, .zero - duration) }
}
