// The one file that knows signals and Dispatch: signals have no Swift API, and a dispatch source is the way to take
// them outside of a signal handler, where almost nothing may be called. (On the allow-list of CI's check for
// DispatchQueue: nothing here measures or waits for time.)
import Dispatch
import Glibc
import HLSKitCore
import Synchronization

/// The handling of signals that end the program: the first asks for a clean end, one that comes a while later ends it
/// at once.
struct InterruptState: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// Stop, finish the files, print the summary, exit with 128 + signal.
        case finish(signal: Int32)
        /// The same request once more.
        case ignore
        /// Exit with 128 + signal, now.
        case abort(signal: Int32)
    }

    /// Whoever ends a program often does it twice within moments: `timeout` signals its child and then the child's whole
    /// group, and a terminal that is closed sends SIGHUP behind a Ctrl-C. No one has become impatient in so short a
    /// time.
    static let sameWish = Duration.seconds(1)

    private(set) var firstSignal: Int32?
    private var began = Duration.zero

    /// - Parameter time: when it came, on any clock that advances.
    mutating func handle(signal: Int32, at time: Duration) -> Action {
        guard firstSignal != nil else {
            firstSignal = signal
            began = time
            return .finish(signal: signal)
        }
        return time - began < Self.sameWish ? .ignore : .abort(signal: signal)
    }
}

/// Watches for SIGINT, SIGTERM and SIGHUP, and keeps SIGPIPE from ending the program, so that a closed pipe is an error of
/// the write (EPIPE).
///
/// Where SIGHUP is ignored (`nohup`), it stays so.
package final class SignalWatcher: Sendable {
    /// Yields the signal that asks for a clean end, at most one.
    package let requests: AsyncStream<Int32>

    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]  // only cancelled, which any thread may

    /// Watches until it is released. `abort` is called when a second signal asks for an end at once, on a thread of its
    /// own.
    package init(
        signals: [Int32] = [SIGINT, SIGTERM, SIGHUP], clock: any Clock<Duration> = SourceClock.host,
        abort: @escaping @Sendable (_ signal: Int32) -> Void = { Leftovers().end(signal: $0) }
    ) {
        signal(SIGPIPE, SIG_IGN)
        let now = Self.stopwatch(clock)
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        requests = stream
        let state = SharedInterruptState()
        let queue = DispatchQueue(label: "hlsget.signals")
        let registrations = DispatchGroup()
        sources = signals.filter { $0 != SIGHUP || !Self.isIgnored($0) }.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                switch state.handle(signal: number, at: now()) {
                case .finish(let signal): continuation.yield(signal)
                case .ignore: break
                case .abort(let signal): abort(signal)
                }
            }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
            return source
        }
        // Until a source is registered (microseconds), a signal would end the program as if no one watched.
        registrations.wait()
    }

    deinit {
        for source in sources { source.cancel() }
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }

    private final class SharedInterruptState: Sendable {
        private let state = Mutex(InterruptState())
        func handle(signal: Int32, at time: Duration) -> InterruptState.Action {
            state.withLock { $0.handle(signal: signal, at: time) }
        }
    }
}

/// Watches for SIGHUP where it asks for something to be read again, which it may do any number of times.
///
/// Where SIGHUP is ignored (`nohup`), whoever sends it means the program all the same, and it is watched for.
package final class ReloadSignal: Sendable {
    /// An element for each wish; wishes that come before the last one was taken are one.
    package let requests: AsyncStream<Void>

    nonisolated(unsafe) private let source: any DispatchSourceSignal  // only cancelled, which any thread may

    /// Watches until it is released.
    package init() {
        // Else the signal would end the program before the source sees it.
        signal(SIGHUP, SIG_IGN)
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        requests = stream
        let registration = DispatchGroup()
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "hlsget.reload"))
        source.setEventHandler { continuation.yield() }
        registration.enter()
        source.setRegistrationHandler { registration.leave() }
        source.resume()
        registration.wait()
    }

    deinit { source.cancel() }
}
