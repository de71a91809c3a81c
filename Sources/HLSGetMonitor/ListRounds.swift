import HLSKitCore

/// Which playlist of a stream is looked at next, one at a time: a player asks for those alone that it plays, and the others may
/// be gone without anybody knowing.
///
/// A value: it is told what came. One that failed is looked at again at the next but one turn at the latest, and counts when it
/// has failed twice.
struct ListRounds: Sendable {
    /// From one look to the next.
    static let interval = Duration.seconds(10)
    private static let maximumCount = 256

    private struct Known: Sendable {
        var end: Int
        /// When it had something new for the last time.
        var advanced: Duration
    }

    private var urls: [String] = []
    private var next = 0
    private var suspects: [String: FailureName] = [:]
    private var known: [String: Known] = [:]
    private var wasSuspect = false

    /// Takes the playlists that a multivariant playlist names.
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

    /// The URL to be looked at now; nil where there is none.
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

    /// A playlist came, or did not.
    ///
    /// - Parameter staleFactor: so many target durations may it list nothing new.
    /// - Returns: why it counts as lost; nil where it does not.
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
        return FailureName(code: "staleLive", text: "nothing new for \(Int(age / .seconds(1))) s")
    }
}
