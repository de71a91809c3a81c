import HLSKitEngine
import HLSKitMedia

/// Which kinds of media of each lane outputs take, and which they want too late: those have to be loaded again before they
/// are taken.
struct LateTaking: Sendable {
    private var taken: [LaneID: Set<MediaKind>] = [:]
    private var waiting: [LaneID: Set<MediaKind>] = [:]

    /// A lane begins: all that is wanted is there from its first segment on.
    mutating func begin(_ lane: LaneID, _ kinds: Set<MediaKind>) {
        taken[lane] = kinds
        waiting[lane] = nil
    }

    /// Outputs want these kinds of a lane by now. Gives those of which media was dropped, if it was.
    ///
    /// - Parameter isTooLate: media of the lane has gone by.
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

    /// What is to be handed on of a lane now, of all that is wanted.
    func wanted(_ all: Set<MediaKind>, of lane: LaneID) -> Set<MediaKind> {
        all.subtracting(waiting[lane, default: []])
    }

    /// Kinds that were waited for are taken from now on.
    mutating func take(_ kinds: Set<MediaKind>, of lane: LaneID) {
        let come = waiting[lane, default: []].intersection(kinds)
        waiting[lane]?.subtract(come)
        taken[lane, default: []].formUnion(come)
    }
}
