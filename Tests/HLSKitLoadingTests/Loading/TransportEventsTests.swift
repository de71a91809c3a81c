import HLSKitNetwork
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@testable import HLSKitLoading

@Suite("Events of a request", .timeLimit(.minutes(10)))
struct TransportEventsTests {
    private final class Source: ResourceTransport {
        private struct State {
            var handler: (@Sendable (TransportEvent) -> Void)?
            var calls: [String] = []
        }

        private final class Running: TransportTask {
            let note: @Sendable (String) -> Void
            init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }
            func cancel() { note("cancel") }
            func pause() { note("pause") }
            func resume() { note("resume") }
        }

        private let state = Mutex(State())
        private let atOnce: [TransportEvent]

        init(atOnce: [TransportEvent] = []) { self.atOnce = atOnce }

        var calls: [String] { state.withLock(\.calls) }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            state.withLock { $0.handler = handler }
            atOnce.forEach(handler)
            return Running { [self] call in state.withLock { $0.calls.append(call) } }
        }

        func report(_ events: TransportEvent...) {
            let handler = state.withLock(\.handler)
            for event in events { handler?(event) }
        }
    }

    private static let request = TransportRequest(urlString: "https://a.example/x", resourceClass: .segment)
    private static let response = TransportEvent.response(
        TransportResponse(status: 200, urlString: "https://a.example/x"))
    private static let end = TransportEvent.finished(TransferMetrics())

    private static func byteCount(_ event: TransportEvent?) -> Int? {
        guard case .data(let bytes)? = event else { return nil }
        return bytes.count
    }

    @Test("events arrive in order up to the last one; unread ones are kept", arguments: [true, false])
    func order(atOnce: Bool) async {
        let all = [Self.response, .data([1]), .data([2, 3]), Self.end]
        let source = Source(atOnce: atOnce ? all : [])
        let events = source.events(for: Self.request)
        if !atOnce { for event in all { source.report(event) } }
        var counts: [Int?] = []
        for await event in events { counts.append(Self.byteCount(event)) }
        #expect(counts == [nil, 1, 2, nil])
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == nil, "no more")
        #expect(source.calls == [], "what is over needs no cancellation")
    }

    @Test("releasing the events cancels the request")
    func lettingGo() async {
        let source = Source()
        do {
            var iterator = source.events(for: Self.request).makeAsyncIterator()
            source.report(Self.response)
            _ = await iterator.next()
            #expect(source.calls == [])
        }
        #expect(source.calls == ["cancel"])
        source.report(.data([1]), Self.end)
    }

    @Test("a reader cancelled while waiting gets no more events, and the request ends")
    func cancellation() async {
        let source = Source()
        let events = source.events(for: Self.request)
        let reader = Task {
            var count = 0
            for await _ in events { count += 1 }
            return count
        }
        source.report(Self.response)
        reader.cancel()
        #expect(await reader.value <= 1)
        #expect(source.calls == ["cancel"])
    }

    @Test("the request is paused while many events are unread")
    func backPressure() async {
        let source = Source()
        var iterator = source.events(for: Self.request).makeAsyncIterator()
        let piece = TransportEvent.data([UInt8](repeating: 7, count: 1 << 20))
        source.report(Self.response, piece, piece, piece, piece)
        #expect(source.calls == [])
        source.report(piece)
        #expect(source.calls == ["pause"])
        source.report(piece)
        for _ in 0..<5 { _ = await iterator.next() }
        #expect(source.calls == ["pause"])
        _ = await iterator.next()
        #expect(source.calls == ["pause", "resume"])
        _ = await iterator.next()
        source.report(Self.end)
        guard case .finished? = await iterator.next() else {
            Issue.record("not the end")
            return
        }
    }

    @Test("a request paused by the caller does not resume when events are read")
    func pausing() async {
        let source = Source()
        let events = source.events(for: Self.request)
        var iterator = events.makeAsyncIterator()
        events.task.pause()
        source.report(Self.response)
        _ = await iterator.next()
        #expect(source.calls == ["pause"])
        events.task.resume()
        #expect(source.calls == ["pause", "resume"])
    }

    @Test("a body of any size arrives whole, however slow its reader")
    func wholeBody() async throws {
        let folder = try ScratchFolder()
        let bytes = (0..<9 << 20).map { UInt8(truncatingIfNeeded: $0 / 4099) }
        try folder.write(bytes, to: "large")
        let request = TransportRequest(urlString: "file://\(folder.path)/large", resourceClass: .segment)
        var read: [UInt8] = []
        for await event in LocalTransport().events(for: request) {
            if case .data(let piece) = event { read += piece }
            await Task.yield()
        }
        #expect(read == bytes)
    }
}
