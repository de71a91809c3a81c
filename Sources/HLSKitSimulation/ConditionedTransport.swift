public import HLSKitCore
import Synchronization

/// A transport that behaves as if another one were behind a slower link.
///
/// Requests go to the other transport at once; what comes back is held until the trace lets it pass: nothing before
/// the latency, then bytes at its bandwidth, which all requests of this instance share in turn. The other transport
/// is paused while enough bytes wait, so memory stays bounded. Times in ``TransferMetrics`` are those of the shaped
/// transfer. Bytes are counted after content decoding, and protocol overhead is not counted.
///
/// The conditions start with the first period of the trace when the instance is made. The deadlines of a request
/// are those of the other transport, which does not see what is held here.
public final class ConditionedTransport: Transport {
    /// Waiting bytes of one request at which the other transport is paused, and at which it is resumed.
    static let highWaterMark = 512 << 10
    static let lowWaterMark = 256 << 10
    /// Clocks are read in nanoseconds and the arithmetic rounds: what is due within a microsecond is due.
    private static let tolerance: NetworkTrace.Milliseconds = 0.001

    private let base: any Transport
    private let clock: any Clock<Duration>
    private let taskExecutor: (any TaskExecutor)?
    private let now: @Sendable () -> NetworkTrace.Milliseconds
    private let state: Mutex<State>

    private struct State {
        var link: SharedLink
        var transfers: [SharedLink.FlowID: Transfer] = [:]
        var alarm: Alarm?
        var alarmCount = 0
        var isDelivering = false
    }

    fileprivate struct Transfer {
        var handler: @Sendable (TransportEvent) -> Void
        var startedAt: NetworkTrace.Milliseconds
        var firstByteAt: NetworkTrace.Milliseconds?
        /// The request of the other transport; nil while that is still being started.
        var task: (any TransportTask)?
        var shouldPause = false
        var isPaused = false
        /// One thread at a time carries `shouldPause` over to the task, so that pause and resume keep their order.
        var isSwitching = false
    }

    private struct Alarm {
        var number: Int
        var time: NetworkTrace.Milliseconds
        var task: Task<Void, Never>
    }

