import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import Synchronization

/// The live playlists that provide images. All share the timeline of the first one. Each is reloaded when it is used
/// and may have changed.
final class LiveFramePlaylists: Sendable {
    private let trackers = Mutex<(all: [String: PlaylistTracker], first: String?)>(([:], nil))
    private let loads: SharedLoads<String, MediaPlaylist>
    private let clock: HostClock

    init(clock: any Clock<Duration>, executor: (any TaskExecutor)?) {
        self.clock = HostClock(clock)
        loads = SharedLoads(executor: executor)
    }

    /// Returns the current state of a playlist. If `load` fails, the known state remains.
    func tracker(
        at url: String, _ list: MediaPlaylist, wasKnown: Bool,
        load: @escaping @Sendable () async throws -> MediaPlaylist
    ) async throws -> PlaylistTracker {
        let now = clock.now
        let (known, isNew) = begin(url, list, at: now)
        guard isNew ? wasKnown && known.isLive : known.nextReload.map({ now >= $0 }) ?? false else { return known }
        do {
            let new = try await loads.value(for: url, load)
            loads.forget(url)
            return take(new, at: url, began: now) ?? known
        } catch is HLSError {
            loads.forget(url)
            return known
        }
    }

    private func begin(_ url: String, _ list: MediaPlaylist, at now: Duration) -> (PlaylistTracker, isNew: Bool) {
        trackers.withLock { trackers in
            if let known = trackers.all[url] { return (known, false) }
            let first = trackers.first.flatMap { trackers.all[$0] }
            let tracker = PlaylistTracker(
                list, requestURL: url, url: list.url, start: first?.start(of: list, at: now) ?? .zero, loadBegan: now,
                now: now)
            trackers.all[url] = tracker
            if first == nil { trackers.first = url }
            return (tracker, true)
        }
    }

    private func take(_ list: MediaPlaylist, at url: String, began: Duration) -> PlaylistTracker? {
        let now = clock.now
        return trackers.withLock { trackers in
            guard let old = trackers.all[url] else { return nil }
            var new = old
            let update = new.update(with: list, url: list.url, loadBegan: began, now: now)
            // No reload waited for the missed segments, so they keep their time on the timeline.
            if update == .changed, new.hasJumped,
                let start = old.start(ofNeighbor: list, at: now) ?? old.start(ofSuccessor: list, at: now)
            {
                new.shift(by: start - new.start)
            }
            trackers.all[url] = new
            return new
        }
    }
}
