public import HLSKitCore
import Synchronization

/// A transport without a network: a closure provides responses, and a trace determines their speed.
///
/// All requests share the link as in ``ConditionedTransport``, and their deadlines apply. With a ``VirtualClock``, the
/// same requests lead to the same events at the same times, to the nanosecond:
///
/// ```swift
/// let clock = VirtualClock()
/// let stream = SyntheticStream()
/// let transport = SimulatedTransport(stream, over: tunnel, clock: clock)
/// let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
/// ```
public final class SimulatedTransport: ResourceTransport {
    private let link: ConditionedTransport

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - trace: The conditions of the link. The trace starts when the transport is created.
    ///   - clock: The clock for all times. A ``VirtualClock`` also runs the transport's tasks.
    ///   - answer: The closure that returns responses. It is called once for each request, on any thread.
    public init(
        over trace: NetworkTrace, clock: any Clock<Duration>,
        answer: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse
    ) {
        let executor = clock as? any TaskExecutor
        let origin = SimulatedOrigin(clock: clock, executor: executor, trace: trace, answer: answer)
        link = ConditionedTransport(
            base: origin, trace: trace, clock: clock, taskExecutor: executor, packets: .large)
    }

    /// Creates a transport whose origin is a ``SyntheticStream``.
    public convenience init(_ stream: SyntheticStream, over trace: NetworkTrace, clock: any Clock<Duration>) {
        self.init(over: trace, clock: clock) { stream.response(to: $0) }
    }

    /// Calls the origin and delivers its response under the conditions of the link.
    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        link.start(request, handler: handler)
    }
}

/// The far end of the link. It sends each response at the server's time, all at once.
private final class SimulatedOrigin: ResourceTransport {
    private struct Key: Hashable {
        var url: String
        var byteRange: Range<UInt64>?
    }

    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let executor: (any TaskExecutor)?
    private let trace: NetworkTrace
    private let answer: @Sendable (SimulatedRequest) -> SimulatedResponse
    private let counts = Mutex<[Key: Int]>([:])

    init<C: Clock<Duration>>(
        clock: C, executor: (any TaskExecutor)?, trace: NetworkTrace,
        answer: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse
    ) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
        self.executor = executor
        self.trace = trace
        self.answer = answer
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let attempt = counts.withLock { counts in
            let key = Key(url: request.resourceURLString, byteRange: request.byteRange)
            defer { counts[key, default: 0] += 1 }
            return counts[key, default: 0]
        }
        let time = now()
        var asked = SimulatedRequest(
            urlString: request.resourceURLString, resourceClass: request.resourceClass, byteRange: request.byteRange,
            time: time, attempt: attempt)
        asked.sentURLString = request.urlString
        asked.fields = request.fields
        asked.body = request.body
        let response = answer(asked)
        let steps = Self.steps(of: response, for: request)
        guard steps.contains(where: { $0.time > .zero }) else {
            for step in steps { step.events.forEach(handler) }
            return FinishedTask()
        }
        let latency = Duration.milliseconds(rounding: trace.latency(at: time.milliseconds))
        return DelayedTask(
            Task(executorPreference: executor) { [sleep] in
                var passed = Duration.zero
                for step in steps {
                    // The link adds its latency only to immediate data, so add it to later steps here.
                    let time = step.time > .zero ? step.time + latency : .zero
                    if time > passed {
                        do { try await sleep(time - passed) } catch { return }
                        passed = time
                    }
                    step.events.forEach(handler)
                }
            })
    }

    /// Events at a time after the request.
    private struct Step: Sendable {
        var time: Duration
        var events: [TransportEvent]
    }

    /// The events of a response. A growing body has an event for each step.
    private static func steps(of response: SimulatedResponse, for request: TransportRequest) -> [Step] {
        let events = events(of: response, for: request)
        guard !response.growth.isEmpty, case .response(var header)? = events.first else {
            return [Step(time: response.delay, events: events)]
        }
        var body: [UInt8] = []
        for case .data(let bytes) in events { body += bytes }
        // The length is not known in advance.
        if request.byteRange?.isOpenEnded ?? true { header.contentLength = nil }
        let start = request.byteRange.map { Int(clamping: $0.lowerBound) } ?? 0
        var steps: [Step] = []
        var sent = 0
        for growth in response.growth {
            let end = min(body.count, growth.byteCount - start)
            guard end > sent else { continue }
            var step = Step(time: response.delay + growth.time, events: [.data(Array(body[sent..<end]))])
            if steps.isEmpty { step.events.insert(.response(header), at: 0) }
            steps.append(step)
            sent = end
        }
        let rest = events.filter {
            switch $0 {
            case .response, .data: false
            case .finished, .failed: true
            }
        }
        guard let last = steps.indices.last else { return [Step(time: response.delay, events: events)] }
        if sent < body.count { steps[last].events.append(.data(Array(body[sent...]))) }
        steps[last].events += rest
        return steps
    }

    private static func events(of response: SimulatedResponse, for request: TransportRequest) -> [TransportEvent] {
        var metrics = TransferMetrics()
        metrics.protocolName = response.protocolName
        metrics.reusedConnection = response.protocolName.hasPrefix("http/1") && response.keepsConnection
        func failed(_ code: HLSError.Code, status: Int? = nil, _ text: String) -> TransportEvent {
            var error = LoadingError(code: code, url: request.urlString, status: status, text: text)
            let retryAfter = response.fields.first { $0.name.lowercased() == "retry-after" }
            error.retryAfter = retryAfter.flatMap { Int($0.value) }.flatMap { $0 >= 0 ? .seconds($0) : nil }
            return .failed(error, metrics)
        }
        if let failure = response.failure { return [failed(failure, "simulated: \(failure.rawValue)")] }
        guard response.status < 400 else {
            return [failed(.httpStatus, status: response.status, "HTTP \(response.status)")]
        }
        var body = response.body
        if let range = request.byteRange {
            guard let range = range.bytes(ofResourceOf: UInt64(body.count)) else {
                return [failed(.badRange, status: response.status, "the resource has \(body.count) bytes")]
            }
            body = Array(body[Int(range.lowerBound)..<Int(range.upperBound)])
        }
        guard !body.isEmpty else { return [failed(.emptyBody, status: response.status, "0 bytes")] }
        guard body.count <= request.maximumByteCount else {
            return [failed(.tooLarge, "\(body.count) bytes, the limit is \(request.maximumByteCount)")]
        }
        let header = TransportResponse(
            status: request.byteRange != nil && response.status == 200 ? 206 : response.status,
            urlString: request.urlString,
            contentType: response.contentType, contentLength: body.count, fields: response.fields)
        let sent =
            switch response.ending {
            case .complete: body.count
            case .cut(let count), .stalled(let count): min(max(0, count), body.count)
            }
        metrics.receivedByteCount = sent
        metrics.decodedByteCount = sent
        var events = [TransportEvent.response(header)]
        if sent > 0 { events.append(.data(sent == body.count ? body : Array(body.prefix(sent)))) }
        switch response.ending {
        case .complete: events.append(.finished(metrics))
        case .cut: events.append(failed(.connectionLost, "simulated: lost after \(sent) of \(body.count) bytes"))
        case .stalled: break
        }
        return events
    }
}

private final class FinishedTask: TransportTask {
    func cancel() {}
    func pause() {}
    func resume() {}
}

private final class DelayedTask: TransportTask {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    func cancel() { task.cancel() }
    // The link holds back data while its caller is paused.
    func pause() {}
    func resume() {}
}
