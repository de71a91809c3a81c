import HLSKitPlaylist
import Synchronization

/// Sends the events of one session to their targets in the background, so that callers do not wait.
package final class ClientDataReporter: Sendable {
    private struct Target: Sendable {
        let settings: ClientData.EventTarget
        var sequence = ReportSequence()
        var queue: ReportQueue
        var task: (any TransportTask)?
        /// The number of the current report. A response to an earlier one is ignored.
        var number = 0
        /// The time at which the current report is abandoned, even if the transport does nothing.
        var expires: Duration?
        var timer: (time: Duration, task: Task<Void, Never>)?
        var isOver = false

        mutating func end(_ answer: (inout ReportQueue) -> ReportQueue.Step?) -> ReportQueue.Step? {
            number += 1
            (task, expires) = (nil, nil)
            return answer(&queue)
        }
    }

    private struct State: Sendable {
        var targets: [Target]
        var isClosed = false
    }

    private static let type = "application/cmcd"
    /// Reports are small, and so are their responses.
    private static let maximumAnswerByteCount = 64 << 10
    static let patience = Duration.seconds(10)

    private let settings: ClientData
    private let sessionID: String
    private let transport: any ResourceTransport
    private let clock: HostClock
    private let state: Mutex<State>
    private let over = OneShot<Void>()

    /// Creates a reporter, or returns nil if there is no valid target.
    ///
    /// - Parameters:
    ///   - sessionID: The session ID, unless the settings have one.
    ///   - transport: The network transport, without the hooks, credentials and caches of item requests.
    package init?(_ settings: ClientData, sessionID: String, transport: any ResourceTransport, clock: HostClock) {
        let targets = settings.eventTargets.map { target in
            var target = target
            target.urlString = Redaction.withoutUserInfo(target.urlString)
            let scheme = URIReference(target.urlString)?.scheme?.lowercased()
            var made = Target(settings: target, queue: ReportQueue(target))
            made.isOver = scheme != "http" && scheme != "https"
            return made
        }
        guard targets.contains(where: { !$0.isOver }) else { return nil }
        self.settings = settings
        self.sessionID = settings.sessionID ?? sessionID
        self.transport = transport
        self.clock = clock
        state = Mutex(State(targets: targets))
    }

    package func take(_ event: ClientDataEvent, _ facts: ClientDataFacts, target: Int?) {
        var facts = facts
        facts.sessionID = sessionID
        let now = clock.now
        let known = facts
        perform { state in
            state.targets.indices.compactMap { index in
                guard target == nil || target == index, !state.targets[index].isOver, !state.isClosed,
                    state.targets[index].settings.events.contains(event.kind)
                else { return nil }
                let news = state.targets[index].sequence.next(known)
                let keys = state.targets[index].settings.keys
                let line = ClientDataReport(event, known, news, self.settings, keys: keys).line
                return state.targets[index].queue.add(line, at: now).map { (index, $0) }
            }
        }
    }

    /// Ends the session. Remaining events are sent within two seconds.
    package func close() {
        let now = clock.now
        perform { state in
            guard !state.isClosed else { return [] }
            state.isClosed = true
            return state.targets.indices.compactMap { index in
                state.targets[index].queue.close(at: now).map { (index, $0) }
            }
        }
        reportIfEnded()
    }

    package var isOver: Bool { over.isSet }

    package func end() async { await over.value() }

    // MARK: Steps

    private func perform(_ body: (inout State) -> [(Int, ReportQueue.Step)]) {
        let steps = state.withLock { body(&$0) }
        for (index, step) in steps { carryOut(step, of: index) }
    }

    private func carryOut(_ step: ReportQueue.Step, of index: Int) {
        switch step {
        case .post(let body): post(body, to: index)
        case .wake(let time): wake(index, at: time)
        case .over:
            let (task, timer) = state.withLock { state in
                state.targets[index].isOver = true
                state.targets[index].number += 1
                return (state.targets[index].task.take(), state.targets[index].timer.take()?.task)
            }
            task?.cancel()
            timer?.cancel()
            reportIfEnded()
        }
    }

    private func reportIfEnded() {
        let isOver = state.withLock { $0.isClosed && $0.targets.allSatisfy(\.isOver) }
        if isOver { over.set(()) }
    }

    private func wake(_ index: Int, at time: Duration) {
        let clock = clock
        let isKnown = state.withLock { $0.targets[index].timer.map { $0.time <= time } ?? false }
        guard !isKnown else { return }
        let task = Task(executorPreference: clock.executor) { [weak self] in
            do { try await clock.sleep(until: time) } catch { return }
            self?.hasSlept(index, until: time)
        }
        let old = state.withLock { state in
            let old = state.targets[index].timer?.task
            state.targets[index].timer = (time, task)
            return old
        }
        old?.cancel()
    }

    private func hasSlept(_ index: Int, until time: Duration) {
        let now = clock.now
        var late: (any TransportTask)?
        perform { state in
            if state.targets[index].timer?.time == time { state.targets[index].timer = nil }
            guard !state.targets[index].isOver else { return [] }
            var step: ReportQueue.Step?
            if let expires = state.targets[index].expires, expires <= now {
                late = state.targets[index].task.take()
                step = state.targets[index].end { $0.answer(status: nil, retryAfter: nil, at: now) }
            } else {
                step = state.targets[index].queue.next(at: now)
            }
            return step.map { [(index, $0)] } ?? []
        }
        late?.cancel()
    }

    private func post(_ body: String, to index: Int) {
        let expires = clock.now + Self.patience
        let (target, number, isClosing) = state.withLock { state in
            state.targets[index].number += 1
            state.targets[index].expires = expires
            return (state.targets[index].settings, state.targets[index].number, state.isClosed)
        }
        var request = TransportRequest(
            urlString: target.urlString, resourceClass: .report,
            fields: [TransportField(name: "Content-Type", value: Self.type)],
            timeouts: TransportTimeouts(connect: .seconds(5), firstByte: Self.patience, total: Self.patience),
            maximumByteCount: Self.maximumAnswerByteCount)
        request.ownFieldNames = ["content-type"]
        if let value = target.authorization {
            request.fields.append(TransportField(name: "Authorization", value: value))
            request.credentialOrigins = URLOrigin(of: target.urlString).map { [$0] } ?? []
        }
        request.body = Array(body.utf8)
        let status = Mutex<Int?>(nil)
        let task = transport.start(request) { event in
            switch event {
            case .response(let response): status.withLock { $0 = response.status }
            case .data: break
            case .finished: self.answer(status.withLock { $0 }, nil, of: index, number)
            case .failed(let error, _):
                // A response with an unusable body is a response.
                let answered = status.withLock { $0 } ?? (error.code == .emptyBody ? 200 : nil)
                self.answer(error.statusCode ?? answered, LoadingError(error).retryAfter, of: index, number)
            }
        }
        let isUnderWay = state.withLock { state in
            guard state.targets[index].number == number, !state.targets[index].isOver else { return false }
            state.targets[index].task = task
            return true
        }
        guard isUnderWay else { return task.cancel() }
        // An app's own transport may never respond.
        wake(index, at: isClosing ? clock.now + ReportQueue.closingTime : expires)
    }

    private func answer(_ status: Int?, _ retryAfter: Duration?, of index: Int, _ number: Int) {
        let now = clock.now
        perform { state in
            guard state.targets[index].number == number else { return [] }
            let step = state.targets[index].end { $0.answer(status: status, retryAfter: retryAfter, at: now) }
            return step.map { [(index, $0)] } ?? []
        }
    }
}
