import HLSKitLoading
import HLSKitSelection

/// Whether an item has failed, or does when what was loaded is played.
struct ItemFailure: Sendable {
    /// It has failed.
    @Shared private(set) var error: HLSError? = nil
    /// Loading cannot go on; the item fails when what was loaded is played.
    @Shared private(set) var pending: HLSError? = nil
    /// The lane that cannot go on then, without which nothing is played.
    private(set) var lane: LaneID?

    /// What is still to be decided.
    enum Verdict: Sendable, Hashable {
        case fails
        /// What was loaded is played first.
        case playsOn
    }

    /// Nothing more is loaded.
    var isOver: Bool { error != nil || pending != nil }

    /// Loading cannot go on. nil where that is known already.
    ///
    /// - Parameter canPlayOn: there is something to play.
    func verdict(canPlayOn: Bool) -> Verdict? {
        isOver ? nil : canPlayOn ? .playsOn : .fails
    }

    mutating func fail(_ error: HLSError) { self.error = error }
    mutating func playOn(until error: HLSError) { pending = error }
    /// Without the media of this lane nothing is played.
    mutating func end(with lane: LaneID?) { self.lane = lane }
    /// What was loaded is played.
    mutating func endPlaying() { pending = nil }
}

extension ItemState {
    /// There is something to play though loading cannot go on. Without the media of `lane` nothing is played: neither
    /// before its first, nor after its last.
    func canPlayOn(without lane: LaneID?, hasPlayed: Bool) -> Bool {
        let isMissing = lane.map { !hasPlayed && lanes[$0]?.isDemuxed != true } ?? false
        return hasPresentable && !isMissing
    }
}
