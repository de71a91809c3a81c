import HLSPlaylist

extension DownloadTask {
    /// Without query, user and fragment.
    static func bare(_ url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let slashes = path.firstRange(of: "//") else { return String(path) }
        let rest = path[slashes.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(path) }
        return String(path[..<slashes.upperBound] + rest[rest.index(after: at)...])
    }

    /// Makes sure that what an earlier run has left is of the same stream: by the URL, or, where that is another (a token in
    /// its path), by one segment that has to be the same.
    func checkOrigin(_ run: DownloadRun) async throws {
        let journal = folder.journal
        guard !journal.url.isEmpty, journal.url != Self.bare(configuration.url), !journal.segments.isEmpty else {
            return
        }
        search: for lane in run.lanes {
            for stored in journal.segments(of: lane.entry.lane.id) {
                guard stored.file != nil, let index = lane.index(of: stored.position), lane.isSame(stored, at: index),
                    let request = request(at: index, of: lane)
                else { continue }
                var probe = request
                probe.file = "probe.\(DownloadLane.ending(of: stored.name))"
                let loaded = try await loader.segment(probe)
                folder.discard(probe.file)
                if loaded.file?.md5 == stored.file?.md5 { return }
                break search
            }
        }
        throw OutputError(
            code: .fileExists, path: folder.path,
            text: "it holds what was loaded of \(journal.url.escapingControls); remove it to begin anew")
    }

    func noteLanes(_ selection: DownloadSelection) throws(OutputError) {
        let journal = folder.journal
        var entries: [DownloadJournal.Entry] = []
        if journal.url.isEmpty { entries.append(.header(url: Self.bare(configuration.url))) }
        for entry in selection.entries where !journal.lanes.contains(entry.lane) { entries.append(.lane(entry.lane)) }
        if !entries.isEmpty { try folder.add(entries) }
    }

    /// Puts into the plan what is wanted and not there.
    func takeUp(_ run: inout DownloadRun) throws {
        let journal = folder.journal
        var entries: [DownloadJournal.Entry] = []
        for laneIndex in run.followed {
            let lane = run.lanes[laneIndex]
            let known = journal.segments[lane.entry.lane.id] ?? [:]
            var items: [DownloadPlan.Item] = []
            for index in lane.indices(in: run.window) {
                let position = lane.position(at: index)
                let id = DownloadPlan.ItemID(lane: laneIndex, position: position)
                guard run.seen.insert(id).inserted else { continue }
                let duration = lane.tracker.duration(at: index)
                run.totals.segmentCount += 1
                run.totals.duration += duration
                if laneIndex == 0 { run.mediaDuration += duration }
                if let stored = known[position], lane.isSame(stored, at: index) {
                    run.result.resumedSegmentCount += 1
                    run.done.segmentCount += 1
                    run.done.duration += duration
                    run.storedByteCount += stored.file?.byteCount ?? 0
                    continue
                }
                let segment = lane.tracker.playlist.segments[index]
                if segment.isGap {
                    entries.append(.segment(lane.description(at: index)))
                    run.done.segmentCount += 1
                    run.done.duration += duration
                    run.result.gaps.append(
                        DownloadGap(
                            url: lane.tracker.playlist.resolve(segment.uri) ?? segment.uri,
                            cause: "the stream says that a segment is missing", isDeclared: true))
                    continue
                }
                items.append(
                    DownloadPlan.Item(
                        lane: laneIndex, position: position, start: lane.tracker.starts[index],
                        resources: try resources(of: segment, in: lane)))
            }
            run.plan.add(items)
        }
        if !entries.isEmpty { try folder.add(entries) }
        publish(run)
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
        }
    }

    func resources(of segment: MediaSegment, in lane: DownloadLane) throws(AssetError) -> [ResourceID] {
        var ids: [ResourceID] = []
        if let map = segment.map {
            if let url = lane.tracker.playlist.resolve(map.uri) {
                ids.append(ResourceID(kind: .map, url: url, byteRange: map.byteRange?.range))
            }
            if let key = DownloadRun.key(of: map.keys, in: lane) { ids.append(key.id) }
        }
        guard !segment.keys.isEmpty else { return ids }
        guard let key = DownloadRun.key(of: segment.keys, in: lane) else {
            let offered = segment.keys.map { "\($0.method.rawValue) (\($0.effectiveKeyFormat))" }
            throw AssetError(
                code: .contentKey, url: lane.tracker.url, cause: "no supported key system",
                detail: offered.joined(separator: ", ").escapingControls)
        }
        if !ids.contains(key.id) { ids.append(key.id) }
        return ids
    }
}
