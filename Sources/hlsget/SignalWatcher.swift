// The one file that knows signals and Dispatch: signals have no Swift API, and a dispatch source is the way to take
// them outside of a signal handler, where almost nothing may be called. (On the allow-list of CI's check for
// DispatchQueue: nothing here measures or waits for time.)
import Dispatch
import Glibc
import Synchronization

/// What to do about signals that end the program: the first asks for a clean end, the next one ends it at once.
struct InterruptState: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// Stop, finish the files, print the summary, exit with 128 + signal.
        case finish(signal: Int32)
        /// Exit with 128 + signal, now.
        case abort(signal: Int32)
    }

    private(set) var firstSignal: Int32?

    mutating func handle(signal: Int32) -> Action {
        guard firstSignal == nil else { return .abort(signal: signal) }
        firstSignal = signal
        return .finish(signal: signal)
    }
}

/// Watches for SIGINT and SIGTERM, and keeps SIGPIPE from ending the program, so that a closed pipe is an error of
/// the write (EPIPE, exit 9).
final class SignalWatcher: Sendable {
    /// Yields the signal that asks for a clean end, at most one.
    let requests: AsyncStream<Int32>

    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]  // only cancelled, which any thread may

    /// Watches until it is released. `abort` is called on the second signal, on a thread of its own.
    init(
        signals: [Int32] = [SIGINT, SIGTERM],
        abort: @escaping @Sendable (_ signal: Int32) -> Void = { _exit(128 + $0) }
    ) {
        signal(SIGPIPE, SIG_IGN)
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        requests = stream
        let state = SharedInterruptState()
        let queue = DispatchQueue(label: "hlsget.signals")
        let registrations = DispatchGroup()
        sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                // Signals that came in quick succession are one event with a count.
                for _ in 0..<max(1, source.data) {
                    switch state.handle(signal: number) {
                    case .finish(let signal): continuation.yield(signal)
                    case .abort(let signal): abort(signal)
                    }
                }
            }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
            return source
        }
        // Until a source is registered (microseconds), a signal would end the program as if nobody watched.
        registrations.wait()
    }

    deinit {
        for source in sources { source.cancel() }
    }

    private final class SharedInterruptState: Sendable {
        private let state = Mutex(InterruptState())
        func handle(signal: Int32) -> InterruptState.Action { state.withLock { $0.handle(signal: signal) } }
    }
}
