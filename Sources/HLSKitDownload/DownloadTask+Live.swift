import HLSKitAsset
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension DownloadTask {
    /// Adds a task that reloads a playlist when it is due, but not before it may have changed.
    ///
    /// For a short playlist, the time of each reload moves a little later until it is just after the change (R39). A
    /// server that supports blocking reloads is asked at once for the playlist with the next segment.
    func addReload(
        of lane: Int, _ clock: HostClock, _ run: inout DownloadRun,
        _ group: inout ThrowingTaskGroup<Outcome, any Error>
    ) {
        let (entry, variables, tracker) = (run.lanes[lane].entry, run.variables, run.lanes[lane].tracker)
        let refusesDeltas = run.lanes[lane].refusesDeltas
        let account = run.reloads[lane] ?? client.retrier.makeAccount()
        run.reloads[lane] = account
        let terms = RetryTerms(kind: .reload, isLive: true, targetDuration: tracker.pacingTarget)
        let awaited = client.retrier.isFailing(account) ? nil : run.lanes[lane].awaited
        run.lanes[lane].beginReload(awaiting: awaited)
        let due = awaited == nil ? tracker.nextReload.map { $0 + tracker.reloadDelay } ?? clock.now : clock.now
        group.addTask {
            try? await clock.sleep(until: due)
            let began = clock.now
            let delta = refusesDeltas ? nil : DeltaUpdate(after: tracker, at: began)
            let directives = DeliveryDirectives(awaited: awaited, delta: delta)
            var answer = Reload(lane: lane, began: began, askedForDelta: delta != nil)
            do {
                var requestCount = 0
                func load(_ entry: DownloadSelection.Entry) async throws -> MediaPlaylist {
                    try await self.playlist(
                        of: entry, variables, terms, account, reloadOf: tracker, directives: directives
                    ) { requestCount += 1 }
                }
                do {
                    answer.result = .success(try await load(entry))
                } catch let error as HLSError {
                    // After redirects, the final URL may still work even if the original one no longer does.
                    guard let status = error.statusCode, (400..<500).contains(status), tracker.url != entry.url else {
                        throw error
                    }
                    var answered = entry
                    answered.url = tracker.url
                    guard let list = try? await load(answered) else { throw error }
                    answer.result = .success(list)
                }
                answer.wasInVain = !directives.isEmpty && requestCount > 1
            } catch {
                answer.result = .failure(error)
                answer.wasInVain = !directives.isEmpty
            }
            return .playlist(answer)
        }
    }

    struct Reload: Sendable {
        var lane: Int
        var began: Duration
        var askedForDelta: Bool
        /// Whether the request had delivery directives that were of no use.
        var wasInVain = false
        var result: Swift.Result<MediaPlaylist, any Error> = .failure(CancellationError())
    }

    func take(_ answer: Reload, _ clock: HostClock, _ run: inout DownloadRun) throws {
        let (result, lane, began, now) = (answer.result, answer.lane, answer.began, clock.now)
        let account = run.reloads[lane]
        defer { account.map(client.retrier.close) }
        switch result {
        case .success(let playlist):
            run.failures[lane] = nil
            let update = run.lanes[lane].tracker.update(
                with: playlist, url: playlist.url, loadBegan: began, now: now)
            run.lanes[lane].endReload(update, askedForDelta: answer.askedForDelta, wasInVain: answer.wasInVain)
            let isNew = update == .changed || update == .restarted
            client.retrier.notePlaylist(isNew: isNew)
            if isNew {
                run.live.noteNews(at: now)
                try noteMissed(of: lane, &run)
                run.plan.forgetFailures()
                if !run.lanes[lane].tracker.isLive { try noteLanes(run) }
                try takeUp(clock, &run)
            }
        case .failure(let error):
            run.lanes[lane].endReload(nil, askedForDelta: answer.askedForDelta, wasInVain: answer.wasInVain)
            guard let error = error as? HLSError, error.domain != .output, !isExpired(error) else { throw error }
            run.lanes[lane].noteFailedReload(at: now)
            run.failures[lane] = error
            // The download cannot continue without the variant, but a rendition may recover.
            if lane == 0, account.map(client.retrier.isOver) ?? false { return finish(&run) }
        }
        let isFailing = run.reloads.contains { $0.key != lane && client.retrier.isFailing($0.value) }
        if run.isStale(at: now, isFailing: isFailing) { finish(&run) }
    }

    private func noteMissed(of lane: Int, _ run: inout DownloadRun) throws(HLSError) {
        let tracker = run.lanes[lane].tracker
        guard tracker.hasJumped else { return }
        let count = tracker.missedCount
        let gap = DownloadGap(
            urlString: tracker.url, segmentCount: count, cause: DownloadGap.missed(count), isDeclared: false)
        run.result.gaps.append(gap)
        guard configuration.endsAtGaps else { return }
        throw HLSError.missing(tracker.playlist.mediaSequence - count, url: tracker.url, gap.cause)
    }

    /// Stops following the stream because it no longer delivers. Stored media is kept (R42).
    private func finish(_ run: inout DownloadRun) {
        run.result.failure =
            run.failures.min { $0.key < $1.key }.map { $0.value }
            ?? HLSError(
                code: .staleLive, urlString: run.lanes.first?.tracker.url, cause: "the live playlist stopped updating")
        run.isOver = true
    }
}

extension DownloadRun {
    /// Whether no playlist has listed a new segment for as long as a player would wait.
    fileprivate func isStale(at now: Duration, isFailing: Bool) -> Bool {
        guard isLive, let tracker = followed.lazy.map({ lanes[$0].tracker }).first(where: \.isLive) else {
            return false
        }
        if case .stale = live.check(tracker, limit: tracker.staleLimit, isFailing: isFailing, at: now) { return true }
        return false
    }
}

extension DownloadGap {
    fileprivate static func missed(_ count: Int) -> String {
        "\(count) \(count == 1 ? "segment" : "segments") missed: the live window moved on"
    }
}
