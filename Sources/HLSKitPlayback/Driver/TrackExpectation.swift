import HLSKitEngine
import HLSKitMedia

/// Determines the kinds of media of an item for users that need to know them before they start.
///
/// These are the kinds that its lanes announce, except for those without media.
struct TrackExpectation: Sendable {
    private var told: [LaneID: Set<MediaKind>] = [:]
    private var given: [LaneID: Set<MediaKind>] = [:]
    private var isSettled = false

    /// Called when a segment of a lane announces tracks of these kinds. It has no effect after the result is final.
    mutating func tell(_ types: some Sequence<MediaKind>, of lane: LaneID) {
        guard !isSettled, lane != .subtitles else { return }
        told[lane, default: []].formUnion(types)
    }

    mutating func give(_ type: MediaKind, of lane: LaneID) { given[lane, default: []].insert(type) }

    /// Called when a segment of a lane, or the lane, has ended. Removes announced kinds without media.
    ///
    /// If media of such a kind arrives later, the result changes.
    mutating func finish(_ lane: LaneID, isLaneOver: Bool) {
        guard let types = told[lane] else { return }
        let real = types.intersection(given[lane] ?? [])
        guard real != types, !real.isEmpty || isLaneOver else { return }
        told[lane] = real
        isSettled = false
    }

    /// Returns the kinds whenever they have changed, or `nil` while a needed lane has not announced its tracks.
    mutating func settle(needed: [LaneID], ended: Set<LaneID>) -> Set<MediaKind>? {
        guard !isSettled, !needed.isEmpty, needed.allSatisfy({ told[$0] != nil || ended.contains($0) }) else {
            return nil
        }
        isSettled = true
        return told.values.reduce(into: []) { $0.formUnion($1) }
    }
}
