import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

struct ListUpdate: Sendable {
    let kind: PlaylistTracker.Update
    let tracker: PlaylistTracker
    /// The time at which the lane would continue with the previous playlist.
    let resumeTime: Duration

    /// - Parameter start: The start of the playlist relative to other lanes, used if it jumped past known media.
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
