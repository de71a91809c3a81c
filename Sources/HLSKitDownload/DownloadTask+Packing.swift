import HLSKitAsset
import HLSKitLoading
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension DownloadTask {
    func loadAndPack(
        _ clock: HostClock, _ news: AsyncStream<Void>, _ run: inout DownloadRun
    ) async throws {
        if configuration.parts != nil { return try await loadAndPackParts(clock, news, &run) }
        guard let packing = beginPacking(run) else { return try await load(clock, news, &run) }
        async let packed: Void = packing.run(on: configuration.loading.clock)
        do {
            try await load(clock, news, &run)
        } catch {
            // Wait until it writes no more, then remove its output.
            packing.abandon()
            await packed
            discardPacking()
            throw error
        }
        packing.end()
        await packed
    }

    /// Loads a live stream and writes its files in the meantime. They remain if the run fails.
    private func loadAndPackParts(
        _ clock: HostClock, _ news: AsyncStream<Void>, _ run: inout DownloadRun
    ) async throws {
        guard run.beganLive else { return try await load(clock, news, &run) }
        let packing: FilePacking
        if let current = self.packing {
            packing = current
            packing.reopen()
        } else {
            packing = try partPacking(isOpen: true)
            setPacking(packing)
        }
        // Segments of an earlier run come first.
        let journal = folder.journal
        for lane in run.followed.map({ run.lanes[$0] }) where run.unprovedStart == nil {
            let stored = journal.segments(of: lane.entry.lane.id).filter { $0.file != nil || $0.isSkipped }
            packing.list(stored, of: lane.entry.lane.id, from: run.window.lead, isComplete: false)
        }
        listParts(run)
        async let packed: Void = packing.run(on: configuration.loading.clock)
        do {
            try await load(clock, news, &run)
        } catch {
            endPackingParts(packing, &run)
            await packed
            // A fresh URL continues the files.
            if !(error is ExpiredDownload) { try? packing.finish { _ in } }
            throw error
        }
        endPackingParts(packing, &run)
        await packed
    }

    private func endPackingParts(_ packing: FilePacking, _ run: inout DownloadRun) {
        // The first segment may be missing.
        run.isStartProved = true
        listParts(run)
        packing.end()
    }

    /// Reports the segments of a live stream's playlists to the files, once the first segment is known.
    func listParts(_ run: DownloadRun) {
        guard let packing, packing.writesParts, run.unprovedStart == nil else { return }
        for index in run.followed {
            let lane = run.lanes[index]
            packing.list(
                run.segments(of: index), of: lane.entry.lane.id, from: run.window.lead, isComplete: !lane.tracker.isLive
            )
        }
    }

    func partPacking(isOpen: Bool) throws(HLSError) -> FilePacking {
        guard let parts = configuration.parts, let format = configuration.fileFormat,
            let container = Remuxer.Container(format)
        else { throw HLSError(code: .unsupported, cause: "files of a length need a download format") }
        let plan = FilePacking.Plan(loaded.entries, loaded.window, format, configuration)
        return try FilePacking(plan, as: container, parts: parts, in: folder, isOpen: isOpen)
    }

    private func beginPacking(_ run: DownloadRun) -> FilePacking? {
        discardPacking()
        guard let format = configuration.fileFormat, let container = Remuxer.Container(format), !run.isLive,
            !configuration.keepsEncryption
        else { return nil }
        var expected: [String: [DownloadJournal.Segment]] = [:]
        for index in run.followed { expected[run.lanes[index].entry.lane.id] = run.segments(of: index) }
        let plan = FilePacking.Plan(loaded.entries, loaded.window, format, configuration)
        // An error here is reported when the file is written.
        guard let packing = try? FilePacking(plan, as: container, in: folder, expected: expected) else { return nil }
        setPacking(packing)
        return packing
    }

    /// Adds the segment before the first one if it is needed to decode frames from the requested start on.
    func proveStart(_ clock: HostClock, _ run: inout DownloadRun) throws {
        guard let start = run.unprovedStart, let lane = run.lanes.first, let index = lane.index(of: start),
            folder.stored(lane.description(at: index)) != nil
        else { return }
        run.isStartProved = true
        let writer = try OutputFormat.null.makeWriter(path: "-")
        var assembler = FileAssembler(folder, entries: [lane.entry], window: run.window, writer: writer)
        // A segment that cannot be read is reported when the file is written.
        _ = try? assembler.step { _ in }
        guard assembler.needsEarlierSegment else { return listParts(run) }
        // The file is written again from the earlier segment on.
        if let packing, !packing.writesParts { packing.abandon() }
        run.window.lead = lane.tracker.starts[index - 1]
        keep(run.followed.map { run.lanes[$0].entry }, run.window)
        try takeUp(clock, &run)
    }

    func discardPacking() {
        guard let packing = takePacking() else { return }
        packing.end()
        if !packing.writesParts { folder.discardOutput() }
    }

    /// Returns the object that writes the file. Continues the early muxing if it fits the plan, otherwise starts again.
    func packing(for plan: FilePacking.Plan, as container: Remuxer.Container) throws(HLSError) -> FilePacking {
        if configuration.parts != nil {
            if let packing = takePacking() { return packing }
            return try partPacking(isOpen: false)
        }
        let laterAudio: [FileAssembler.LateAudio]
        do {
            // The unwanted object removes its unfinished file, so it must be gone before the next one begins.
            guard let packing = takePacking() else { return try FilePacking(plan, as: container, in: folder) }
            if packing.fits(plan, folder.journal) { return packing }
            laterAudio = packing.lateAudio
        }
        folder.discardOutput()
        return try FilePacking(plan, as: container, in: folder, laterAudio: laterAudio)
    }

    /// Returns the object that writes the file again, with the audio that was found to begin late.
    func packingAgain(
        after packing: FilePacking, as container: Remuxer.Container
    ) throws(HLSError) -> FilePacking {
        folder.discardOutput()
        return try FilePacking(packing.plan, as: container, in: folder, laterAudio: packing.lateAudio)
    }
}
