import HLSKitAsset
import HLSKitLoading
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection

/// Packing a file while the rest of it is loaded.
extension DownloadTask {
    /// Loads, and packs meanwhile where a file is going to be written.
    func loadAndPack(
        _ clock: HostClock, _ news: AsyncStream<Void>, _ run: inout DownloadRun
    ) async throws {
        guard let packing = beginPacking(run) else { return try await load(clock, news, &run) }
        async let packed: Void = packing.run(on: configuration.loading.clock)
        do {
            try await load(clock, news, &run)
        } catch {
            // What it writes is removed when it writes no more.
            packing.abandon()
            await packed
            discardPacking()
            throw error
        }
        packing.end()
        await packed
    }

    /// nil where nothing is going to be packed, or it is not known of which segments.
    private func beginPacking(_ run: DownloadRun) -> FilePacking? {
        discardPacking()
        guard let format = configuration.fileFormat, let container = Remuxer.Container(format), !run.isLive,
            !configuration.keepsEncryption
        else { return nil }
        var expected: [String: [DownloadJournal.Segment]] = [:]
        for lane in run.followed.map({ run.lanes[$0] }) {
            expected[lane.entry.lane.id] = lane.indices(in: run.window)
                .filter { !lane.tracker.playlist.segments[$0].isGap }.map { lane.description(at: $0) }
        }
        let plan = FilePacking.Plan(loaded.entries, loaded.window, format, configuration)
        // Why it cannot be written is told when it is to be.
        guard let packing = try? FilePacking(plan, as: container, in: folder, expected: expected) else { return nil }
        setPacking(packing)
        return packing
    }

    /// Removes what was packed: it is of no use.
    func discardPacking() {
        guard let packing = takePacking() else { return }
        packing.end()
        folder.discardOutput()
    }

    /// What makes the file: what has been packed of it goes on where it is what is wanted.
    func packing(for plan: FilePacking.Plan, as container: Remuxer.Container) throws(HLSError) -> FilePacking {
        if let packing = takePacking() {
            if packing.fits(plan, folder.journal) { return packing }
            folder.discardOutput()
        }
        return try FilePacking(plan, as: container, in: folder)
    }
}
