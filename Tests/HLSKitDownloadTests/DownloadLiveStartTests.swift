import HLSKitAsset
import HLSKitEngine
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("The start of a download of a live stream", .timeLimit(.minutes(10)))
struct DownloadLiveStartTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The number of listed segments of 6 s.
        var count = 20
        var tags = ""
        var end = EndPosition.automatic
        let segments: ClosedRange<Int>
    }

    @Test(
        "A live stream is kept from a minute before its edge",
        arguments: [
            Case(testDescription: "a short window is kept as a whole", count: 5, segments: 0...4),
            Case(testDescription: "a long window is not", segments: 10...19),
            Case(
                testDescription: "a duration counts from the start of playback", end: .duration(.seconds(12)),
                segments: 17...18),
            Case(testDescription: "an end does not", end: .time(.seconds(114)), segments: 10...18),
            Case(testDescription: "the stream sets it", tags: "#EXT-X-START:TIME-OFFSET=-30\n", segments: 15...19),
        ])
    func start(test: Case) throws {
        let (clock, folder) = (VirtualClock(), try ScratchFolder())
        let asked = Recorder<Int>()
        let link = NetworkTrace(constant: .init(bitsPerSecond: 1e7, latency: .milliseconds(10)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            if let number = Int(name.dropLast(3)) {
                asked.append(number, at: .zero)
                return SimulatedResponse(body: (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 })
            }
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + test.tags
            for number in 0..<test.count { text += "#EXTINF:6,\n\(number).ts\n" }
            return .playlist(request.time > .seconds(5) ? text + "#EXT-X-ENDLIST\n" : text)
        }
        var configuration = DownloadConfiguration(
            urlString: "https://sample.invalid/a.m3u8", loading: AssetOptions(clock: clock, transport: transport))
        configuration.startsAtLiveEdge = true
        configuration.endPosition = test.end
        _ = try clock.run { [configuration] in
            try await DownloadTask(configuration, folder: folder.path + "/d").run()
        }
        #expect(asked.elements.sorted() == Array(test.segments))
    }
}
