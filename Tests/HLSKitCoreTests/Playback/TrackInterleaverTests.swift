import HLSKitMedia
import Synchronization
import Testing

@testable import HLSKitPlayback

@Suite("Interleaving kinds of media", .timeLimit(.minutes(10)))
struct LockstepTests {
    private final class Shared<Value: Sendable>: Sendable {
        private let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
        func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
    }

    private static func second(_ value: Double) -> Duration { .seconds(value) }

    /// Earlier events, and whether a frame at 5 s may be written after them.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isFree: Bool
        var setUp: @Sendable (TrackInterleaver) -> Void
    }

    private static let rows = [
        Row(testDescription: "pictures alone", isFree: true) { $0.join(.video) },
        Row(testDescription: "sound takes no part", isFree: true) { lockstep in
            lockstep.join(.video)
            _ = lockstep.isNext(second(1), of: .audio)
        },
        Row(testDescription: "pictures take no part", isFree: true) { $0.join(.audio) },
        Row(testDescription: "nothing of the sound was written", isFree: false) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
        },
        Row(testDescription: "sound is on its way", isFree: false) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            lockstep.setIdle(true, .audio)
        },
        Row(testDescription: "sound has ended", isFree: true) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            lockstep.setIdle(true, .audio)
            lockstep.end(.audio)
        },
        Row(testDescription: "the end of sound was none", isFree: false) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            lockstep.end(.audio)
            lockstep.setIdle(false, .audio)
        },
        Row(testDescription: "sound is at the same time", isFree: true) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            _ = lockstep.isNext(second(4), of: .audio)
        },
        Row(testDescription: "sound is too far behind", isFree: false) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            _ = lockstep.isNext(second(3.9), of: .audio)
        },
        Row(testDescription: "all sound of before was written", isFree: true) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            _ = lockstep.isNext(second(3.9), of: .audio)
            lockstep.noteHandedOn(upTo: second(4), of: .audio)
            lockstep.setIdle(true, .audio)
        },
        Row(testDescription: "sound of before is still to be written", isFree: false) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            _ = lockstep.isNext(second(3), of: .audio)
            lockstep.noteHandedOn(upTo: second(4), of: .audio)
        },
        Row(testDescription: "sound waits beyond a hole", isFree: true) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            _ = lockstep.isNext(second(60), of: .audio)
        },
        Row(testDescription: "sound has a hole that is not over yet", isFree: true) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            lockstep.setIdle(true, .audio)
            lockstep.noteMissingMedia(second(2)..<second(6), of: .audio)
            lockstep.noteHandedOn(upTo: second(2), of: .audio)
        },
        Row(testDescription: "sound is on its way to a hole", isFree: false) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            lockstep.setIdle(true, .audio)
            lockstep.noteHandedOn(upTo: second(1), of: .audio)
            lockstep.noteMissingMedia(second(2)..<second(6), of: .audio)
        },
        Row(testDescription: "time has jumped since", isFree: false) { lockstep in
            for type in [MediaKind.video, .audio] { lockstep.join(type) }
            lockstep.end(.audio)
            lockstep.restart()
        },
    ]

    @Test("S03: no kind runs ahead of another one with pending media", arguments: rows)
    func rule(_ row: Row) {
        let lockstep = TrackInterleaver()
        row.setUp(lockstep)
        #expect(lockstep.isNext(Self.second(5), of: .video) == row.isFree)
    }

    @Test(
        "S03: audio is never ahead of frames, which may change anywhere",
        arguments: [(4.9, false), (5.0, false), (5.1, true)])
    func audioIsBehind(frames: Double, isFree: Bool) {
        let lockstep = TrackInterleaver()
        for type in [MediaKind.video, .audio] { lockstep.join(type) }
        _ = lockstep.isNext(Self.second(frames), of: .video)
        #expect(lockstep.isNext(Self.second(5), of: .audio) == isFree)
        // Frames in flight from 5 s on may differ.
        let idle = TrackInterleaver()
        for type in [MediaKind.video, .audio] { idle.join(type) }
        idle.setIdle(true, .video)
        idle.noteHandedOn(upTo: Self.second(5), of: .video)
        #expect(!idle.isNext(Self.second(5), of: .audio))
        #expect(idle.isNext(Self.second(4.98), of: .audio))
    }

    @Test("S03: two tasks continue together to the end, also over missing media")
    func together() async {
        let lockstep = TrackInterleaver()
        let ahead = Shared((video: Duration.zero, audio: Duration.zero, isTooFar: false))
        lockstep.join(.video)
        lockstep.join(.audio)
        await withTaskGroup(of: Void.self) { group in
            for (type, step) in [(MediaKind.video, 0.04), (.audio, 0.0213)] {
                group.addTask {
                    var time = 0.0
                    while time < 12 {
                        await lockstep.wait(for: Self.second(time), of: type)
                        let now = Self.second(time)
                        ahead.withLock { ahead in
                            if type == .video { ahead.video = now } else { ahead.audio = now }
                        }
                        time += step
                        if (4..<8).contains(time) { time = 8 }
                        let far = ahead.withLock { max($0.video - $0.audio, $0.audio - $0.video) }
                        if far > .seconds(5.5) { ahead.withLock { $0.isTooFar = true } }
                    }
                    lockstep.end(type)
                }
            }
        }
        #expect(ahead.withLock { !$0.isTooFar && $0.video > .seconds(11) && $0.audio > .seconds(11) })
    }
}
