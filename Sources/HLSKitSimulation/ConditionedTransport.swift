public import HLSKitCore
import Synchronization

/// A transport that simulates a slower link in front of another transport.
///
/// Requests go to the other transport immediately. Its output is held back until the trace lets it pass: first the
/// latency, then bytes at the bandwidth, which all requests of this instance share in turn. The other transport is
/// paused while enough bytes wait, so memory stays bounded. `TransferMetrics` contains the times of the shaped
/// transfer. Bytes are counted after content decoding and without protocol overhead.
///
/// The trace starts with its first period when the instance is created. The deadlines of a request
/// (`TransportTimeouts`) apply to the shaped transfer, as on a real link of this kind.
public final class ConditionedTransport: ResourceTransport {
    /// The number of waiting bytes of one request at which the other transport is paused, and at which it is resumed.
    static let highWaterMark = 512 << 10
    static let lowWaterMark = 256 << 10
    /// Clocks have nanosecond precision and the arithmetic rounds, so an event within a microsecond is due.
    private static let tolerance: NetworkTrace.Milliseconds = 0.001

    private let base: any ResourceTransport
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
        var url: String
        var handler: @Sendable (TransportEvent) -> Void
        var deadlines: TransferDeadlines
        var startedAt: NetworkTrace.Milliseconds
        var firstByteAt: NetworkTrace.Milliseconds?
        /// The request of the other transport, or nil while it is being started.
        var task: (any TransportTask)?
        var shouldPause = false
        var isPaused = false
        /// Only one thread at a time applies `shouldPause` to the task, so that pause and resume keep their order.
        var isSwitching = false
    }

    private struct Alarm {
        var number: Int
        var time: NetworkTrace.Milliseconds
        var task: Task<Void, Never>
    }

    /// Creates a transport over another one.
    ///
    /// - Parameters:
    ///   - base: The transport that fetches the bytes.
    ///   - trace: The conditions of the link.
    ///   - clock: The clock for all times and waits.
    ///   - taskExecutor: The executor for waiting, or `nil` for the global executor.
    public convenience init(
        base: any ResourceTransport, trace: NetworkTrace, clock: any Clock<Duration>,
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.init(base: base, trace: trace, clock: clock, taskExecutor: taskExecutor, packets: .small)
    }

    init(
        base: any ResourceTransport, trace: NetworkTrace, clock: any Clock<Duration>, taskExecutor: (any TaskExecutor)?,
        packets: SharedLink.Packets
    ) {
        self.base = base
        self.clock = clock
        self.taskExecutor = taskExecutor
        now = Self.stopwatch(clock)
        state = Mutex(State(link: SharedLink(trace: trace, packets: packets)))
    }

    /// Starts the request.
    ///
    /// Its bytes arrive as the conditions allow.
    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let id = state.withLock { state in
            let time = now()
            let id = state.link.open(at: time)
            state.transfers[id] = Transfer(
                url: request.urlString, handler: handler,
                deadlines: TransferDeadlines(request.timeouts, startedAt: time), startedAt: time)
            setAlarm(&state)
            return id
        }
        let task = base.start(request) { [self] event in receive(event, of: id) }
        // The transfer may already have ended. In that case, the task has also ended.
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

    /// Applies the decision to pause or resume the request of the other transport. Call it without the lock because the
    /// other transport may be calling ``receive(_:of:)`` under its own lock.
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

    /// Waits for the next arrival, replacing any earlier wait.
    private func setAlarm(_ state: inout State) {
        guard !state.isDelivering else { return }
        let next = nextTime(state)
        if let alarm = state.alarm {
            guard alarm.time != next else { return }
            alarm.task.cancel()
            state.alarm = nil
        }
        guard let next else { return }
        state.alarmCount += 1
        let number = state.alarmCount
        let first = delay(until: next)
        let task = Task(executorPreference: taskExecutor) { [self] in
            // One task waits for all arrivals because there are many.
            var delay: Duration? = first
            while let wait = delay {
                do { try await clock.sleep(for: wait) } catch { return }
                delay = ring(number)
            }
        }
        state.alarm = Alarm(number: number, time: next, task: task)
    }

    private func nextTime(_ state: State) -> NetworkTrace.Milliseconds? {
        let deadline = state.transfers.values.compactMap(\.deadlines.next).min()
        guard let arrival = state.link.nextDelivery()?.time else { return deadline }
        return min(arrival, deadline ?? arrival)
    }

    private func delay(until time: NetworkTrace.Milliseconds) -> Duration { .milliseconds(rounding: time - now()) }

    /// Delivers all due events. Returns the time until the next arrival for the alarm with this number, or nil if the
    /// alarm is no longer needed.
    private func ring(_ number: Int) -> Duration? {
        let isFirst = state.withLock { state in
            if state.isDelivering, state.alarm?.number == number { state.alarm = nil }
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isFirst else { return nil }
        while true {
            switch state.withLock({ takeStep(&$0, alarm: number) }) {
            case .report(let report):
                report.abandonedTask?.cancel()
                report.handler(report.event)
                switchPausing(of: report.id)
            case .rest(let delay): return delay
            }
        }
    }

    private enum Step {
        case report(Report)
        /// No event is due. The alarm sleeps for this time, or ends.
        case rest(Duration?)
    }

    private struct Report {
        var id: SharedLink.FlowID
        var event: TransportEvent
        var handler: @Sendable (TransportEvent) -> Void
        var abandonedTask: (any TransportTask)?
    }

    private func takeStep(_ state: inout State, alarm number: Int) -> Step {
        if let report = takeDueReport(&state) { return .report(report) }
        state.isDelivering = false
        guard state.alarm?.number == number, let next = nextTime(state) else {
            if state.alarm?.number == number { state.alarm = nil }
            setAlarm(&state)
            return .rest(nil)
        }
        state.alarm?.time = next
        return .rest(delay(until: next))
    }

    /// Returns the next due event in the order of the link's time, or nil if there is none.
    private func takeDueReport(_ state: inout State) -> Report? {
        let due = now() + Self.tolerance
        while let time = nextTime(state), time <= due {
            if let delivery = state.link.nextDelivery(), delivery.time <= time {
                if let report = take(delivery, &state) { return report }
                continue
            }
            // Requests have ascending numbers because dictionaries have no order.
            let late = state.transfers.filter { $0.value.deadlines.next == time }.min { $0.key < $1.key }
            return late.map { fail($0.key, $0.value, at: time, &state) }
        }
        return nil
    }

    private func take(_ delivery: SharedLink.Delivery, _ state: inout State) -> Report? {
        let id = delivery.flow
        guard let event = state.link.take(delivery), var transfer = state.transfers[id] else { return nil }
        transfer.firstByteAt = transfer.firstByteAt ?? delivery.time
        if state.link.pendingByteCount(of: id) <= Self.lowWaterMark { transfer.shouldPause = false }
        var report = Report(id: id, event: event, handler: transfer.handler)
        switch event {
        case .response: transfer.deadlines.receive(byteCount: 0, at: delivery.time)
        case .data(let bytes): transfer.deadlines.receive(byteCount: bytes.count, at: delivery.time)
        case .finished(let metrics): report.event = .finished(transfer.shaped(metrics, endedAt: delivery.time))
        case .failed(let error, let metrics):
            report.event = .failed(error, transfer.shaped(metrics, endedAt: delivery.time))
        }
        switch event {
        case .response, .data: state.transfers[id] = transfer
        case .finished, .failed: end(id, &state)
        }
        return report
    }

    private func fail(
        _ id: SharedLink.FlowID, _ transfer: Transfer, at time: NetworkTrace.Milliseconds, _ state: inout State
    ) -> Report {
        end(id, &state)
        let error = LoadingError(
            code: .timedOut, url: transfer.url, text: "conditioned link: \(transfer.deadlines.reason)")
        let event = TransportEvent.failed(error, transfer.shaped(TransferMetrics(), endedAt: time))
        return Report(id: id, event: event, handler: transfer.handler, abandonedTask: transfer.task)
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
            let time = now()
            state.link.setPaused(isPaused, id, at: time)
            state.transfers[id]?.deadlines.setPaused(isPaused, at: time)
            setAlarm(&state)
        }
    }

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
