import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("A player in virtual time", .timeLimit(.minutes(10)))
struct PlayerDeterminismTests {
    static let tunnel = """
        20000,6000,40
        30000,20,300
        40000,6000,40
        """

    static func play(
        _ stream: SyntheticStream, over trace: String = tunnel,
        _ change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> VirtualPlay {
        let clock = VirtualClock()
        let transport = SimulatedTransport(stream, over: try NetworkTrace(parsing: trace.utf8), clock: clock)
        return try VirtualPlay(stream.urlString, clock: clock, transport: transport, change: change)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var stream = SyntheticStream(segmentCount: 20)
        var change: @Sendable (inout PlayerConfiguration) -> Void = { _ in }
    }

    static let cases = [
        Case(testDescription: "demuxed"),
        Case(testDescription: "only loaded") { $0.demuxesMedia = false },
        Case(testDescription: "decoded") { $0.decodesWithoutOutput = [.video] },
        Case(testDescription: "as fast as it comes") {
            $0.pacing = .unpaced
            $0.decodesWithoutOutput = [.video]
        },
        Case(testDescription: "live", stream: SyntheticStream(segmentCount: 20, liveWindow: 5)),
    ]

    @Test("the same inputs give the same events, byte for byte", arguments: cases)
    func determinism(_ test: Case) throws {
        let first = try Self.play(test.stream, test.change)
        #expect(first.log.decisions.first == "rate 1.0 setRateCalled", "told before there was an item")
        #expect(first.log.decisions.last == "played to end", "\(first.log.text)")
        for _ in 0..<3 { #expect(try Self.play(test.stream, test.change).log.text == first.log.text) }
    }

    @Test("two minutes of media take two minutes of the clock, and all of it is decoded")
    func time() throws {
        let play = try Self.play(SyntheticStream(segmentCount: 20), over: "1000,50000,20\n") {
            $0.decodesWithoutOutput = [.video]
        }
        #expect(play.log.decisions.last == "played to end")
        #expect(play.state.statistics.numberOfDecodedVideoFrames == 3000)
        #expect(play.state.statistics.numberOfDroppedVideoFrames == 0)
        #expect(play.state.statistics.numberOfDamagedSamples == 0)
        #expect(play.duration > .seconds(120))
        #expect(play.duration < .seconds(121))
    }
}
