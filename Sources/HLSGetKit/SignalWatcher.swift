// The only file that uses signals and Dispatch, because Swift has no API for signals. A dispatch source handles them
// outside a signal handler, where almost nothing may be called. (On the allow-list of CI's check for DispatchQueue:
// nothing here measures or waits for time.)
import Dispatch
import Glibc
import HLSKitCore
import Synchronization

/// The handling of termination signals. The first one requests a clean exit; a later one exits immediately.
struct InterruptState: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// Stop, finish the files, print the summary, exit with 128 + signal.
        case finish(signal: Int32)
        /// A repetition of the same request.
        case ignore
        /// Exit with 128 + signal immediately.
        case abort(signal: Int32)
    }

    /// Signals within this time of the first one are one request. `timeout` signals its child and then its whole
    /// process group, and a closing terminal sends SIGHUP after Ctrl-C.
    static let samePreference = Duration.seconds(1)

    private(set) var firstSignal: Int32?
    private var began = Duration.zero

    /// - Parameter time: The time of the signal, on any clock that advances.
    mutating func handle(signal: Int32, at time: Duration) -> Action {
        guard firstSignal != nil else {
            firstSignal = signal
            began = time
            return .finish(signal: signal)
        }
        return time - began < Self.samePreference ? .ignore : .abort(signal: signal)
    }
}

/// Watches for SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE. Writing to a closed pipe then fails with EPIPE.
///
/// SIGHUP stays ignored if it was ignored at the start (`nohup`).
package final class SignalWatcher: Sendable {
    /// Yields the signal that requests a clean exit, at most once.
    package let requests: AsyncStream<Int32>

    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]  // only cancelled, which is thread-safe

    /// Watches until it is released. `abort` is called on a separate thread when a second signal requests an immediate
    /// exit.
    package init(
        signals: [Int32] = [SIGINT, SIGTERM, SIGHUP], clock: any Clock<Duration> = SourceClock.host,
        abort: @escaping @Sendable (_ signal: Int32) -> Void = { CleanupRegistry().end(signal: $0) }
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
        // Until a source is registered (microseconds), a signal would end the process immediately.
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

/// Watches for SIGHUP in commands where it requests a reload. It may arrive repeatedly.
///
/// SIGHUP is watched even if it was ignored at the start (`nohup`), because the sender addresses the command
/// deliberately.
package final class ReloadSignal: Sendable {
    /// An element for each request. Requests before the previous one was taken are merged.
    package let requests: AsyncStream<Void>

    nonisolated(unsafe) private let source: any DispatchSourceSignal  // only cancelled, which is thread-safe

    package init() {
        // Without this, the signal would end the process before the source sees it.
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
