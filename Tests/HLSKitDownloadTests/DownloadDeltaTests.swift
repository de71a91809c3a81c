import HLSKitAsset
import HLSKitDownload
import HLSKitSimulation
import TestSupport
import Testing

@Suite("Delta updates of a download", .timeLimit(.minutes(10)))
struct DownloadDeltaTests {
    @Test(
        "C10: a live playlist is reloaded as a delta, and whole after two useless deltas in a row",
        arguments: DeltaStream.Server.allCases)
    func reloads(server: DeltaStream.Server) throws {
        let stream = DeltaStream(server)
        let folder = try ScratchFolder()
        var options = AssetOptions(clock: stream.clock, transport: stream.transport)
        options.seed = 1
        let configuration = DownloadConfiguration(urlString: DeltaStream.url, loading: options)
        let result = try stream.clock.run {
            try await DownloadTask(configuration, folder: folder.path + "/d").run()
        }
        #expect(result.failure == nil && result.gaps.isEmpty, "\(result)")
        #expect(result.segmentCount == DeltaStream.count)

        let (lists, skipping) = (stream.lists, stream.skipping)
        #expect(lists.first?.url == DeltaStream.url)
        #expect(lists.count { $0.url == DeltaStream.url } == lists.count - skipping.count)
        switch server {
        case .skips, .ignores: #expect(skipping.count >= 3 && lists.count == skipping.count + 1)
        case .refuses, .confuses, .fails: #expect(skipping.count == 2 && lists.count > 4)
        }
        #expect(stream.segments.sorted() == DeltaStream.segmentNames.sorted())
    }
}
