import HLSKitCore
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

/// Images of a live stream with segments of 2 s in a window of 16 s. Its I-frame playlist, if any, has a frame every
/// 0.5 s and its own sequence numbers.
@Suite("Images of live streams", .timeLimit(.minutes(10)))
struct LiveImageTests {
    private final class Visits: Sendable {
        private let state = Mutex<[String]>([])
        func append(_ url: String) {
            state.withLock { $0.append(url.split(separator: "/").last.map(String.init) ?? "") }
        }
        var all: [String] { state.withLock { $0 } }
        func lists(_ name: String) -> Int { all.count { $0.hasPrefix(name) } }
    }

    private static let base = "https://low-latency.invalid/"

    /// Returns an I-frame playlist that lists the parts of the window as frames. It contains the parts that are
    /// complete at `time`.
    private static func iFrames(of origin: LowLatencyOrigin, at time: Duration) -> String {
        let end = Int(time / origin.partDuration) + origin.windowSegmentCount * origin.partsPerSegment
        let first = end - origin.windowSegmentCount * origin.partsPerSegment
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-I-FRAMES-ONLY\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(5000 + first)\n#EXT-X-MAP:URI=\"init.mp4\"\n"
        let date = origin.epoch + origin.partDuration * (first - origin.windowSegmentCount * origin.partsPerSegment)
        text += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
        for part in first..<end { text += "#EXTINF:0.5,\n1/\(part / 4).\(part % 4).m4s\n" }
        return text
    }

    private static func generate(
        withIFrames: Bool,
        _ body: @escaping @Sendable (ImageGenerator, VirtualClock) async throws -> Void
    ) throws -> Visits {
        let (origin, clock, visits) = (LowLatencyOrigin(), VirtualClock(), Visits())
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(10)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            visits.append(request.urlString)
            if request.urlString == base + "i.m3u8" {
                return SimulatedResponse(body: Array(iFrames(of: origin, at: request.time).utf8))
            }
            var response = origin.response(to: request)
            if withIFrames, request.urlString == origin.url {
                response.body += Array("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI=\"i.m3u8\"\n".utf8)
            }
            return response
        }
        let options = AssetOptions(clock: clock, transport: transport)
        let generator = ImageGenerator(asset: Asset(urlString: origin.url, options: options))
        try clock.run { try await body(generator, clock) }
        return visits
    }

    private static func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 1000) }

    @Test(
        "L04: images come from the current window on one timeline; an old playlist is loaded again",
        arguments: [true, false])
    func window(withIFrames: Bool) throws {
        let visits = try Self.generate(withIFrames: withIFrames) { generator, clock in
            let first = try await generator.loadTimeRange()
            #expect(first.start == .zero && (15.5...16.5).contains(first.duration.seconds))
            for time in [1.0, 9.2] {
                let actual = try await generator.image(at: Self.seconds(time)).actualTime.seconds
                #expect(abs(actual - time) <= (withIFrames ? 0.5 : 2), "\(actual) for \(time)")
            }
            try await clock.sleep(for: .seconds(30))
            let later = try await generator.loadTimeRange()
            #expect((28...30.5).contains(later.start.seconds) && (15.5...16.5).contains(later.duration.seconds))
            for time in [31.0, 40.7] {
                let actual = try await generator.image(at: Self.seconds(time)).actualTime.seconds
                #expect(abs(actual - time) <= (withIFrames ? 0.5 : 2), "\(actual) for \(time)")
            }
        }
        let name = withIFrames ? "i.m3u8" : "live.m3u8"
        #expect((2...3).contains(visits.lists(name)), "\(visits.all)")
    }

    @Test("L04: times outside the window have no image with zero tolerance")
    func outside() throws {
        _ = try Self.generate(withIFrames: true) { generator, clock in
            _ = try await generator.loadTimeRange()
            try await clock.sleep(for: .seconds(30))
            generator.requestedTimeToleranceBefore = .zero
            generator.requestedTimeToleranceAfter = .zero
            for time in [5.0, 60] {
                await #expect(throws: HLSError.self) { try await generator.image(at: Self.seconds(time)) }
            }
            // An exact image comes from a variant, which shares the frames' timeline.
            let actual = try await generator.image(at: Self.seconds(36.25)).actualTime.seconds
            #expect(abs(actual - 36.25) < 0.05, "\(actual)")
        }
    }
}
