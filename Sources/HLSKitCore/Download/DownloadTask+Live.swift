import HLSPlaylist

/// How a live stream is followed: its playlists are loaded again as a player would, until they end or nobody wants more.
extension DownloadTask {
    /// Loads a playlist again when it is time: not sooner than it may have changed, and, where the list is short, a little
    /// later each time until that is just after it has (docs/behaviour/live.md, R39).
    func addReload(
        of lane: Int, _ clock: HostClock, _ run: inout DownloadRun,
        _ group: inout ThrowingTaskGroup<Outcome, any Error>
    ) {
        let (entry, variables, tracker) = (run.lanes[lane].entry, run.variables, run.lanes[lane].tracker)
        let refusesDeltas = run.lanes[lane].refusesDeltas
        let account = run.reloads[lane] ?? client.retrier.makeAccount()
        run.reloads[lane] = account
        let terms = RetryTerms(kind: .reload, isLive: true, targetDuration: tracker.pacingTarget)
        let due = tracker.nextReload.map { $0 + tracker.reloadDelay } ?? clock.now
        group.addTask {
            try? await clock.sleep(until: due)
            let began = clock.now
            let delta = refusesDeltas ? nil : DeltaUpdate(after: tracker, at: began)
            var requestCount = 0
            do {
                let playlist = try await self.playlist(
                    of: entry, variables, terms, account, reloadOf: tracker, delta: delta
                ) { requestCount += 1 }
                let isOfNoUse = delta != nil && requestCount > 1
                return .playlist(lane: lane, began: began, .success(playlist), deltaFailed: isOfNoUse)
            } catch {
                return .playlist(lane: lane, began: began, .failure(error), deltaFailed: delta != nil)
            }
        }
    }

    func take(
        _ result: Swift.Result<MediaPlaylist, any Error>, of lane: Int, began: Duration, _ clock: HostClock,
        _ run: inout DownloadRun
    ) throws {
        let now = clock.now
        let account = run.reloads[lane]
        defer { account.map(client.retrier.close) }
        switch result {
        case .success(let playlist):
            run.failures[lane] = nil
            let update = run.lanes[lane].tracker.update(
                with: playlist, url: playlist.url, loadBegan: began, now: now)
            let isNew = update == .changed || update == .restarted
            client.retrier.notePlaylist(isNew: isNew)
            if isNew {
                run.live.noteNews(at: now)
                run.plan.forgetFailures()
                if !run.lanes[lane].tracker.isLive { try noteLanes(run) }
                try takeUp(clock, &run)
            }
        case .failure(let error):
            guard let error = error as? HLSError, error.domain != .output, !isExpired(error) else { throw error }
            run.lanes[lane].noteFailedReload(at: now)
            run.failures[lane] = error
            // Without the variant there is nothing to go on with; a rendition may come back.
            if lane == 0, account.map(client.retrier.isOver) ?? false { return finish(&run) }
        }
        let isFailing = run.reloads.contains { $0.key != lane && client.retrier.isFailing($0.value) }
        if run.isStale(at: now, isFailing: isFailing) { finish(&run) }
    }

    /// Follows the stream no longer, since nothing more comes of it. What is there is kept (R42).
    private func finish(_ run: inout DownloadRun) {
        run.result.failure =
            run.failures.min { $0.key < $1.key }.map { $0.value }
            ?? HLSError(
                code: .staleLive, urlString: run.lanes.first?.tracker.url, cause: "the live playlist stopped updating")
        run.isOver = true
    }
}

extension DownloadRun {
    /// Nothing new is listed anywhere, for as long as a player would wait.
    fileprivate func isStale(at now: Duration, isFailing: Bool) -> Bool {
        guard isLive, let tracker = followed.lazy.map({ lanes[$0].tracker }).first(where: \.isLive) else {
            return false
        }
        if case .stale = live.check(tracker, limit: tracker.staleLimit, isFailing: isFailing, at: now) { return true }
        return false
    }
}
