import HLSKitEngine
import HLSKitMedia

/// Which kinds of media an item has, for those who cannot begin before they know: what its lanes tell of, less what they
/// do not give.
struct TrackExpectation: Sendable {
    private var told: [LaneID: Set<MediaKind>] = [:]
    private var given: [LaneID: Set<MediaKind>] = [:]
    private var isSettled = false

    /// A segment of a lane names tracks of these kinds. Of no interest once it is settled.
    mutating func tell(_ types: some Sequence<MediaKind>, of lane: LaneID) {
        guard !isSettled, lane != .subtitles else { return }
        told[lane, default: []].formUnion(types)
    }

    /// Media of a kind has come.
    mutating func give(_ type: MediaKind, of lane: LaneID) { given[lane, default: []].insert(type) }

    /// A segment of a lane is over, or the lane is: kinds that were told of and of which nothing came are waited for no
    /// longer. If they come after all, it is told then.
    mutating func finish(_ lane: LaneID, isLaneOver: Bool) {
        guard let types = told[lane] else { return }
        let real = types.intersection(given[lane] ?? [])
        guard real != types, !real.isEmpty || isLaneOver else { return }
        told[lane] = real
        isSettled = false
    }

    /// What there is, each time that it is another; nil while a lane that is needed has told nothing and goes on.
    mutating func settle(needed: [LaneID], ended: Set<LaneID>) -> Set<MediaKind>? {
        guard !isSettled, !needed.isEmpty, needed.allSatisfy({ told[$0] != nil || ended.contains($0) }) else {
            return nil
        }
        isSettled = true
        return told.values.reduce(into: []) { $0.formUnion($1) }
    }
}
