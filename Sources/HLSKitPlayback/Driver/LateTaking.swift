import HLSKitEngine
import HLSKitMedia

/// Tracks the kinds of media that outputs take from each lane, and those that they want too late.
///
/// The latter must be loaded again before they are taken.
struct LateTaking: Sendable {
    private var taken: [LaneID: Set<MediaKind>] = [:]
    private var waiting: [LaneID: Set<MediaKind>] = [:]

    /// Called when a lane opens. All wanted kinds are available from its first segment on.
    mutating func begin(_ lane: LaneID, _ kinds: Set<MediaKind>) {
        taken[lane] = kinds
        waiting[lane] = nil
    }

    /// Updates the kinds that outputs want from a lane. Returns new kinds whose media was dropped.
    ///
    /// - Parameter isTooLate: Whether media of the lane has already been handed on.
    mutating func follow(
        _ kinds: Set<MediaKind>, of lane: LaneID, isTooLate: Bool
    ) -> (kinds: Set<MediaKind>, isBesideOthers: Bool) {
        let old = taken[lane, default: []].intersection(kinds)
        let known = waiting[lane, default: []].intersection(kinds)
        let new = kinds.subtracting(old).subtracting(known)
        taken[lane] = isTooLate ? old : old.union(new)
        waiting[lane] = isTooLate ? known.union(new) : known
        return (isTooLate ? new : [], !old.isEmpty)
    }

    /// Returns the kinds to hand on from a lane, among all wanted kinds.
    func wanted(_ all: Set<MediaKind>, of lane: LaneID) -> Set<MediaKind> {
        all.subtracting(waiting[lane, default: []])
    }

    /// Called when late kinds become available.
    mutating func take(_ kinds: Set<MediaKind>, of lane: LaneID) {
        let come = waiting[lane, default: []].intersection(kinds)
        waiting[lane]?.subtract(come)
        taken[lane, default: []].formUnion(come)
    }
}
