import HLSKitSimulation
import Synchronization
import Testing

@testable import HLSKitLoading

@Suite("Sending reports", .timeLimit(.minutes(10)))
struct ClientDataReporterTests {
    private final class Deaf: ResourceTransport {
        private final class Running: TransportTask {
            let isCancelled = Mutex(false)
            func cancel() { isCancelled.withLock { $0 = true } }
            func pause() {}
            func resume() {}
        }

        private let started = Mutex<[(request: TransportRequest, task: Running)]>([])
        var requests: [TransportRequest] { started.withLock { $0.map(\.request) } }
        var cancelledCount: Int { started.withLock { $0.count { $0.task.isCancelled.withLock(\.self) } } }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            let task = Running()
            started.withLock { $0.append((request, task)) }
            return task
        }
    }

    private static func settings(_ change: (inout ClientData.EventTarget) -> Void = { _ in }) -> ClientData {
        var target = ClientData.EventTarget(urlString: "https://u:p@reports.example/x")
        target.batchCount = 1
        change(&target)
        var data = ClientData()
        data.eventTargets = [target]
        return data
    }

    private static func reporter(
        _ settings: ClientData, _ transport: Deaf, _ clock: VirtualClock
    ) throws -> ClientDataReporter {
        try #require(
            ClientDataReporter(settings, sessionID: "s", transport: transport, clock: HostClock(clock)))
    }

    private static let event = ClientDataEvent(.timeInterval, date: 1)

    @Test("an unresponsive target times out after ten seconds and is tried again")
    func deaf() throws {
        let (transport, clock) = (Deaf(), VirtualClock())
        let reporter = try Self.reporter(Self.settings(), transport, clock)
        reporter.take(Self.event, ClientDataFacts(), target: nil)
        clock.advance(by: .milliseconds(9_900))
        #expect(transport.requests.count == 1 && transport.cancelledCount == 0)
        clock.advance(by: .milliseconds(200))
        #expect(transport.cancelledCount == 1)
        // The next attempt follows after 1 s. The one after it follows after the timeout of 10 s and a wait of 2 s.
        clock.advance(by: .seconds(1))
        #expect(transport.requests.count == 2)
        clock.advance(by: .seconds(12))
        #expect(transport.requests.count == 3)
        #expect(Set(transport.requests.map(\.body)).count == 1)
        reporter.close()
        clock.advance(by: .seconds(2))
        #expect(reporter.isOver && transport.cancelledCount == 3)
    }

    @Test(
        "a target gets only its own credentials; requests may use version 1",
        arguments: [true, false])
    func authorization(isSet: Bool) throws {
        let (transport, clock) = (Deaf(), VirtualClock())
        let settings = Self.settings { if isSet { $0.authorization = "Bearer x" } }
        let reporter = try Self.reporter(settings, transport, clock)
        reporter.take(Self.event, ClientDataFacts(), target: nil)
        let request = try #require(transport.requests.first)
        #expect(request.urlString == "https://reports.example/x")
        let own = [TransportField(name: "Content-Type", value: "application/cmcd")]
        #expect(request.fields == own + (isSet ? [TransportField(name: "Authorization", value: "Bearer x")] : []))
        #expect(
            request.credentialOrigins == (isSet ? [URLOrigin(scheme: "https", host: "reports.example", port: 443)] : [])
        )
        #expect(String(decoding: request.body ?? [], as: UTF8.self).hasSuffix("v=2"))
        withExtendedLifetime(reporter) {}
    }
}
