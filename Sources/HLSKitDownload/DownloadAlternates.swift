import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Where a segment is looked for that a chosen playlist does not give: in its redundant copies, then in other variants, of
/// a rendition in other groups.
///
/// As in playback, a playlist that failed is left out for a while. A chosen one that is not served, and is the same
/// elsewhere, is left, too: its segments are then looked for there first.
///
/// See R2 and R9 in docs/behaviour/faults.md, and docs/behaviour/pathways.md.
struct DownloadAlternates: Sendable {
    /// A segment that is wanted of another playlist.
    struct Wish: Sendable, Hashable {
        /// The segment of the chosen playlist.
        var target: DownloadPlan.ItemID
        /// The place of the other playlist among the alternates.
        var alternate: Int
    }

    private let alternates: [DownloadSelection.Alternate]
    /// The lane of each alternate that was opened, by its place.
    var lanes: [Int: Int] = [:]
    private var box: PenaltyBox<Int>
    /// Chosen playlists that were left, by their lanes.
    private var left: PenaltyBox<Int>
    /// Segments that were not asked for where they were chosen.
    private var passed: Set<DownloadPlan.ItemID> = []
    private var tried: [DownloadPlan.ItemID: Set<Int>] = [:]
    /// Of each segment the first error.
    private var failures: [DownloadPlan.ItemID: HLSError] = [:]
    /// By the segments that are loaded instead.
    private var wishes: [DownloadPlan.ItemID: Wish] = [:]
    private var waiting: [Wish] = []
    /// Playlists that are on their way.
    private var openCount = 0

    init(_ selection: DownloadSelection, policies: RetryPolicies) {
        alternates = selection.alternates
        box = PenaltyBox(duration: policies.penalty)
        left = PenaltyBox(duration: policies.penalty)
    }

    func entry(of alternate: Int) -> DownloadSelection.Entry { alternates[alternate].entry }

    /// Something is under way that the plan does not know of.
    var isBusy: Bool { !waiting.isEmpty || openCount > 0 }

    /// The segment that another one is loaded for.
    func wish(of id: DownloadPlan.ItemID) -> Wish? { wishes[id] }

    /// A segment may be had elsewhere.
    func hasMore(for target: DownloadPlan.ItemID) -> Bool { next(for: target, at: .zero) != nil }

    /// Where a segment is looked for next.
    enum Next: Sendable, Hashable {
        case elsewhere
        /// Where it was chosen, which was passed over.
        case chosen
        /// Nowhere: the error that counts, which is the first.
        case nowhere(HLSError)
    }

    /// Looks for a segment elsewhere, where it may still be.
    ///
    /// - Parameter isOver: it has been tried for as long as the policies say.
    mutating func look(
        for target: DownloadPlan.ItemID, after error: HLSError, isOver: Bool, at now: Duration
    ) -> Next {
        let first = failures[target] ?? error
        failures[target] = first
        guard !isOver else { return .nowhere(first) }
        let next = next(for: target, at: now)
        // What was chosen is better than what is less.
        if next.map({ !alternates[$0].isRedundant }) ?? true, passed.remove(target) != nil { return .chosen }
        guard let next else { return .nowhere(first) }
        wish(for: next, of: target)
        return .elsewhere
    }

    private mutating func wish(for alternate: Int, of target: DownloadPlan.ItemID) {
        tried[target, default: []].insert(alternate)
        waiting.append(Wish(target: target, alternate: alternate))
    }

    // MARK: The same elsewhere

    /// The same segment is in another place, which did not fail of late.
    func isRedundant(_ target: DownloadPlan.ItemID, at now: Duration) -> Bool { copy(of: target, at: now) != nil }

    private func copy(of target: DownloadPlan.ItemID, at now: Duration) -> Int? {
        let penalized = box.penalized(at: now)
        return alternates.indices.first {
            alternates[$0].target == target.lane && alternates[$0].isRedundant && !penalized.contains($0)
                && tried[target]?.contains($0) != true
        }
    }

    /// A chosen playlist, of this lane, is not served.
    mutating func leave(_ lane: Int, at now: Duration) { left.add(lane, at: now) }

    /// Whether a segment is looked for elsewhere first, since the chosen playlist was left.
    mutating func passesOver(_ target: DownloadPlan.ItemID, at now: Duration) -> Bool {
        guard wishes[target] == nil, tried[target] == nil, left.penalized(at: now).contains(target.lane),
            let copy = copy(of: target, at: now)
        else { return false }
        passed.insert(target)
        wish(for: copy, of: target)
        return true
    }

    /// The best that was not tried; what failed of late comes last.
    private func next(for target: DownloadPlan.ItemID, at now: Duration) -> Int? {
        let left = alternates.indices.filter {
            alternates[$0].target == target.lane && tried[target]?.contains($0) != true
        }
        let penalized = box.penalized(at: now)
        return left.first { !penalized.contains($0) } ?? left.first
    }

    /// It did not give what it was asked for.
    mutating func penalize(_ alternate: Int, at now: Duration) { box.add(alternate, at: now) }

    /// What is to be looked for now.
    mutating func takeWaiting() -> [Wish] {
        defer { waiting = [] }
        openCount += waiting.count
        return waiting
    }

    /// The playlist of a wish is there, or is not.
    mutating func finishOpening() { openCount -= 1 }

    mutating func note(_ id: DownloadPlan.ItemID, for wish: Wish) { wishes[id] = wish }

    /// The segment of a playlist that is presented when another one should be; nil where none is cut as that is.
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
