import HLSKitCore
import HLSKitSimulation
import HLSMedia
import HLSTime
import Synchronization
import TestSupport
import Testing

/// Samples that are copied lie behind a break that is called off: none is missing, and none comes twice.
@Suite("copies and breaks that come and go", .ownThread, .timeLimit(.minutes(2)))
struct BreakCopyTests {
    /// Keeps the times, in frames, of all samples that it is given.
    private final class Copies: SampleWriter {
        let mediaTypes: Set<MediaType> = [.video]
        private let state = Mutex<[Int]>([])
        var frames: [Int] { state.withLock(\.self) }
        func begin(_ tracks: [MediaTrack]) {}
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) {
            state.withLock { $0.append(Int((itemTime.seconds * 25).rounded())) }
        }
        func flush() {}
        func finish() {}
    }

    struct Way: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var decodes = false
        var pacing = PlayerConfiguration.Pacing.realTime
    }

    private static let ways = [
        Way(testDescription: "copied"),
        Way(testDescription: "copied and decoded", decodes: true),
    ]

    /// Plays 20 s with one break, and says which frames were copied.
    private static func play(
        _ way: Way, breakAt time: Double, act: @escaping @Sendable (Player, VirtualClock) async throws -> Void
    ) throws -> [Int] {
        let queue = try VirtualQueue(["main": 20, "ad": 6]) { $0.decodesWithoutOutput = way.decodes ? [.video] : [] }
        let copies = Copies()
        let event = BreakTests.event(at: time, ["ad"])
        try queue.clock.run {
            let item = queue.item("main", to: copies)
            let player = try Player(item: item, configuration: queue.configuration)
            let stream = player.events()
            InterstitialEventController(primaryPlayer: player).setEvents([event], for: item)
            player.play()
            let user = Task(executorPreference: queue.clock) { try await act(player, queue.clock) }
            let end = Task(executorPreference: queue.clock) {
                try? await queue.clock.sleep(for: .seconds(60))
                await player.close()
            }
            for await event in stream where event.isLast { break }
            try await user.value
            end.cancel()
            await player.close()
        }
        return copies.frames
    }

    @Test(
        "a break that is taken away around its time costs no sample, between segments and in one",
        arguments: ways, [8.0, 7.0])
    func takenAway(_ way: Way, _ time: Double) throws {
        for moment in stride(from: time - 1.2, through: time + 0.4, by: 0.02) {
            let frames = try Self.play(way, breakAt: time) { player, clock in
                try await clock.sleep(for: .seconds(moment))
                InterstitialEventController(primaryPlayer: player).events = []
            }
            #expect(Self.odd(frames).isEmpty, "at \(moment): \(frames.count) \(Self.odd(frames))")
        }
    }

    /// Where a frame does not follow from the one before.
    private static func odd(_ frames: [Int]) -> [String] {
        zip(frames, frames.dropFirst()).filter { $0.1 - $0.0 != 1 }.map { "\($0.0) \($0.1)" }
    }
}
