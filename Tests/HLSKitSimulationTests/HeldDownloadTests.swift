import HLSKitAsset
import HLSKitDownload
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

/// Downloads from a ``LowLatencyOrigin`` with segments of 2 s: eight at the start and sixteen in all.
@Suite("Downloads with blocking playlist reloads", .timeLimit(.minutes(10)))
struct HeldDownloadTests {
    private static func download(
        _ change: (inout LowLatencyOrigin) -> Void = { _ in }
    ) throws -> (result: DownloadTask.Result, visits: Visits, time: Duration) {
        var origin = LowLatencyOrigin()
        origin.segmentCount = 16
        change(&origin)
        let (made, clock, visits) = (origin, VirtualClock(), Visits())
        let folder = try ScratchFolder()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            visits.append(request)
            return made.response(to: request)
        }
        var options = AssetOptions(clock: clock, transport: transport)
        options.seed = 1
        let configuration = DownloadConfiguration(urlString: origin.url(ofVariant: 1), loading: options)
        return try clock.run {
            let result = try await DownloadTask(configuration, folder: folder.path + "/d").run()
            return (result, visits, clock.now.offset)
        }
    }

    @Test("M05: a download awaits each segment, and stores it when it is listed, whole and once")
    func awaits() throws {
        let (result, visits, time) = try Self.download()
        #expect(result.failure == nil && result.gaps.isEmpty)
        #expect(result.segmentCount == 16)
        #expect(visits.held.count == 8 && visits.lists.count == 9, "\(visits.lists.map(\.urlString))")
        #expect(visits.lists.allSatisfy { !$0.urlString.contains("_HLS_part") })
        #expect(
            visits.segmentNumbers.sorted() == Array(0..<16), "\(visits.names)")
        for segment in visits.media.suffix(8) {
            #expect(segment.time < .seconds(1) || segment.time.seconds.truncatingRemainder(dividingBy: 2) < 0.2)
        }
        #expect((16...16.5).contains(time.seconds))
    }

    @Test(
        "M05: a server that does not block correctly is reloaded by the clock",
        arguments: [
            LowLatencyOrigin.Fault.Kind.doesNotHold, .neverAnswers, .holdsForever, .status(503), .status(400),
        ])
    func broken(fault: LowLatencyOrigin.Fault.Kind) throws {
        let (result, visits, time) = try Self.download {
            $0.faults = [.init(fault, during: .seconds(3)..<(.seconds(fault.isServerFailure ? 8 : 1000)))]
        }
        #expect(result.failure == nil && result.gaps.isEmpty, "\(result)")
        #expect(result.segmentCount == 16)
        #expect(visits.lists.count <= 40, "\(visits.lists.map { "\($0.time) \($0.urlString)" })")
        #expect(time <= .seconds(30))
    }

    @Test("M05: without blocking reloads no request asks for one")
    func ordinary() throws {
        let (result, visits, _) = try Self.download { $0.holdsRequests = false }
        #expect(result.segmentCount == 16 && result.failure == nil)
        #expect(visits.held.isEmpty)
    }
}

extension LowLatencyOrigin.Fault.Kind {
    /// Whether the fault also affects requests that do not block.
    fileprivate var isServerFailure: Bool { if case .status = self { true } else { false } }
}
