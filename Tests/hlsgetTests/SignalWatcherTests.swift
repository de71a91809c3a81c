import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HLSGetKit

@Suite("Signals", .serialized, .timeLimit(.minutes(10)))
struct SignalWatcherTests {
    @Test(
        "the first signal ends cleanly, one within a second is ignored, a later one aborts",
        arguments: [
            ([0], [.finish(signal: SIGINT)]),
            ([0, 0], [.finish(signal: SIGINT), .ignore]),
            ([5000, 5001, 5999, 6000], [.finish(signal: SIGINT), .ignore, .ignore, .abort(signal: SIGINT)]),
            ([0, 1000, 1001], [.finish(signal: SIGINT), .abort(signal: SIGINT), .abort(signal: SIGINT)]),
        ] as [([Int], [InterruptState.Action])])
    func machine(milliseconds: [Int], actions: [InterruptState.Action]) {
        var state = InterruptState()
        #expect(milliseconds.map { state.handle(signal: SIGINT, at: .milliseconds($0)) } == actions)
    }

    @Test("a second signal of any kind aborts, and determines the exit status")
    func another() {
        var state = InterruptState()
        #expect(state.handle(signal: SIGHUP, at: .zero) == .finish(signal: SIGHUP))
        #expect(state.handle(signal: SIGTERM, at: .milliseconds(1)) == .ignore)
        #expect(state.handle(signal: SIGTERM, at: .seconds(2)) == .abort(signal: SIGTERM))
        #expect(state.firstSignal == SIGHUP)
    }

    private final class StandingClock: Clock {
        struct Instant: InstantProtocol {
            var offset: Duration
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        }

        private let time = Mutex(Duration.zero)
        var now: Instant { Instant(offset: time.withLock(\.self)) }
        var minimumResolution: Duration { .nanoseconds(1) }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
        func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
    }

    @Test("raised signals arrive, and a later one aborts")
    func raised() async {
        let (aborts, continuation) = AsyncStream.makeStream(of: Int32.self)
        let clock = StandingClock()
        let watcher = SignalWatcher(signals: [SIGUSR1, SIGUSR2], clock: clock) { continuation.yield($0) }
        kill(getpid(), SIGUSR1)
        for await signal in watcher.requests {
            #expect(signal == SIGUSR1)
            break
        }
        clock.advance(by: .seconds(1))
        kill(getpid(), SIGUSR2)
        for await signal in aborts {
            #expect(signal == SIGUSR2)
            break
        }
    }

    @Test("an aborted run names its unfinished files and folder, and no other files")
    func leftovers() throws {
        let folder = try ScratchFolder()
        for name in ["a.b.mp4.part", "a.b.2.mp4.part", "a.bc.mp4.part", "a.b.x.mp4.part", "b.ts"] {
            try folder.write([], to: name)
        }
        let leftovers = CleanupRegistry()
        #expect(leftovers.line == "hlsget: stopped immediately")
        for name in ["a.b.mp4", "b.ts"] { leftovers.add(file: "\(folder.path)/\(name)") }
        leftovers.add(file: "-")
        #expect(
            leftovers.line == "hlsget: stopped immediately; the output is in "
                + "\(folder.path)/a.b.2.mp4.part, \(folder.path)/a.b.mp4.part")
        let download = CleanupRegistry()
        download.add(folder: folder.path)
        download.add(folder: folder.path + "/none")
        #expect(download.line == "hlsget: stopped immediately; run the same command to resume from \(folder.path)")
    }

    @Test("a closed pipe is a write error and does not end the process")
    func brokenPipe() {
        let watcher = SignalWatcher(signals: [SIGUSR1]) { _ in }
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        StandardStream(descriptor: ends[1]).write("nobody reads this")
        var byte: UInt8 = 0
        #expect(write(ends[1], &byte, 1) == -1)
        #expect(errno == EPIPE)
        close(ends[1])
        withExtendedLifetime(watcher) {}
    }
}
