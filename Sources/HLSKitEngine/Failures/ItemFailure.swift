import HLSKitLoading
import HLSKitSelection

extension ItemState {
    struct ItemFailure: Sendable {
        @Shared private(set) var error: HLSError? = nil
        /// The error with which the item fails after its loaded media, because loading cannot continue.
        @Shared private(set) var pending: HLSError? = nil
        /// The required lane that then ends.
        private(set) var lane: LaneID?

        enum Verdict: Sendable, Hashable {
            case fails
            /// Loaded media is played first.
            case playsOn
        }

        var isOver: Bool { error != nil || pending != nil }

        /// Returns the next step when loading cannot continue, or nil if that is already known.
        func verdict(canPlayOn: Bool) -> Verdict? {
            isOver ? nil : canPlayOn ? .playsOn : .fails
        }

        mutating func fail(_ error: HLSError) { self.error = error }
        mutating func playOn(until error: HLSError) { pending = error }
        mutating func end(with lane: LaneID?) { self.lane = lane }
        mutating func endPlaying() { pending = nil }
    }
}

extension ItemState {
    /// Returns whether loaded media can be played although loading cannot continue.
    ///
    /// Nothing can be played before the first media of `lane` or after its last.
    func canPlayOn(without lane: LaneID?, hasPlayed: Bool) -> Bool {
        let isMissing = lane.map { !hasPlayed && lanes[$0]?.isDemuxed != true } ?? false
        return hasPresentable && !isMissing
    }
}
