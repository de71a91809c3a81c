import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension DownloadTask {
    /// A value that is the same for the same stream, unless a relevant part of the query has changed.
    static func identity(of url: String) -> String {
        DownloadLane.hash(of: Redaction.withoutUserInfo(String(url.prefix { $0 != "#" })))
    }

    /// The maximum number of segments to request to find out whether the stream is the same.
    private static let maximumProbeCount = 3

    /// Checks that the stored segments belong to the same stream. If the URL has changed (because of a new token, or
    /// because it is another stream), compares one segment. It uses the last one, because different streams may begin
    /// alike.
    func checkOrigin(_ run: DownloadRun) async throws {
        let journal = folder.journal
        guard journal.hasMedia, journal.identity != Self.identity(of: configuration.urlString) else { return }
        var failure: HLSError?
        for (stored, request) in comparable(journal, run).prefix(Self.maximumProbeCount) {
            var probe = request
            probe.file = "probe.\(DownloadLane.ending(of: stored.name))"
            do {
                let loaded = try await loader.segment(probe)
                // The stored digest may use the algorithm of an earlier version.
                var isSame = false
                if var file = loaded.segment.file, let digest = stored.file?.digest {
                    file.digest = digest
                    isSame = folder.isWhole(file)
                }
                folder.discard(probe.file)
                if isSame { return }
                failure = nil
                break
            } catch let error as HLSError where error.domain != .output {
                failure = error
            }
        }
        throw failure ?? otherStreamError
    }

    var otherStreamError: HLSError {
        HLSError(
            code: .fileExists, path: folder.path,
            text: "it contains a download of \(folder.journal.url.escapingControls); remove it to start again")
    }

    private func comparable(
        _ journal: DownloadJournal, _ run: DownloadRun
    ) -> [(stored: DownloadJournal.Segment, request: DownloadLoader.Request)] {
        run.lanes.flatMap { lane in
            journal.segments(of: lane.entry.lane.id).reversed().compactMap { stored in
                // A segment from another variant says nothing about this one.
                guard stored.file != nil, stored.variant == nil, let index = lane.index(of: stored.position),
                    lane.isSame(stored, at: index), let request = request(at: index, of: lane)
                else { return nil }
                return (stored, request)
            }
        }
    }

    func noteLanes(_ run: DownloadRun) throws(HLSError) {
        let journal = folder.journal
        var entries: [DownloadJournal.Entry] = []
        if journal.url.isEmpty {
            entries.append(
                .header(
                    url: Redaction.urlWithoutQuery(configuration.urlString),
                    identity: Self.identity(of: configuration.urlString)))
        }
        for index in run.followed {
            var lane = run.lanes[index].entry.lane
            lane.isLive = run.lanes[index].tracker.isLive
            lane.isListed = journal.listedLanes.contains { $0.id == lane.id }
            if !journal.lanes.contains(lane) { entries.append(.lane(lane)) }
        }
        if !entries.isEmpty { try folder.add(entries) }
    }

    func takeUp(_ clock: HostClock, _ run: inout DownloadRun) throws {
        let journal = folder.journal
        var entries: [DownloadJournal.Entry] = []
        for laneIndex in run.followed {
            let lane = run.lanes[laneIndex]
            let known = journal.segments[lane.entry.lane.id] ?? [:]
            if laneIndex == 0 { run.skips?.read(lane.tracker) }
            var items: [DownloadPlan.Item] = []
            for index in lane.indices(in: run.window) {
                let position = lane.position(at: index)
                let id = DownloadPlan.ItemID(lane: laneIndex, position: position)
                guard run.seen.insert(id).inserted else { continue }
                if run.skips(id, at: index) {
                    var skipped = lane.description(at: index)
                    skipped.isSkipped = true
                    if known[position] != skipped { entries.append(.segment(skipped)) }
                    continue
                }
                let duration = lane.tracker.duration(at: index)
                let segment = lane.tracker.playlist.segments[index]
                if segment.isGap, configuration.endsAtGaps {
                    throw HLSError.missing(
                        position.sequence, url: lane.tracker.playlist.resolve(segment.uri) ?? segment.uri,
                        "marked EXT-X-GAP")
                }
                run.totals.segmentCount += 1
                run.totals.duration += duration
                if laneIndex == 0 { run.mediaDuration += duration }
                if let stored = known[position], lane.isSame(stored, at: index) {
                    run.result.resumedSegmentCount += 1
                    run.done.segmentCount += 1
                    run.done.duration += duration
                    run.storedByteCount += stored.file?.byteCount ?? 0
                    // A segment from another variant does not belong to this URL's ranges.
                    if laneIndex == 0, stored.file != nil {
                        run.loaded.insert(from: lane.tracker.starts[index], to: lane.tracker.starts[index + 1])
                    }
                    if stored.variant == nil { offer(stored, at: index, of: lane) }
                    continue
                }
                if segment.isGap {
                    entries.append(.segment(lane.description(at: index)))
                    run.done.segmentCount += 1
                    run.done.duration += duration
                    run.result.gaps.append(
                        DownloadGap(
                            urlString: lane.tracker.playlist.resolve(segment.uri) ?? segment.uri,
                            cause: "the playlist marks a segment as missing", isDeclared: true))
                    continue
                }
                items.append(
                    DownloadPlan.Item(
                        lane: laneIndex, position: position, start: lane.tracker.starts[index],
                        resources: try lane.resources(at: index).all))
            }
            announce(items, of: lane)
            try plan(items, clock, &run)
        }
        demand.finishOpening()
        if !entries.isEmpty { try folder.add(entries) }
        listParts(run)
        publish(run)
        try proveStart(clock, &run)
    }

    /// Adds segments to the plan. If a segment's map is unavailable, looks for another source.
    func plan(_ items: [DownloadPlan.Item], _ clock: HostClock, _ run: inout DownloadRun) throws {
        for item in run.plan.add(items) {
            let error = item.resources.compactMap { run.failedMaps[$0] }.first
            try look(
                for: item.id,
                after: error ?? HLSError(code: .notFound, cause: "its initialization section could not be loaded"),
                clock, &run)
        }
    }

    func publish(_ run: DownloadRun) {
        let isLive = run.isLive
        update { progress in
            progress.segmentCount = run.done.segmentCount
            progress.duration = run.done.duration
            progress.totalSegmentCount = run.totals.segmentCount
            progress.totalDuration = run.totals.duration
            progress.storedByteCount = run.storedByteCount
            progress.mediaDuration = run.mediaDuration
            progress.isLive = isLive
            progress.loadedTimeRanges = run.loaded.timeRanges
        }
        notices.report(progress)
    }
}
