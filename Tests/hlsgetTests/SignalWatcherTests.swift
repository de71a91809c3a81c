import Glibc
import Synchronization
import Testing

@testable import hlsget

@Suite("signals", .serialized, .timeLimit(.minutes(1)))
struct SignalWatcherTests {
    @Test("the first signal asks for a clean end, each further one ends at once")
    func machine() {
        var state = InterruptState()
        #expect(state.handle(signal: SIGINT) == .finish(signal: SIGINT))
        #expect(state.handle(signal: SIGTERM) == .abort(signal: SIGTERM))
        #expect(state.handle(signal: SIGINT) == .abort(signal: SIGINT))
        #expect(state.firstSignal == SIGINT)
    }

    @Test("signals that are raised arrive, and the second one aborts")
    func raised() async {
        let (aborts, continuation) = AsyncStream.makeStream(of: Int32.self)
        let watcher = SignalWatcher(signals: [SIGUSR1, SIGUSR2]) { continuation.yield($0) }
        kill(getpid(), SIGUSR1)
        for await signal in watcher.requests {
            #expect(signal == SIGUSR1)
            break
        }
        kill(getpid(), SIGUSR2)
        for await signal in aborts {
            #expect(signal == SIGUSR2)
            break
        }
    }

    @Test("a closed pipe is an error of the write, not the end of the program")
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
