public import HLSKitCore
import Synchronization

/// A transport that gives what a recorded network gave, when it gave it.
///
/// A request is answered by the recorded one of the same URL and range; the first by the first, the second by the second.
/// Bytes arrive at their recorded times since the first request. Where the request itself comes at another time than the
/// recorded one, because the player is a different one or was controlled differently, its answer is moved by as much. A
/// request that was never recorded fails with `HLSError.Code.transport`; what was under way when the recording
/// ended, or was cancelled, runs into the request's deadline.
///
/// See docs/guide/traces.md.
public final class ReplayTransport: ResourceTransport {
    /// A request that is off by no more than this is the recorded one: programs in real time are late by a little.
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

    /// - Parameters:
    ///   - recording: What is played back.
    ///   - clock: Decides what the time is. A ``VirtualClock`` runs the transport's tasks as well.
    public init<C: Clock<Duration>>(_ recording: NetworkRecording, clock: C) {
        executor = clock as? any TaskExecutor
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        let waiting = Dictionary(grouping: recording.exchanges) { Key(url: $0.url, byteRange: $0.byteRange) }
        state = Mutex(State(waiting: waiting.mapValues { $0[...] }))
    }

    /// Answers the request as it was answered when recorded; fails if the recording does not have it.
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

    /// The events with their times since the first request.
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
            // The recorded request may have had another limit.
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
    enum Wish { case running, paused, cancelled }

    let gate = Gate(Wish.running)
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
