import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

extension DownloadTask {
    func add(
        _ work: DownloadPlan.Work, _ clock: HostClock, _ run: inout DownloadRun,
        _ group: inout ThrowingTaskGroup<Outcome, any Error>
    ) {
        let loader = loader
        switch work {
        case .resource(let id, let lane):
            let named = run.lanes[lane]
            group.addTask {
                do {
                    return .resource(id, lane: lane, .success(try await loader.resource(id, of: named)))
                } catch { return .resource(id, lane: lane, .failure(error)) }
            }
        case .segment(let id):
            let now = clock.now
            if run.alternates.passesOver(id, at: now) {
                _ = run.plan.finish(work)
                return
            }
            let lane = run.lanes[id.lane]
            guard let index = lane.index(of: id.position), var request = request(at: index, of: lane) else {
                let error = HLSError(
                    code: .notFound, urlString: lane.entry.url, cause: "the segment is gone from the playlist",
                    detail: "number \(id.position.sequence)")
                group.addTask { .segment(id, .failure(error)) }
                return
            }
            run.describe(&request, at: index, of: lane)
            let alternateRequest = run.alternates.alternateRequest(of: id)
            request.terms.isSilent = run.folders.isSilent(request.url)
            request.terms.hasAlternative = run.alternates.hasMore(for: alternateRequest?.target ?? id)
            // Accept a copy from another source at once, but wait before falling back to a lower quality.
            request.terms.isFirstChoice = alternateRequest == nil && !run.alternates.isRedundant(id, at: now)
            request.terms.refusalsMayPass =
                run.refusalsMayPass && configuration.loading.hooks.urlRefresher == nil
            if !run.refusalsMayPass { run.beganEarly.insert(id) }
            request.account = run.account(of: id, client.retrier)
            group.addTask { [request] in
                do { return .segment(id, .success(try await loader.segment(request))) } catch {
                    return .segment(id, .failure(error))
                }
            }
        }
    }

    func request(at index: Int, of lane: DownloadLane) -> DownloadLoader.Request? {
        let segment = lane.tracker.playlist.segments[index]
        guard let url = lane.tracker.playlist.resolve(segment.uri), let resources = try? lane.resources(at: index)
        else { return nil }
        let description = lane.description(at: index)
        var request = DownloadLoader.Request(
            url: url, source: lane.tracker.url, segment: description, file: lane.fileName(of: description),
            limit: ResourceLimits.segmentByteCount(
                duration: segment.duration,
                bitRate: lane.entry.lane.bandwidth > 0 ? lane.entry.lane.bandwidth : nil),
            isClear: lane.isClear(index))
        request.key = resources.key?.resource
        request.terms.isLive = lane.tracker.isLive
        request.terms.isAtLiveEdge = lane.tracker.isAtEdge(index)
        request.terms.targetDuration = lane.tracker.pacingTarget
        if client.options.clientData != nil { request.clientData = clientData(at: index, of: lane) }
        return request
    }

    private func clientData(at index: Int, of lane: DownloadLane) -> ClientDataNote {
        let (entry, tracker) = (lane.entry, lane.tracker)
        let declared = ClientDataFacts.ObjectType(codecs: entry.lane.codecList)
        let type: ClientDataFacts.ObjectType? =
            switch entry.lane.kind {
            case .audio: .audio
            case .subtitles: tracker.playlist.objectTypeOfSubtitles
            // An audio rendition that replaces the variant.
            case .main where entry.lane.codecs == nil && entry.source != nil && entry.wanted == [.audio]: .audio
            // The segment may contain audio even if the audio is separate or unwanted.
            case .main where declared == .muxed && !entry.wanted.contains(.audio):
                configuration.audio == .none ? nil : .video
            case .main: declared
            }
        var facts = ClientDataFacts(segmentOf: tracker.duration(at: index), type, isLive: tracker.isLive)
        if entry.lane.kind == .main, entry.lane.bandwidth > 0 {
            // The declared bit rate includes all renditions that belong to the variant.
            facts.bitRates.isAggregate = type == nil || type != declared
            facts.bitRates.encoded = Double(entry.lane.bandwidth)
        }
        return ClientDataNote(facts)
    }

    // MARK: What came

    func take(
        _ result: Swift.Result<DownloadJournal.File, any Error>, of id: ResourceID, lane: Int,
        _ clock: HostClock, _ run: inout DownloadRun
    ) throws {
        switch result {
        case .success(let file):
            try folder.add([.resource(file)])
            run.files[id] = file.name
            downloaded.add(id, file: file.name)
            _ = run.plan.finish(.resource(id, lane: lane))
        case .failure(let error):
            demand.withdraw(.resource(id))
            let dropped = run.plan.finish(.resource(id, lane: lane), succeeded: false)
            // Without a key, nothing is useful (R50). A map is needed by only some segments.
            guard let error = error as? HLSError, id.kind == .map, error.code == .notFound || error.code == .badMedia
            else {
                throw error
            }
            run.failedMaps[id] = error
            for id in dropped { try look(for: id, after: error, clock, &run) }
        }
    }

    func take(
        _ result: Swift.Result<DownloadLoader.Loaded, any Error>, of id: DownloadPlan.ItemID,
        _ clock: HostClock, _ run: inout DownloadRun
    ) throws {
        _ = run.plan.finish(.segment(id))
        switch result {
        case .success(let loaded):
            let keyID = run.keyID(of: id)
            if let key = loaded.key, let keyID {
                try folder.add([.resource(key)])
                run.files[keyID] = key.name
            }
            if let key = keyID.flatMap({ run.files[$0] }) { run.provenKeys.insert(key) }
            run.closeAccount(of: id, client.retrier)
            run.refusalsMayPass = true
            let lane = run.lanes[id.lane]
            if let url = lane.url(of: id.position) { run.folders.noteMedia(from: url) }
            if let index = lane.index(of: id.position) { offer(loaded.segment, at: index, of: lane) }
            if loaded.isTruncated, let url = lane.url(of: id.position) { run.result.truncatedURLs.append(url) }
            guard let segment = run.stored(loaded.segment, of: id) else { return }
            try folder.add([.segment(segment)], syncs: lane.tracker.isLive)
            run.noteLoaded(id)
            run.done.segmentCount += 1
            run.done.duration += .microseconds(segment.duration)
            run.storedByteCount += segment.file?.byteCount ?? 0
            try proveStart(clock, &run)
        case .failure(let error):
            guard var error = error as? HLSError, error.domain != .output else { throw error }
            // The key has decrypted other segments, so it is right and the segment is damaged.
            if error.code == .contentKey, let key = run.keyID(of: id).flatMap({ run.files[$0] }),
                run.provenKeys.contains(key)
            {
                error.code = .badMedia
            }
            let beganEarly = run.beganEarly.remove(id) != nil
            if let status = error.statusCode, [401, 403].contains(status) {
                // Other segments have been served since the request began.
                if beganEarly, run.refusalsMayPass, configuration.loading.hooks.urlRefresher == nil {
                    return try loadAgain(id, after: error, &run)
                }
                run.refusalsMayPass = false
            }
            let account = run.account(of: id, client.retrier)
            try look(for: id, after: error, isOver: client.retrier.isOver(account), clock, &run)
        }
    }
}
