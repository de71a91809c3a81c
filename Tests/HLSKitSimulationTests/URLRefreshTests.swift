import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("URLs that expire during playback", .timeLimit(.minutes(10)))
struct URLRefreshTests {
    private final class Signer: URLRefresher {
        let deadline: Duration
        private let clock: VirtualClock
        private let delay: Duration
        private let url: String
        private let questions = Mutex<[ExpiredURL]>([])

        init(clock: VirtualClock, url: String, delay: Duration, deadline: Duration) {
            (self.clock, self.url, self.delay, self.deadline) = (clock, url, delay, deadline)
        }

        var asked: [ExpiredURL] { questions.withLock { $0 } }

        func freshURL(insteadOf expired: ExpiredURL) async throws -> String {
            questions.withLock { $0.append(expired) }
            try await clock.sleep(for: delay)
            return url
        }
    }

    private static let stream = SyntheticStream(
        bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: 15)

    /// Plays a stream at `old.invalid`, which refuses requests from 10 s on, and continues at `new.invalid`.
    private static func play(
        _ signer: Signer, clock: VirtualClock, frames: FrameLog
    ) throws -> VirtualPlay {
        let link = LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20))
        let transport = SimulatedTransport(over: NetworkTrace(constant: link), clock: clock) { request in
            if request.urlString.hasPrefix("https://old.invalid/"), request.time > .seconds(10) { return .status(403) }
            var inner = request
            inner.urlString = "https://synthetic.invalid/" + request.urlString.dropFirst("https://old.invalid/".count)
            return stream.response(to: inner)
        }
        return try VirtualPlay(
            "https://old.invalid/index.m3u8", clock: clock, transport: transport, writers: [frames],
            change: { $0.hooks.urlRefresher = signer }, prefer: { $0.preferredForwardBufferDuration = .seconds(8) })
    }

    @Test("D06: the app is asked once while playback continues, and every frame is shown once")
    func refreshed() throws {
        let clock = VirtualClock()
        let signer = Signer(
            clock: clock, url: "https://new.invalid/index.m3u8", delay: .seconds(3), deadline: .seconds(5))
        let frames = FrameLog(clock: clock)
        let play = try Self.play(signer, clock: clock, frames: frames)
        #expect(play.log.decisions.last == "played to end", "\(play.log.text)")
        #expect(signer.asked.count == 1)
        #expect(signer.asked.first?.itemURLString == "https://old.invalid/index.m3u8")
        #expect(signer.asked.first?.status == 403)
        #expect(play.state.statistics.numberOfStalls == 0)
        let times = frames.frames.map(\.itemTime)
        #expect(times.count == 750)
        #expect(times == times.sorted() && Set(times).count == times.count)
    }

    @Test("D06: without an answer in time the item ends after its loaded media was played")
    func deadline() throws {
        let clock = VirtualClock()
        let signer = Signer(
            clock: clock, url: "https://new.invalid/index.m3u8", delay: .seconds(100_000), deadline: .seconds(5))
        let frames = FrameLog(clock: clock)
        let play = try Self.play(signer, clock: clock, frames: frames)
        #expect(play.state.itemStatus == .failed, "\(play.log.text)")
        #expect(signer.asked.count == 1)
        #expect(play.duration < .seconds(30), "it waits for nothing but its deadline")
        let last = try #require(frames.frames.last)
        #expect(last.itemTime > .seconds(9))
        #expect(frames.frames.count == Int(((last.itemTime + .milliseconds(40)) / .milliseconds(40)).rounded()))
    }
}
