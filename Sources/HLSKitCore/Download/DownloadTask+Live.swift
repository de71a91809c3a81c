import HLSPlaylist

/// How a live stream is followed: its playlists are loaded again as a player would, until they end or nobody wants more.
extension DownloadTask {
    /// Loads a playlist again when it is time: not sooner than it may have changed, and, where the list is short, a little
    /// later each time until that is just after it has (docs/behaviour/live.md, R39).
    func addReload(
        of lane: Int, _ clock: HostClock, _ run: DownloadRun, _ group: inout ThrowingTaskGroup<Outcome, any Error>
    ) {
        let (entry, variables, tracker) = (run.lanes[lane].entry, run.variables, run.lanes[lane].tracker)
        let due = tracker.nextReload.map { $0 + tracker.reloadDelay } ?? clock.now
        group.addTask {
            try? await clock.sleep(until: due)
            let began = clock.now
            do {
                let playlist = try await self.playlist(of: entry, variables, reloadOf: tracker)
                return .playlist(lane: lane, began: began, .success(playlist))
            } catch {
                return .playlist(lane: lane, began: began, .failure(error))
            }
        }
    }

    func take(
        _ result: Swift.Result<MediaPlaylist, any Error>, of lane: Int, began: Duration, _ clock: HostClock,
        _ run: inout DownloadRun
    ) throws {
        let now = clock.now
        switch result {
        case .success(let playlist):
            run.failures[lane] = nil
            let update = run.lanes[lane].tracker.update(
                with: playlist, url: playlist.url, loadBegan: began, now: now)
            if update == .changed || update == .restarted {
                run.lastNews = now
                run.plan.forgetFailures()
                if !run.lanes[lane].tracker.isLive { try noteLanes(run) }
                try takeUp(clock, &run)
            }
        case .failure(let error):
            guard let error = error as? AssetError, !isExpired(error) else { throw error }
            run.lanes[lane].noteFailedReload(at: began)
            run.failures[lane] = error
        }
        guard let tracker = run.lanes.first?.tracker, run.isLive, now - run.lastNews > run.silenceLimit else { return }
        // What is there is kept (R42).
        run.result.failure =
            run.failures.min { $0.key < $1.key }.map { PlayerError($0.value) }
            ?? PlayerError(code: .staleLive, url: tracker.url, cause: "the live playlist stopped updating")
        run.isOver = true
    }
}

extension DownloadRun {
    /// How long nothing new may come: longer where that is the server's fault, which may pass (R39, R41).
    fileprivate var silenceLimit: Duration {
        guard let tracker = lanes.first?.tracker else { return .zero }
        return failures.isEmpty ? tracker.staleLimit : max(.seconds(60), tracker.pacingTarget * 10)
    }
}

extension RetryTerms {
    /// The window of a live playlist moves on meanwhile: what fails is asked for again no less often than what lists nothing
    /// new.
    static func reload(of tracker: PlaylistTracker) -> Self {
        RetryTerms(kind: .reload, isLive: true, targetDuration: tracker.pacingTarget)
    }
}
