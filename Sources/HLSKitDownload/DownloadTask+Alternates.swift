import HLSKitAsset
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension DownloadTask {
    func open(
        _ alternateRequest: DownloadAlternates.Request, _ clock: HostClock, _ run: inout DownloadRun,
        _ group: inout ThrowingTaskGroup<Outcome, any Error>
    ) {
        let known = run.alternates.lanes[alternateRequest.alternate].map { run.lanes[$0].tracker }
        let (entry, variables) = (run.alternates.entry(of: alternateRequest.alternate), run.variables)
        let terms = RetryTerms(
            kind: .mediaPlaylist, isLive: run.lanes[alternateRequest.target.lane].tracker.isLive,
            hasAlternative: run.alternates.hasMore(for: alternateRequest.target))
        let account = run.account(of: alternateRequest.target, client.retrier)
        group.addTask {
            let began = clock.now
            do {
                // A playlist that has ended does not change.
                let playlist: MediaPlaylist
                if let known, !known.isLive {
                    playlist = known.playlist
                } else {
                    playlist = try await self.playlist(of: entry, variables, terms, account)
                }
                return .alternate(alternateRequest, began: began, .success(playlist))
            } catch {
                return .alternate(alternateRequest, began: began, .failure(error))
            }
        }
    }

    func take(
        _ result: Swift.Result<MediaPlaylist, any Error>, of alternateRequest: DownloadAlternates.Request,
        began: Duration,
        _ clock: HostClock, _ run: inout DownloadRun
    ) throws {
        run.alternates.finishOpening()
        let missing = HLSError(code: .notFound, cause: "no alternative has the segment")
        do {
            let playlist = try result.get()
            let index = run.open(alternateRequest.alternate, playlist, began: began, now: clock.now)
            let lane = run.lanes[index]
            guard let target = run.lanes[alternateRequest.target.lane].index(of: alternateRequest.target.position),
                let place = DownloadAlternates.index(
                    in: lane.tracker, from: run.lanes[alternateRequest.target.lane].tracker.starts[target],
                    to: run.lanes[alternateRequest.target.lane].tracker.starts[target + 1]),
                !lane.tracker.playlist.segments[place].isGap
            else { return try look(for: alternateRequest.target, after: missing, clock, &run) }
            let item = DownloadPlan.Item(
                lane: index, position: lane.position(at: place), start: lane.tracker.starts[place],
                resources: try lane.resources(at: place).all)
            guard !run.plan.knows(item.id) else {
                return try look(for: alternateRequest.target, after: missing, clock, &run)
            }
            run.alternates.note(item.id, for: alternateRequest)
            try plan([item], clock, &run)
        } catch let error as HLSError where error.domain != .output {
            run.alternates.penalize(alternateRequest.alternate, at: clock.now)
            let account = run.account(of: alternateRequest.target, client.retrier)
            try look(for: alternateRequest.target, after: error, isOver: client.retrier.isOver(account), clock, &run)
        }
    }

    /// Looks for another source for a segment. If there is none, the segment is skipped or ends the run.
    ///
    /// - Parameter isOver: Whether the retry policies allow no more attempts.
    func look(
        for id: DownloadPlan.ItemID, after error: HLSError, isOver: Bool = false, _ clock: HostClock,
        _ run: inout DownloadRun
    ) throws {
        demand.withdraw(.segment(id))
        var target = id
        if let alternateRequest = run.alternates.alternateRequest(of: id) {
            run.alternates.penalize(alternateRequest.alternate, at: clock.now)
            target = alternateRequest.target
        }
        if isExpired(error), !run.isOver { throw error }
        if target == id, error.isServerFailure { run.alternates.leave(id.lane, at: clock.now) }
        let last: HLSError
        switch run.alternates.look(for: target, after: error, isOver: isOver, at: clock.now) {
        case .elsewhere: return
        case .chosen: return try loadAgain(target, after: error, &run)
        case .nowhere(let error): last = error
        }
        run.closeAccount(of: target, client.retrier)
        let isOfSegment = last.isSkippable || run.isLive || run.givesUpFolder(of: target)
        let isSkippable = configuration.loading.retryPolicies.skipsSegments && isOfSegment
        guard isSkippable && !configuration.endsAtGaps || run.isOver else {
            guard configuration.endsAtGaps, isOfSegment else { throw last }
            throw HLSError.missing(target.position.sequence, url: last.urlString, last.cause)
        }
        skip(target, last, &run)
    }

    func loadAgain(_ id: DownloadPlan.ItemID, after error: HLSError, _ run: inout DownloadRun) throws {
        let lane = run.lanes[id.lane]
        guard let index = lane.index(of: id.position) else { return skip(id, error, &run) }
        run.plan.again(
            DownloadPlan.Item(
                lane: id.lane, position: id.position, start: lane.tracker.starts[index],
                resources: try lane.resources(at: index).all))
    }

    private func skip(_ id: DownloadPlan.ItemID, _ error: HLSError, _ run: inout DownloadRun) {
        run.skip(id, error)
        // A segment must be listed before it is removed.
        if id.lane == 0 || packing?.writesParts == true { run.isStartProved = true }
        listParts(run)
        guard run.lanes.indices.contains(id.lane) else { return }
        packing?.remove(id.position, of: run.lanes[id.lane].entry.lane.id)
    }
}

extension HLSError {
    /// Whether the server is unreachable or broken, so that further requests would also fail.
    fileprivate var isServerFailure: Bool { domain == .network || (statusCode ?? 0) >= 500 }

    static func missing(_ number: Int, url: String?, _ cause: String) -> HLSError {
        HLSError(code: .incomplete, urlString: url, cause: "segment \(number) is missing", detail: cause)
    }
}

extension DownloadRun {
    fileprivate mutating func open(
        _ alternate: Int, _ playlist: MediaPlaylist, began: Duration, now: Duration
    ) -> Int {
        if let index = alternates.lanes[alternate] {
            _ = lanes[index].tracker.update(with: playlist, url: playlist.url, loadBegan: began, now: now)
            return index
        }
        var entry = alternates.entry(of: alternate)
        // Keep its files apart from the chosen playlist's files, whose lane may have the same description.
        entry.lane.id += "|instead \(alternate)"
        add(entry, playlist, known: [], now: now)
        alternates.lanes[alternate] = lanes.count - 1
        return lanes.count - 1
    }

    /// Whether to give up the folder of an unavailable segment.
    ///
    /// The answer is yes if the folder has delivered nothing and the stream continues in another folder, for example
    /// after an ad break that has been removed.
    fileprivate mutating func givesUpFolder(of target: DownloadPlan.ItemID) -> Bool {
        let lane = lanes[target.lane]
        guard let url = lane.url(of: target.position), let index = lane.index(of: target.position) else { return false }
        if lane.tracker.isInOtherFolder(thanAnyAfter: index) { folders.giveUp(url) }
        return folders.isSilent(url)
    }

    /// The journal entry for a loaded segment. A replacement gets the entry of the segment it replaces.
    func stored(_ segment: DownloadJournal.Segment, of id: DownloadPlan.ItemID) -> DownloadJournal.Segment? {
        guard let alternateRequest = alternates.alternateRequest(of: id) else { return segment }
        let lane = lanes[alternateRequest.target.lane]
        guard let index = lane.index(of: alternateRequest.target.position) else { return nil }
        var result = lane.description(at: index)
        (result.file, result.map, result.mapKey, result.key) = (segment.file, segment.map, segment.mapKey, segment.key)
        result.variant = lanes[id.lane].entry.lane.id
        return result
    }
}
