import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

/// Segment 12 of a ``LowLatencyOrigin`` begins at 8 s with another initialization section. While its first part is
/// hinted at, the section is hinted at too.
@Suite("Hinted initialization sections", .timeLimit(.minutes(10)))
struct PreloadMapHintTests {
    private static func changed(_ text: String, isHinted: Bool) -> String {
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#EXT-X-PART:"), line.contains("\"12.0.m4s\"") {
                lines.append("#EXT-X-MAP:URI=\"../other.mp4\"")
            }
            lines.append(line)
            if isHinted, line.hasPrefix("#EXT-X-PRELOAD-HINT:"), line.contains("\"12.0.m4s\"") {
                lines.append("#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"../other.mp4\"")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the times of requests for the second section.
    private static func times(isHinted: Bool) throws -> [Duration] {
        let clock = VirtualClock()
        let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(10)))
        var origin = LowLatencyOrigin()
        origin.offersDeltaUpdates = false
        let source = origin
        let shelf = Shelf()
        let transport = SimulatedTransport(over: trace, clock: clock) { request in
            var request = request
            if request.urlString.hasSuffix("/other.mp4") {
                shelf.append(request.time)
                request.urlString = request.urlString.replacing("other.mp4", with: "init.mp4")
            }
            var response = source.response(to: request)
            if request.urlString.contains("live.m3u8") {
                response.body = Array(
                    changed(String(decoding: response.body, as: UTF8.self), isHinted: isHinted).utf8)
            }
            return response
        }
        let play = try VirtualPlay(
            origin.url(ofVariant: 1), clock: clock, transport: transport, limit: .seconds(16)
        ) { $0.decodesWithoutOutput = [.video] }
        #expect(play.log.lines.count { $0.contains("stalled") || $0.contains("failed") } == 0)
        #expect(play.state.statistics.numberOfDecodedVideoFrames > 350)
        return shelf.all
    }

    private final class Shelf: Sendable {
        private let state = Mutex<[Duration]>([])
        func append(_ time: Duration) { state.withLock { $0.append(time) } }
        var all: [Duration] { state.withLock { $0 } }
    }

    @Test("M05: a hinted initialization section is requested once, before its first part is listed")
    func map() throws {
        let hinted = try Self.times(isHinted: true)
        #expect(hinted.count == 1)
        #expect(try #require(hinted.first) < .milliseconds(8400))
        let plain = try Self.times(isHinted: false)
        #expect(plain.count == 1)
        #expect(try #require(plain.first) >= .milliseconds(8500))
    }
}
