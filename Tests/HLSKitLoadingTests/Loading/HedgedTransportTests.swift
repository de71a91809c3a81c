import HLSKitLoading
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@Suite("Hedged requests", .timeLimit(.minutes(10)))
struct HedgedTransportTests {
    /// A transport that answers each request after the times of one `Answer`, or never if a time is `nil`.
    private final class URLOrigin: ResourceTransport {
        struct Answer: Sendable {
            var response: Duration?
            var data: Duration?
            var failure: Duration?
        }

        private struct State {
            var log: [String] = []
            var running = 0
            var mostRunning = 0
        }

        private final class Running: TransportTask {
            let task: Task<Void, Never>
            let cancelled: @Sendable () -> Void
            init(_ task: Task<Void, Never>, _ cancelled: @escaping @Sendable () -> Void) {
                self.task = task
                self.cancelled = cancelled
            }
            func cancel() {
                task.cancel()
                cancelled()
            }
            func pause() {}
            func resume() {}
        }

        private let clock: VirtualClock
        private let answers: [Answer]
        private let state = Mutex(State())
        var log: [String] { state.withLock(\.log) }
        var mostRunning: Int { state.withLock(\.mostRunning) }

        init(_ clock: VirtualClock, _ answers: [Answer]) {
            self.clock = clock
            self.answers = answers
        }

        private func note(_ text: String, running change: Int = 0) {
            let time = clock.now.offset / .milliseconds(1)
            state.withLock { state in
                state.log.append("\(Int(time)) \(text)")
                state.running += change
                state.mostRunning = max(state.mostRunning, state.running)
            }
        }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            let number = log.count { $0.contains("asked") }
            let answer = answers.indices.contains(number) ? answers[number] : Answer()
            note("asked \(number)", running: 1)
            let clock = clock
            let task = Task(executorPreference: clock) {
                let began = clock.now
                do {
                    if let time = answer.failure {
                        try await clock.sleep(until: began.advanced(by: time))
                        self.note("failed \(number)", running: -1)
                        return handler(
                            .failed(
                                LoadingError(code: .timedOut, url: request.urlString, text: "late"), TransferMetrics()))
                    }
                    if let time = answer.response {
                        try await clock.sleep(until: began.advanced(by: time))
                        handler(.response(TransportResponse(status: 200, urlString: "\(request.urlString)?\(number)")))
                    }
                    guard let time = answer.data else { return }
                    try await clock.sleep(until: began.advanced(by: time))
                    handler(.data([UInt8(number)]))
                    self.note("answered \(number)", running: -1)
                    handler(.finished(TransferMetrics()))
                } catch {}
            }
            return Running(task) { self.note("left \(number)", running: -1) }
        }
    }

    /// Loads with a hedge delay of 2 s. Returns the events, the log of requests, and the highest number of parallel
    /// requests.
    private func ask(
        _ answers: URLOrigin.Answer..., hedgeDelay: Duration? = .seconds(2), until end: Duration = .seconds(20)
    ) throws -> (events: [String], log: [String], most: Int) {
        let clock = VirtualClock()
        let origin = URLOrigin(clock, answers)
        let events = Mutex<[String]>([])
        try clock.run {
            var request = TransportRequest(urlString: "https://host/live.m3u8", resourceClass: .mediaPlaylist)
            request.hedgeDelay = hedgeDelay
            let task = HedgedTransport(origin, clock: clock).start(request) { event in
                let text =
                    switch event {
                    case .response(let response): "response \(response.urlString.suffix(1))"
                    case .data(let bytes): "data \(bytes)"
                    case .finished: "finished"
                    case .failed(let error, _): "failed \(error.code.rawValue)"
                    }
                events.withLock { $0.append(text) }
            }
            try await clock.sleep(until: VirtualClock.Instant(offset: end))
            task.cancel()
        }
        return (events.withLock { $0 }, origin.log, origin.mostRunning)
    }

    private static func answer(_ seconds: Double, response: Double? = nil) -> URLOrigin.Answer {
        URLOrigin.Answer(response: .seconds(response ?? seconds), data: .seconds(seconds))
    }

    @Test("a request answered in time is sent once")
    func inTime() throws {
        let (events, log, _) = try ask(Self.answer(1.5))
        #expect(events == ["response 0", "data [0]", "finished"])
        #expect(log == ["0 asked 0", "1500 answered 0"])
    }

    @Test("a second request replaces a stuck one, with or without its header", arguments: [nil, 0.1])
    func stuck(header: Double?) throws {
        let first = URLOrigin.Answer(response: header.map { .seconds($0) }, data: header.map { _ in .seconds(9) })
        let (events, log, _) = try ask(first, Self.answer(0.5))
        #expect(events == ["response 1", "data [1]", "finished"])
        #expect(log == ["0 asked 0", "2000 asked 1", "2500 left 0", "2500 answered 1"])
    }

    @Test("the first response wins, and its URL is the base")
    func firstWins() throws {
        let (events, log, _) = try ask(Self.answer(3), Self.answer(5))
        #expect(events == ["response 0", "data [0]", "finished"])
        #expect(log == ["0 asked 0", "2000 asked 1", "3000 left 1", "3000 answered 0"])
    }

    @Test("the later request is repeated, two in parallel at most; the first one's deadline ends it")
    func bounded() throws {
        let (events, log, most) = try ask(URLOrigin.Answer(failure: .seconds(7)))
        #expect(events == ["failed timedOut"])
        #expect(
            log == [
                "0 asked 0", "2000 asked 1", "4000 left 1", "4000 asked 2", "6000 left 2", "6000 asked 3",
                "7000 failed 0", "7000 left 3",
            ])
        #expect(most == 2)
    }

    @Test("a failing second request is ignored")
    func secondFails() throws {
        let (events, _, _) = try ask(Self.answer(3), URLOrigin.Answer(failure: .milliseconds(200)))
        #expect(events == ["response 0", "data [0]", "finished"])
    }

    @Test("a cancelled caller gets no more events, and both requests end")
    func cancelled() throws {
        let (events, log, _) = try ask(URLOrigin.Answer(), URLOrigin.Answer(), until: .seconds(3))
        #expect(events.isEmpty)
        #expect(Set(log) == ["0 asked 0", "2000 asked 1", "3000 left 0", "3000 left 1"])
    }

    @Test("other requests are sent once")
    func plain() throws {
        let (events, log, _) = try ask(Self.answer(5), hedgeDelay: nil)
        #expect(events.last == "finished")
        #expect(log.filter { !$0.hasPrefix("20000") } == ["0 asked 0", "5000 answered 0"])
    }
}
