import HLSKitCore
import HLSKitSimulation
import Testing

/// Starts of playback with parts if the first media is slow. Parts last 0.5 s. Only the first of the four parts in a
/// segment is independent. `PART-HOLD-BACK` is 1.5 s.
@Suite("Start at the live edge", .timeLimit(.minutes(10)))
struct EdgeStartTests {
    /// The link has a round trip of 80 ms and four times the bit rate.
    private static func stage(lag: Int) -> PartStage {
        var stage = PartStage()
        stage.origin.bitRates = [400_000, 1_400_000]
        stage.origin.independentInterval = 4
        stage.origin.lags = Array(repeating: .milliseconds(lag), count: 2)
        stage.latency = .milliseconds(80)
        stage.bitsPerSecond = 6_000_000
        return stage
    }

    @Test(
        "M06: loading the first media adds nothing to the latency, and nothing is loaded twice",
        arguments: [0, 40, 120, 250, 380, 490], [true, false])
    func slow(lag: Int, keepsPresented: Bool) throws {
        let session = try Self.stage(lag: lag).play {
            $0.wallClock = { LowLatencyOrigin().epoch }
            if !keepsPresented { $0.buffering.backDuration = .zero }
        }
        let live = try #require(session.play.state.statistics.live)
        #expect(session.stallCount + session.lossCount == 0, "\(session.play.log.text)")
        // A later listing delays playback, and a playlist takes as long as any request.
        let latency = try #require(live.latency(atPercentile: 0.95))
        #expect((Duration.milliseconds(1490 + lag)...(.milliseconds(1710 + lag))).contains(latency), "\(latency)")
        #expect(session.count("jumped") == 0)
        #expect(Set(session.visits.names).count == session.visits.names.count)
        // The only gap is between the first frame and the time from which playback continues, if they differ.
        let breaks = session.presented.breaks
        #expect(breaks.count <= 1)
        #expect(breaks.allSatisfy { $0.lowerBound == session.presented.frames.first?.seconds }, "\(breaks)")
    }

    @Test("M05: a start that waits for the next playlist also begins if that has no more parts")
    func declined() throws {
        var stage = Self.stage(lag: 250)
        stage.answer = { request, response in
            guard request.urlString.contains("live.m3u8?") else { return response }
            var response = response
            let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            let whole = lines.filter { !$0.hasPrefix("#EXT-X-PART") && !$0.hasPrefix("#EXT-X-PRELOAD") }
            response.body = Array((whole.joined(separator: "\n") + "\n").utf8)
            return response
        }
        let session = try stage.play()
        #expect(session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.presented.frames.count > 500)
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
