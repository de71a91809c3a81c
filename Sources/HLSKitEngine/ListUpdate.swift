import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// A newer state of a lane's list.
struct ListUpdate: Sendable {
    let kind: PlaylistTracker.Update
    let tracker: PlaylistTracker
    /// Where the lane would go on by the list before.
    let resumeTime: Duration

    /// - Parameter start: where the list begins beside those of the other lanes; asked for where it has jumped past
    ///   everything that was known.
    init?(
        of lane: borrowing MediaLane, with playlist: MediaPlaylist, url: String, loadBegan: Duration, at now: Duration,
        beside start: @autoclosure () -> Duration?
    ) {
        guard var tracker = lane.tracker else { return nil }
        resumeTime = lane.resumeTime(in: tracker)
        kind = tracker.update(with: playlist, url: url, loadBegan: loadBegan, now: now)
        if kind == .changed, tracker.hasJumped, let start = start() { tracker.shift(by: start - tracker.start) }
        self.tracker = tracker
    }

    var isNews: Bool { kind == .changed || kind == .extended || kind == .restarted }
}
