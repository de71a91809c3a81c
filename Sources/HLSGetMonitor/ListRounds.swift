import HLSGetKit
import HLSKitCore

/// Selects the next playlist of a stream to check, one at a time.
///
/// A player requests only the playlists it plays, so the others may disappear unnoticed. A failed playlist is checked
/// again within two turns and is lost after two failures.
struct ListRounds: Sendable {
    static let interval = Duration.seconds(10)
    private static let maximumCount = 256

    private struct Known: Sendable {
        var end: Int
        /// When the playlist last listed something new.
        var advanced: Duration
    }

    private var urls: [String] = []
    private var next = 0
    private var suspects: [String: FailureName] = [:]
    private var known: [String: Known] = [:]
    private var wasSuspect = false

    mutating func take(_ playlist: MultivariantPlaylist) {
        var new: [String] = []
        for uri in playlist.variants.map(\.uri) + playlist.renditions.compactMap(\.uri) {
            guard let url = playlist.resolve(uri), !new.contains(url), new.count < Self.maximumCount else { continue }
            new.append(url)
        }
        guard new != urls else { return }
        self = ListRounds()
        urls = new
    }

    /// Returns the URL to check now, or `nil` if there is none.
    mutating func turn() -> String? {
        guard urls.count > 1 else { return nil }
        if !wasSuspect, let suspect = urls.first(where: { suspects[$0] != nil }) {
            wasSuspect = true
            return suspect
        }
        wasSuspect = false
        defer { next = (next + 1) % urls.count }
        return urls[next]
    }

    /// Notes the result of a check.
    ///
    /// - Parameter staleFactor: The number of target durations without news after which a playlist is stale.
    /// - Returns: Why the playlist is lost, or `nil` if it is not.
    mutating func note(
        _ url: String, _ result: Result<Playlist, HLSError>, staleFactor: Double, at now: Duration
    ) -> FailureName? {
        let failure: FailureName?
        switch result {
        case .failure(let error): failure = FailureName(error)
        case .success(.multivariant): failure = FailureName(code: "badPlaylist", text: "a multivariant playlist")
        case .success(.media(let playlist)): failure = silence(of: playlist, url, staleFactor, now)
        }
        guard var failure else {
            suspects[url] = nil
            return nil
        }
        failure.text = "\(url.split(separator: "/").last?.prefix { $0 != "?" } ?? ""): \(failure.text)"
        defer { suspects[url] = failure }
        return suspects[url] == nil ? nil : failure
    }

    private mutating func silence(
        of playlist: MediaPlaylist, _ url: String, _ staleFactor: Double, _ now: Duration
    ) -> FailureName? {
        guard !playlist.isComplete else { return nil }
        let (end, overflow) = playlist.mediaSequence.addingReportingOverflow(playlist.segments.count)
        guard !overflow, let before = known[url], before.end == end else {
            known[url] = Known(end: end, advanced: now)
            return nil
        }
        let age = now - before.advanced
        guard age > max(.seconds(30), playlist.targetDuration * staleFactor) else { return nil }
        return FailureName(code: "staleLive", text: "nothing new for \(Decimals.roughLength(age / .seconds(1)))")
    }
}
