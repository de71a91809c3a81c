import HLSKitCore
import HLSKitSimulation
import Testing

/// Servers that stop supporting low latency while a player is 1.5 s behind the edge. Segments last 2 s.
@Suite("Players that return from parts to segments", .timeLimit(.minutes(10)))
struct PartDeclineTests {
    struct Change: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var faults: [LowLatencyOrigin.Fault.Kind] = []
        /// Replacements in playlists from 5 s on.
        var replaced: [String: String] = [:]
        var stallCount = 1
        /// The reported cause, or `nil` if the playlist offers no low latency at all.
        var cause: String?
    }

    static let changes: [Change] = [
        Change(
            testDescription: "nothing is held", faults: [.doesNotHold], stallCount: 3, cause: "though it says so"),
        Change(
            testDescription: "no answer", faults: [.neverAnswers], stallCount: 4, cause: "though it says so"),
        Change(
            testDescription: "it does not say any more that it holds", replaced: ["CAN-BLOCK-RELOAD=YES,": ""],
            cause: "does not hold requests (CAN-BLOCK-RELOAD)"),
        Change(
            testDescription: "no hold-back", replaced: [",PART-HOLD-BACK=1.5": ""], cause: "no PART-HOLD-BACK"),
        Change(
            testDescription: "a short hold-back", replaced: ["PART-HOLD-BACK=1.5": "PART-HOLD-BACK=0.6"],
            cause: "below two parts"),
        Change(testDescription: "no part target", replaced: ["#EXT-X-PART-INF": "#X"], cause: "no PART-TARGET"),
        Change(testDescription: "long parts", faults: [.understatesPartTarget], cause: "longer than PART-TARGET"),
        Change(testDescription: "no parts", replaced: ["#EXT-X-PART": "#X"]),
    ]

    private static func stage(_ change: Change) -> PartStage {
        var stage = PartStage()
        stage.limit = .seconds(40)
        let period = Duration.seconds(5)..<Duration.seconds(1000)
        stage.origin.faults = change.faults.map { .init($0, during: period) }
        stage.answer = { request, response in
            guard request.time > .seconds(5), request.urlString.contains("live.m3u8") else { return response }
            var text = String(decoding: response.body, as: UTF8.self)
            for (old, new) in change.replaced { text = text.replacing(old, with: new) }
            var response = response
            response.body = Array(text.utf8)
            return response
        }
        return stage
    }

    @Test(
        "M05: one wait leads to the ordinary distance; the reason is reported once, and nothing stalls",
        arguments: changes)
    func declined(_ change: Change) throws {
        let session = try Self.stage(change).play()
        #expect(session.lossCount == 0)
        #expect(session.presented.breaks == [])
        #expect(session.count("no low latency") == (change.cause == nil ? 0 : 1))
        if let cause = change.cause { #expect(session.count(cause) == 1) }
        #expect((1...change.stallCount).contains(session.stallCount), "\(session.play.log.text)")
        let offset = try #require(session.play.state.liveOffset)
        // Three target durations plus the stall, minus the media that was listed when it began.
        #expect((Duration.seconds(3)...(.seconds(8))).contains(offset), "\(offset)")
        #expect(session.play.state.currentTime > .seconds(40))
    }

    @Test("M05: a preserved distance is then the ordinary one")
    func preserved() throws {
        let change = Self.changes[3]
        let session = try Self.stage(change).play(prefer: { $0.automaticallyPreservesTimeOffsetFromLive = true })
        #expect(session.stallCount == 1)
        #expect(session.lossCount == 0)
    }

    @Test("M05: a distance configured for parts does not stall at every segment")
    func configured() throws {
        let session = try Self.stage(Self.changes[3]).play(prefer: {
            $0.configuredTimeOffsetFromLive = MediaTime(seconds: 1.2, preferredTimescale: 1000)
        })
        #expect(session.stallCount <= 2)
        #expect(session.presented.breaks == [])
    }

    @Test("M05: parts that are offered again are loaded again without a stall")
    func restored() throws {
        var stage = Self.stage(Change(testDescription: ""))
        stage.answer = { request, response in
            guard (Duration.seconds(5)...(.seconds(20))).contains(request.time),
                request.urlString.contains("live.m3u8")
            else { return response }
            var response = response
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(text.replacing(",PART-HOLD-BACK=1.5", with: "").utf8)
            return response
        }
        let session = try stage.play()
        #expect(session.stallCount == 1)
        #expect(session.lossCount == 0)
        #expect(session.presented.breaks == [])
        #expect(session.visits.names.last?.split(separator: ".").count == 2)
    }
}