    /// - Parameters:
    ///   - base: Fetches the bytes.
    ///   - trace: The link.
    ///   - clock: Decides what the time is, and waits.
    ///   - taskExecutor: Where the waiting runs; nil means the global executor.
    public init(
        base: any Transport, trace: NetworkTrace, clock: any Clock<Duration> = ContinuousClock(),
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.base = base
        self.clock = clock
        self.taskExecutor = taskExecutor
        now = Self.stopwatch(clock)
        state = Mutex(State(link: SharedLink(trace: trace)))
    }

    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let id = state.withLock { state in
            let time = now()
            let id = state.link.open(at: time)
            state.transfers[id] = Transfer(handler: handler, startedAt: time)
            return id
        }
        let task = base.start(request) { [self] event in receive(event, of: id) }
        // The transfer may be over already; then the task is, too.
        state.withLock { $0.transfers[id]?.task = task }
        switchPausing(of: id)
        return ConditionedTask(transport: self, id: id)
    }

    // MARK: From the other transport

    private func receive(_ event: TransportEvent, of id: SharedLink.FlowID) {
        state.withLock { state in
            guard state.transfers[id] != nil else { return }
            state.link.enqueue(event, to: id, at: now())
            if state.link.pendingByteCount(of: id) >= Self.highWaterMark { state.transfers[id]?.shouldPause = true }
            setAlarm(&state)
        }
        switchPausing(of: id)
    }

    /// Pauses or resumes the request of the other transport as was decided. Not under the lock, because the other
    /// transport may be calling ``receive(_:of:)`` under a lock of its own.
    private func switchPausing(of id: SharedLink.FlowID) {
        while true {
            let change: (task: any TransportTask, pause: Bool)? = state.withLock { state in
                guard let transfer = state.transfers[id], !transfer.isSwitching, let task = transfer.task,
                    transfer.isPaused != transfer.shouldPause
                else { return nil }
                state.transfers[id]?.isSwitching = true
                return (task, transfer.shouldPause)
            }
            guard let change else { return }
            if change.pause { change.task.pause() } else { change.task.resume() }
            state.withLock { state in
                state.transfers[id]?.isPaused = change.pause
                state.transfers[id]?.isSwitching = false
            }
        }
    }

    // MARK: To the caller

    /// Waits for the next arrival, instead of for the one that was next before.
    private func setAlarm(_ state: inout State) {
        guard !state.isDelivering else { return }
        let next = state.link.nextDelivery()
        if let alarm = state.alarm {
            guard alarm.time != next?.time else { return }
            alarm.task.cancel()
            state.alarm = nil
        }
        guard let next else { return }
        state.alarmCount += 1
        let number = state.alarmCount
        let delay = Duration.milliseconds(rounding: next.time - now())
        let task = Task(executorPreference: taskExecutor) { [self] in
            do { try await clock.sleep(for: delay) } catch { return }
            ring(number)
        }
        state.alarm = Alarm(number: number, time: next.time, task: task)
    }

    private func ring(_ number: Int) {
        let isFirst = state.withLock { state in
            if state.alarm?.number == number { state.alarm = nil }
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isFirst else { return }
        while let (id, event, handler) = state.withLock({ takeDueDelivery(&$0) }) {
            handler(event)
            switchPausing(of: id)
        }
    }

    private func takeDueDelivery(
        _ state: inout State
    ) -> (SharedLink.FlowID, TransportEvent, @Sendable (TransportEvent) -> Void)? {
        guard let next = state.link.nextDelivery(), next.time <= now() + Self.tolerance,
            let event = state.link.take(next), var transfer = state.transfers[next.flow]
        else {
            state.isDelivering = false
            setAlarm(&state)
            return nil
        }
        transfer.firstByteAt = transfer.firstByteAt ?? next.time
        if state.link.pendingByteCount(of: next.flow) <= Self.lowWaterMark { transfer.shouldPause = false }
        state.transfers[next.flow] = transfer
        switch event {
        case .response, .data: return (next.flow, event, transfer.handler)
        case .finished(let metrics):
            end(next.flow, &state)
            return (next.flow, .finished(transfer.shaped(metrics, endedAt: next.time)), transfer.handler)
        case .failed(let error, let metrics):
            end(next.flow, &state)
            return (next.flow, .failed(error, transfer.shaped(metrics, endedAt: next.time)), transfer.handler)
        }
    }

    private func end(_ id: SharedLink.FlowID, _ state: inout State) {
        state.link.close(id)
        state.transfers[id] = nil
    }

    fileprivate func cancel(_ id: SharedLink.FlowID) {
        let task = state.withLock { state in
            let task = state.transfers[id]?.task
            end(id, &state)
            setAlarm(&state)
            return task
        }
        task?.cancel()
    }

    fileprivate func setPaused(_ isPaused: Bool, _ id: SharedLink.FlowID) {
        state.withLock { state in
            state.link.setPaused(isPaused, id, at: now())
            setAlarm(&state)
        }
    }

    /// Reads the time since now.
    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> NetworkTrace.Milliseconds {
        let start = clock.now
        return { start.duration(to: clock.now).milliseconds }
    }
}

extension ConditionedTransport.Transfer {
    fileprivate func shaped(_ metrics: TransferMetrics, endedAt time: NetworkTrace.Milliseconds) -> TransferMetrics {
        var metrics = metrics
        metrics.firstByte = .milliseconds(rounding: (firstByteAt ?? time) - startedAt)
        metrics.total = .milliseconds(rounding: time - startedAt)
        return metrics
    }
}

private final class ConditionedTask: TransportTask {
    private let transport: ConditionedTransport
    private let id: SharedLink.FlowID

    init(transport: ConditionedTransport, id: SharedLink.FlowID) {
        self.transport = transport
        self.id = id
    }

    func cancel() { transport.cancel(id) }
    func pause() { transport.setPaused(true, id) }
    func resume() { transport.setPaused(false, id) }
}
