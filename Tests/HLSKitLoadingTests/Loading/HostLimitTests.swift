import HLSKitLoading
import HLSKitNetwork
import Synchronization
import TestSupport
import Testing

@Suite("Limit of connections per host")
struct HostLimitTests {
    private final class URLOrigin: ResourceTransport {
        private struct State {
            var begun: [String] = []
            var handlers: [String: @Sendable (TransportEvent) -> Void] = [:]
            var flags: [String] = []
        }

        private final class Running: TransportTask {
            let note: @Sendable (String) -> Void
            init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }
            func cancel() { note("cancel") }
            func pause() { note("pause") }
            func resume() { note("resume") }
        }

        private let state = Mutex(State())
        var begun: [String] { state.withLock(\.begun) }
        var flags: [String] { state.withLock(\.flags) }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            let name = String(request.urlString.suffix(1))
            state.withLock { state in
                state.begun.append(name)
                state.handlers[name] = handler
            }
            return Running { [weak self] text in self?.state.withLock { $0.flags.append("\(text) \(name)") } }
        }

        func respond(_ name: String) {
            let handler = state.withLock { $0.handlers[name] }
            handler?(.response(TransportResponse(status: 200, urlString: "https://host/\(name)")))
        }

        func finish(_ name: String, protocolName: String = "http/1.1") {
            let handler = state.withLock { $0.handlers.removeValue(forKey: name) }
            var metrics = TransferMetrics()
            metrics.protocolName = protocolName
            handler?(.finished(metrics))
        }
    }

    private let origin = URLOrigin()
    private let limit = HostLimit(connectionsPerHost: 1)

    private func start(
        _ name: String, isHeld: Bool = false, isPreload: Bool = false, _ events: (@Sendable () -> Void)? = nil
    ) -> any TransportTask {
        var request = TransportRequest(urlString: "https://host/\(name)", resourceClass: .segment)
        request.isHeld = isHeld
        request.isPreload = isPreload
        return limit.start(request, by: origin) { _ in events?() }
    }

    @Test("D07: waiting requests begin when those in flight end")
    func waits() {
        let tasks = ["a", "b", "c"].map { start($0) }
        #expect(origin.begun == ["a"])
        origin.finish("a")
        #expect(origin.begun == ["a", "b"])
        tasks[1].cancel()
        #expect(origin.begun == ["a", "b", "c"])
        #expect(origin.flags == ["cancel b"])
    }

    @Test("D07: a blocking request lends its slot until it is answered")
    func held() {
        let tasks = ["a", "b"].map { start($0, isHeld: $0 == "a") }
        #expect(origin.begun == ["a", "b"])
        origin.respond("a")
        let last = start("c")
        origin.finish("b")
        #expect(origin.begun == ["a", "b"])
        origin.finish("a")
        #expect(origin.begun == ["a", "b", "c"])
        for task in tasks + [last] { task.cancel() }
    }

    @Test("M05: a hint starts only on a free connection, and delays no request while it loads")
    func preload() {
        let limit = HostLimit(connectionsPerHost: 2)
        var request = TransportRequest(urlString: "https://host/p", resourceClass: .segment)
        (request.isHeld, request.isPreload) = (true, true)
        let hint = limit.start(request, by: origin) { _ in }
        origin.respond("p")
        (request.isHeld, request.isPreload) = (false, false)
        let tasks = ["a", "b", "c"].map { name in
            request.urlString = "https://host/\(name)"
            return limit.start(request, by: origin) { _ in }
        }
        #expect(origin.begun == ["p", "a", "b"])
        let other = start("x")
        let refused = start("y", isHeld: true, isPreload: true)
        #expect(origin.begun == ["p", "a", "b", "x"])
        for task in tasks + [hint, other, refused] { task.cancel() }
    }

    @Test("D07: a request cancelled while it waits never begins and does not block others")
    func cancelledWhileWaiting() {
        let tasks = ["a", "b", "c"].map { start($0) }
        tasks[1].cancel()
        origin.finish("a")
        #expect(origin.begun == ["a", "c"])
        #expect(origin.flags.isEmpty)
    }

    @Test("D07: a pause set while waiting applies from the beginning")
    func pausedWhileWaiting() {
        let tasks = ["a", "b"].map { start($0) }
        tasks[1].pause()
        origin.finish("a")
        #expect(origin.flags == ["pause b"])
    }

    @Test("D07: while a request is paused, another uses its slot")
    func lendsItsPlace() {
        let tasks = ["a", "b"].map { start($0) }
        tasks[0].pause()
        #expect(origin.begun == ["a", "b"])
        tasks[0].resume()
        #expect(origin.flags == ["pause a", "resume a"])
    }

    @Test("D07: the end is reported before the next request begins")
    func order() {
        let begunAtTheEnd = Mutex<[String]>([])
        let origin = origin
        let first = start("a") { begunAtTheEnd.withLock { $0 = origin.begun } }
        let second = start("b")
        origin.finish("a")
        #expect(begunAtTheEnd.withLock(\.self) == ["a"])
        #expect(origin.begun == ["a", "b"])
        _ = (first, second)
    }

    @Test("D07: over HTTP/2 all requests begin once the protocol is known")
    func multiplexed() {
        let tasks = ["a", "b", "c"].map { start($0) }
        origin.finish("a", protocolName: "h2")
        #expect(origin.begun == ["a", "b", "c"])
        _ = tasks
    }
}

@Suite("Limit of connections per host, with a server", .timeLimit(.minutes(10)))
struct HostLimitServerTests {
    private struct Open: Sendable {
        var count = 0
        var most = 0
        var total = 0
        var isReleased = false
    }

    @Test("D07: the server never has more parallel requests than the limit", arguments: [1, 2, 3])
    func counted(limit: Int) async throws {
        let open = Monitor(Open())
        let arrived = Gate(0)
        try await withServer(answering: { connection, request in
            // The client counts `localhost` as another host, so its limit does not hold back this request.
            if request[0].contains("/mark") { return connection.respond("mark".utf8) }
            open.signal { state in
                state.count += 1
                state.total += 1
                state.most = max(state.most, state.count)
            }
            arrived.signal { $0 += 1 }
            open.wait { $0.isReleased ? () : nil }
            open.signal { $0.count -= 1 }
            connection.respond("body".utf8)
        }) { server in
            var configuration = TransportConfiguration(proxy: .none)
            configuration.maximumConnectionsPerHost = limit
            configuration.forcesHTTP11 = true
            let transport = CurlTransport(configuration: configuration)
            let results = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let request = TransportRequest(urlString: "\(server.url)/\(number)", resourceClass: .segment)
                        return await transport.load(request).error == nil
                    }
                }
                group.addTask {
                    await arrived.wait { $0 >= limit ? () : nil }
                    let mark = "http://localhost:\(server.port)/mark"
                    let isMarked =
                        await transport.load(TransportRequest(urlString: mark, resourceClass: .segment)).error == nil
                    open.signal { $0.isReleased = true }
                    return isMarked
                }
                var results: [Bool] = []
                for await result in group { results.append(result) }
                return results
            }
            #expect(results.count == 9 && results.allSatisfy(\.self))
            let end = open.withLock { $0 }
            #expect(end.total == 8 && end.count == 0)
            #expect(end.most == limit)
        }
    }
}
