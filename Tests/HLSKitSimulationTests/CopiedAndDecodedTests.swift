import HLSKitCore
import HLSKitMedia
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@Suite("Media that is remuxed and decoded", .timeLimit(.minutes(10)))
struct CopiedAndDecodedTests {
    private final class Copies: SampleWriter {
        let mediaTypes: Set<MediaKind> = [.video]
        private let state = Mutex<[Int64]>([])
        var timestamps: [Int64] { state.withLock(\.self) }
        func begin(_ tracks: [MediaTrack]) {}
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) {
            state.withLock { $0.append(sample.dts) }
        }
        func flush() {}
        func finish() {}
    }

    private static func start(_ session: PartStage.Session) throws -> Double {
        let startup = try #require(session.play.state.statistics.startupTime)
        return startup / .seconds(1)
    }

    @Test(
        "playback begins as early as without remuxing, and both outputs have each frame once",
        arguments: [1, 4], [true, false])
    func both(threadCount: Int, isLowLatency: Bool) throws {
        func play(_ copies: Copies?) throws -> PartStage.Session {
            try PartStage().play(
                {
                    $0.decodingThreadCount = threadCount
                    $0.allowsLowLatency = isLowLatency
                }, prefer: { item in if let copies { item.add(copies) } })
        }
        let copies = Copies()
        let (alone, session) = (try play(nil), try play(copies))
        #expect(session.stallCount + session.lossCount == 0, "\(session.play.log.text)")
        #expect(try abs(Self.start(session) - Self.start(alone)) < 0.05)
        let frames = session.presented.frames
        #expect(frames.count > 600, "\(frames.count)")
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })
        #expect(session.presented.breaks.count <= alone.presented.breaks.count)
        let steps = Set(zip(copies.timestamps, copies.timestamps.dropFirst()).map { $1 - $0 })
        #expect(steps == [3750], "\(steps)")
        #expect(abs(copies.timestamps.count - frames.count) <= 26, "\(copies.timestamps.count) \(frames.count)")
    }
}
