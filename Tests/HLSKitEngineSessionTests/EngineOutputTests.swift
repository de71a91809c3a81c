import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, waiting for outputs")
struct EngineOutputTests {
    private static func origin() -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.answer("v.m3u8", .text(.numbered(0, count: 5, prefix: "v", isEnded: true)))
        return origin
    }

    private static func harness(
        decodes: Bool = true, _ configure: (inout EngineConfiguration) -> Void = { _ in }
    ) -> EngineHarness {
        var configuration = EngineConfiguration()
        configuration.seeksAwaitOutputs = true
        configure(&configuration)
        var harness = EngineHarness(origin: origin(), configuration: configuration)
        harness.decodes = decodes
        harness.open("v.m3u8")
        return harness
    }

    @Test("time does not run before the first media is decoded")
    func firstFrame() throws {
        var harness = Self.harness(decodes: false)
        harness.control(.play)
        harness.run(until: .seconds(2))
        #expect(harness.state.timeControlStatus == .waitingToPlayAtSpecifiedRate)
        #expect(harness.state.timebaseRate == 0)
        #expect(harness.primes.count == 1)
        harness.answerPrime()
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.state.timebaseRate == 1)
        #expect(harness.state.currentTime == .zero)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(!harness.story.contains("stalled"))
        #expect(harness.primes.count == 1)
    }

    @Test("a decoder without output does not block the start for ever")
    func nothingComes() {
        var harness = Self.harness(decodes: false)
        harness.control(.play)
        harness.run(until: .seconds(8))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.playingSince.map { $0 <= .seconds(6) } == true)
    }

    @Test("a delayed play, or one without automatic waiting, does not wait for the decoder", arguments: [true, false])
    func nobodyWaits(waitsAutomatically: Bool) {
        var harness = Self.harness(decodes: waitsAutomatically)
        if !waitsAutomatically { harness.control(.setAutomaticallyWaits(false)) }
        harness.run(until: .seconds(3))
        #expect(harness.primes.count == (waitsAutomatically ? 1 : 0))
        harness.control(.play)
        #expect(harness.state.timeControlStatus == .playing)
    }

    @Test("a seek before the first media prerolls once, and time runs when its media is decoded")
    func seekFirst() {
        var harness = Self.harness(decodes: false)
        harness.control(.play)
        harness.run(until: .seconds(2))
        harness.control(.seek(to: .seconds(9)))
        harness.run(until: .seconds(3))
        #expect(harness.state.timebaseRate == 0)
        harness.answerPrime()
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.state.timebaseRate == 1)
        #expect(harness.seekOutcomes == [true])
    }

    @Test("an end time is reported when the outputs have reached it")
    func endTime() {
        var harness = Self.harness()
        harness.control(.setForwardPlaybackEndTime(.seconds(6)))
        harness.control(.play)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        let ended = harness.time { if case .didPlayToEnd = $0 { true } else { false } }
        let began = harness.playingSince
        #expect(ended.flatMap { end in began.map { end - $0 } } == .seconds(6))
    }

    @Test("outputs that never reach an end time delay the end by at most a second")
    func stuckOutput() throws {
        var harness = Self.harness()
        harness.stuckLanes = [.main]
        harness.control(.setForwardPlaybackEndTime(.seconds(6)))
        harness.control(.play)
        harness.runToEnd(by: .seconds(30))
        let ended = try #require(harness.time { if case .didPlayToEnd = $0 { true } else { false } })
        let began = try #require(harness.playingSince)
        #expect(ended - began > .seconds(6))
        #expect(ended - began <= .seconds(7))
    }

    @Test(
        "an item without decodable media fails at its end; a seek back restarts it",
        arguments: [true, false])
    func undecodable(seeks: Bool) {
        var harness = Self.harness()
        harness.control(.play)
        harness.run(until: .seconds(10))
        let error = HLSError(code: .badMedia, cause: "no video can be decoded")
        harness.report(.undecodable(.main, error, isAll: false))
        #expect(
            harness.events.contains {
                if case .recoverableError(let reported) = $0.kind { reported.code == .badMedia } else { false }
            })
        harness.report(.undecodable(.main, error, isAll: true))
        #expect(harness.error == nil)
        if seeks { harness.control(.seek(to: .seconds(3))) }
        harness.runToEnd()
        #expect(harness.didPlayToEnd == seeks)
        #expect(harness.error?.code == (seeks ? nil : .badMedia))
        #expect(seeks || harness.error?.url != nil)
    }

    @Test(
        "only the segment after an end time is loaded for the audio before it", arguments: [true, false])
    func audioPastEnd(lacksAudio: Bool) throws {
        var harness = Self.harness()
        harness.control(.setForwardPlaybackEndTime(.seconds(8)))
        harness.control(.play)
        harness.run(until: .seconds(30)) { $0.loadedSegments.count == 1 }
        if lacksAudio {
            let next = harness.run(until: .seconds(30)) {
                $0.engine.item?.lanes[.main]?.segments.first?.job.start == .seconds(4)
            }
            #expect(next)
            let id = try #require(harness.engine.item?.lanes[.main]?.segments.first?.id)
            harness.note(.audioEnded(id, at: .milliseconds(7940)))
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.mediaPaths == (0..<(lacksAudio ? 3 : 2)).map { "v\($0).ts" })
        #expect(harness.violations.isEmpty)
    }
}
