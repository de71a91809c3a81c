public import HLSKitCore
import Synchronization

/// A transport that replays the responses of a recorded network at their recorded times.
///
/// A request gets the response recorded for the same URL and range: the first request the first one, the second the
/// second one. Bytes arrive at their recorded times since the first request. If a request comes at another time,
/// because the player differs or was controlled differently, its response moves by the same amount. A request that was
/// not recorded fails with `HLSError.Code.transport`. A request that was cancelled, or active when the recording ended,
/// runs into its deadline.
public final class ReplayTransport: ResourceTransport {
    /// The largest difference in time for which a request's response does not move.
    ///
    /// In real time, apps are slightly late.
    public static let tolerance = Duration.milliseconds(100)

    private struct Key: Hashable {
        var url: String
        var byteRange: Range<UInt64>?
    }

    private struct State {
        var waiting: [Key: ArraySlice<NetworkRecording.Exchange>]
        var epoch: Duration?
    }

    private let executor: (any TaskExecutor)?
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state: Mutex<State>

    /// Creates a transport that replays a recording.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - clock: The clock for all times. A ``VirtualClock`` also runs the transport's tasks.
    public init<C: Clock<Duration>>(_ recording: NetworkRecording, clock: C) {
        executor = clock as? any TaskExecutor
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        let waiting = Dictionary(grouping: recording.exchanges) { Key(url: $0.url, byteRange: $0.byteRange) }
        state = Mutex(State(waiting: waiting.mapValues { $0[...] }))
    }

    /// Replays the recorded response of the request.
    ///
    /// The request fails if the recording does not contain it.
    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let time = now()
        let (exchange, epoch) = state.withLock { state in
            let epoch = state.epoch ?? time
            state.epoch = epoch
            let key = Key(url: NetworkRecording.bare(request.resourceURLString), byteRange: request.byteRange)
            return (state.waiting[key]?.popFirst(), epoch)
        }
        let schedule = Self.schedule(exchange, of: request, at: time - epoch)
        let task = ReplayTask()
        let (sleep, gate) = (sleep, task.gate)
        task.run(on: executor) {
            for (offset, event) in schedule {
                do { try await sleep(epoch + offset) } catch { return }
                let isWanted = await gate.wait { $0 == .paused ? nil : $0 == .running }
                guard isWanted else { return }
                handler(event)
            }
        }
        return task
    }

    private static func schedule(
        _ exchange: NetworkRecording.Exchange?, of request: TransportRequest, at time: Duration
    ) -> [(Duration, TransportEvent)] {
        guard let exchange else {
            let error = LoadingError(
                code: .transport, url: request.urlString, text: "the recording has no such request")
            return [(time, .failed(error, TransferMetrics()))]
        }
        let delay = time - exchange.time
        let shift = (.zero - tolerance...tolerance).contains(delay) ? .zero : delay
        var schedule: [(Duration, TransportEvent)] = []
        var byteCount = 0
        for (offset, event) in exchange.events {
            let offset = max(time, offset + shift)
            if case .data(let bytes) = event { byteCount += bytes.count }
            // The recorded request may have had a different limit.
            guard byteCount <= request.maximumByteCount else {
                let error = LoadingError(
                    code: .tooLarge, url: request.urlString, text: "more than \(request.maximumByteCount) bytes")
                schedule.append((offset, .failed(error, TransferMetrics())))
                return schedule
            }
            schedule.append((offset, event))
        }
        switch exchange.events.last?.event {
        case .finished, .failed: break
        case .response, .data, nil:
            let isSilent = exchange.events.isEmpty
            let patience = isSilent ? request.timeouts.firstByte : request.timeouts.lowSpeed
            let error = LoadingError(
                code: .timedOut, url: request.urlString, text: "the recording has no more of this response")
            schedule.append(((schedule.last?.0 ?? time) + patience, .failed(error, TransferMetrics())))
        }
        return schedule
    }
}

private final class ReplayTask: TransportTask {
    enum RequestedState { case running, paused, cancelled }

    let gate = Gate(RequestedState.running)
    private let task = Mutex<Task<Void, Never>?>(nil)

    func run(on executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async -> Void) {
        let new = Task(executorPreference: executor) { await body() }
        task.withLock { $0 = new }
    }

    func cancel() {
        gate.signal { $0 = .cancelled }
        task.withLock { $0 }?.cancel()
    }

    func pause() { gate.signal { if $0 == .running { $0 = .paused } } }
    func resume() { gate.signal { if $0 == .paused { $0 = .running } } }
}
