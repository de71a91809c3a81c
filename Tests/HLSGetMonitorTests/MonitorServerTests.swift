import HLSKitCore
import TestSupport
import Testing

@testable import HLSGetMonitor

@Suite("Monitor server", .timeLimit(.minutes(10)))
struct MonitorServerTests {
    @Test(
        "a request head is read in any pieces",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", HTTPRequestHead.Result.request(.init(path: "/"))),
            ("GET /metrics?x=1#y HTTP/1.0\n\n", .request(.init(path: "/metrics"))),
            ("\r\nGET /a%20b HTTP/1.1\r\n\r\n", .request(.init(path: "/a%20b"))),
            ("POST / HTTP/1.1\r\n\r\n", .refused(405)), ("HEAD / HTTP/1.1\r\n\r\n", .refused(405)),
            ("GET / HTTP/2.0\r\n\r\n", .refused(400)), ("GET http://a/ HTTP/1.1\r\n\r\n", .refused(400)),
            ("GET  / HTTP/1.1\r\n\r\n", .refused(400)), ("\u{16}\u{3}\u{1}\r\n\r\n", .refused(400)),
            ("GET / HTTP/1.1\r\nHost: a\r\n", .incomplete), ("", .incomplete),
            (String(repeating: "x", count: 8192), .refused(431)),
        ])
    func heads(text: String, result: HTTPRequestHead.Result) {
        #expect(HTTPRequestHead.parse(Array(text.utf8)) == result)
        guard result != .incomplete, text.utf8.count < 8192 else { return }
        var connection = ServerConnection(at: .zero)
        var count = 0
        for byte in text.utf8 {
            connection.receive([byte], at: .seconds(1)) { _ in
                count += 1
                return .text("hello")
            }
        }
        if case .request = result { #expect(count == 1) } else { #expect(count == 0) }
        #expect(connection.hasOutput && !connection.wantsInput)
    }

    @Test("slow heads, stuck responses and blocked readers are dropped")
    func limits() {
        var connection = ServerConnection(at: .seconds(10))
        connection.receive("GET / HT".utf8, at: .seconds(14)) { _ in .text("x") }
        #expect(connection.deadline == .seconds(15))
        connection.receive("TP/1.1\r\n\r\n".utf8, at: .seconds(14)) { _ in
            HTTPAnswer(contentType: "text/event-stream", isEventStream: true)
        }
        #expect(connection.takesEvents && connection.deadline == .seconds(24))
        connection.noteSent(connection.pending.count, at: .seconds(14))
        #expect(connection.deadline == nil && !connection.isOver)
        connection.send(event: [UInt8](repeating: 0, count: 8 << 20), at: .seconds(100))
        #expect(connection.deadline == .seconds(110))
        connection.send(event: [UInt8](repeating: 0, count: 9 << 20), at: .seconds(101))
        #expect(connection.isOver)
    }

    private func get(_ port: Int, _ path: String, _ options: [String] = []) throws -> String {
        String(
            decoding: try Tool.run(
                ["curl", "-sS", "-m", "10", "-w", "\n%{http_code} %{content_type}"] + options
                    + ["http://127.0.0.1:\(port)\(path)"]), as: UTF8.self)
    }

    @Test("the server answers on loopback, one request per connection")
    func answers() throws {
        let server = try MonitorServer(address: "127.0.0.1", port: 0, clock: .host) { path in
            path == "/big" ? HTTPAnswer(body: [UInt8](repeating: 65, count: 5 << 20)) : .text("path \(path)")
        }
        defer { server.close() }
        #expect(try get(server.port, "/a?b") == "path /a\n\n200 text/plain; charset=utf-8")
        #expect(try get(server.port, "/big").utf8.count > 5 << 20)
        #expect(try get(server.port, "/", ["-X", "POST", "-d", "x"]).hasSuffix("405 text/plain; charset=utf-8"))
        let head = try get(server.port, "/", ["-i"])
        #expect(head.contains("Content-Security-Policy: default-src 'none'"))
        #expect(head.contains("Connection: close"))
    }

    @Test("connections over the limit wait, and silent ones are closed")
    func crowd() throws {
        let server = try MonitorServer(address: "127.0.0.1", port: 0, clock: .host) { _ in .text("ok") }
        defer { server.close() }
        let script = """
            import socket, time
            s = [socket.create_connection(("127.0.0.1", \(server.port))) for _ in range(80)]
            t = time.time()
            c = socket.create_connection(("127.0.0.1", \(server.port)))
            c.settimeout(20); c.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
            a = c.recv(100)
            print(a.split(b"\\r\\n")[0].decode(), 3 < time.time() - t < 12)
            """
        let said = String(decoding: try Tool.run(["python3", "-c", script]), as: UTF8.self)
        #expect(said == "HTTP/1.1 200 OK True\n")
    }

    @Test("an invalid or foreign address is refused with the reason")
    func addresses() {
        #expect(throws: MonitorServer.Failure.self) {
            try MonitorServer(address: "localhost.invalid", port: 0, clock: .host) { _ in .text("") }
        }
        #expect(throws: MonitorServer.Failure.self) {
            try MonitorServer(address: "192.0.2.1", port: 0, clock: .host) { _ in .text("") }
        }
    }

    @Test("event readers get all streams first, then the changes")
    func rows() {
        func row(_ name: String, playing: Bool) -> StreamRow {
            var health = StreamHealth()
            _ = health.handle(.began, at: .zero)
            if playing { _ = health.handle(.playing, at: .seconds(1)) }
            return StreamRow(name: name, url: "", health: health, at: .seconds(1))
        }
        var stream = RowStream()
        #expect(stream.all == "event: all\ndata: []\n\n")
        let first = stream.update([row("a", playing: false), row("b", playing: true)])
        #expect(first.hasPrefix("event: rows\ndata: [{\"stream\":\"a\""))
        #expect(stream.update([row("a", playing: false), row("b", playing: true)]) == "")
        let second = stream.update([row("a\n", playing: true), row("b", playing: true)])
        #expect(second.contains("event: gone\ndata: [\"a\"]\n\n"))
        #expect(second.split(separator: "\n").count == 4)
        #expect(stream.all.contains("\"stream\":\"b\""))
    }
}
