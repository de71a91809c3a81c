import HLSKitAsset
import HLSKitLoading
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection

extension DownloadTask {
    func loadAndPack(
        _ clock: HostClock, _ news: AsyncStream<Void>, _ run: inout DownloadRun
    ) async throws {
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
        // An error here is reported when the file is written.
        guard let packing = try? FilePacking(plan, as: container, in: folder, expected: expected) else { return nil }
        setPacking(packing)
        return packing
    }

    func discardPacking() {
        guard let packing = takePacking() else { return }
        packing.end()
        folder.discardOutput()
    }

    /// Returns the object that writes the file. Continues the early muxing if it fits the plan, otherwise starts again.
    func packing(for plan: FilePacking.Plan, as container: Remuxer.Container) throws(HLSError) -> FilePacking {
        if let packing = takePacking() {
            if packing.fits(plan, folder.journal) { return packing }
            folder.discardOutput()
        }
        return try FilePacking(plan, as: container, in: folder)
    }
}
