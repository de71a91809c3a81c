import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("hlsget monitor", .ownThread, .timeLimit(.minutes(10)))
struct MonitorTests {
    private final class SwitchedOrigin: Sendable {
        private let files: [String: [UInt8]]
        private let isOn = Mutex(true)
        let notices = Mutex<[String]>([])

        init() throws { files = try CutStream.files() }

        func turn(on: Bool) { isOn.withLock { $0 = on } }

        func answer(_ connection: ScriptedServer.Connection, _ request: [String]) {
            let words = request.first?.split(separator: " ") ?? []
            if words.first == "POST" {
                let length =
                    request.first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)) } ?? 0
                let body = String(decoding: connection.read(length), as: UTF8.self)
                notices.withLock { $0.append(body) }
                return connection.respond(Array("ok".utf8))
            }
            let path = String((words.dropFirst().first?.dropFirst() ?? "").prefix { $0 != "?" })
            guard isOn.withLock(\.self), let bytes = files[path] else {
                return connection.respond([], status: "404 Not Found")
            }
            connection.respond(bytes)
        }
    }

    private static let examples = SampleMedia.fixtures + "/../../Examples/Monitoring"

    private static func port(in text: String) -> Int? {
        text.firstRange(of: "http://127.0.0.1:").flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) }
    }

    private static func get(_ port: Int, _ path: String) -> String {
        let bytes = (try? Tool.run(["curl", "-sS", "-m", "10", "http://127.0.0.1:\(port)\(path)"])) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("a list is monitored, reported, and read again on SIGHUP; webhook and command get changes")
    func whole() async throws {
        let folder = try ScratchFolder()
        let origin = try SwitchedOrigin()
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let film = "\(server.url)/master.m3u8?token=s3cret"
            try folder.write(Array("film = \(film)\nnone = \(server.url)/none.m3u8\n".utf8), to: "list")
            let command = try Command.hlsget(
                [
                    "monitor", "list", "--for", "1s", "--metrics-port", "0", "--progress", "json", "--interval", "1s",
                    "--exec", "echo \"$HLSGET_STREAM $HLSGET_OLD $HLSGET_NEW $HLSGET_CODE\" >> told", "--webhook",
                    "\(server.url)/hook", "--json",
                ], in: folder.path)
            defer { command.send(signal: SIGKILL) }
            try #require(command.wait { Self.port(in: command.errors) != nil })
            let port = try #require(Self.port(in: command.errors))
            let reported = {
                String(decoding: FileManager.default.contents(atPath: folder.path + "/told") ?? Data(), as: UTF8.self)
            }
            #expect(command.wait { reported() == "none starting down http_404\n" }, "\(reported())")
            #expect(command.wait { !origin.notices.withLock(\.self).isEmpty })
            let notice = origin.notices.withLock(\.self).first ?? ""
            #expect(
                notice.hasPrefix(#"{"stream":"none","url":"\#(server.url)/none.m3u8","old":"starting","new":"down","#))
            #expect(command.wait { Self.get(port, "/metrics").contains("hls_stream_up{stream=\"film\"} 1") })
            #expect(Self.get(port, "/metrics").contains("hls_stream_up{stream=\"none\"} 0"))
            #expect(Self.get(port, "/healthz") == "ok\n")
            #expect(Self.get(port, "/").contains("<title>hlsget monitor</title>"))
            try folder.write(Array("film = \(film)\nother = \(server.url)/master.m3u8\n".utf8), to: "list")
            command.send(signal: SIGHUP)
            #expect(command.waitForErrors(containing: "the list was read again: 1 added, 1 removed"))
            #expect(command.wait { Self.get(port, "/metrics").contains("hls_stream_up{stream=\"other\"} 1") })
            #expect(!Self.get(port, "/metrics").contains("stream=\"none\""))
            try folder.write(Array("film\nfilm = \(film)\n = x".utf8), to: "list")
            command.send(signal: SIGHUP)
            #expect(command.waitForErrors(containing: "the list is unchanged: list:3: "))
            #expect(Self.get(port, "/metrics").contains("hls_stream_up{stream=\"other\"} 1"))
            #expect(!Self.get(port, "/metrics").contains("s3cret"))
            #expect(!Self.get(port, "/streams.json").contains("s3cret"))
            command.send(signal: SIGTERM)
            let result = try await command.result()
            #expect(result.status == 128 + SIGTERM)
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
            #expect(
                (document["streams"] as? [[String: Any]])?.compactMap { $0["stream"] as? String } == ["film", "other"])
            for line in result.lines {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect(object?["v"] as? Int == 1 && object?["event"] is String && object?["time"] is Double, "\(line)")
            }
            #expect(!result.errors.contains("s3cret"))
        }
    }

    @Test("a media playlist has the height of its media, and the last JSON line is a summary")
    func summary() async throws {
        let result = try await hlsget(
            "monitor", SampleMedia.folder + "/video-360p.m3u8", "--duration", "4s", "--progress", "json", "--for", "1s")
        #expect(result.status == 0, "\(result.errors)")
        let events = try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let stream = try #require(events.last { $0["event"] as? String == "stream" })
        #expect(stream["variant"] as? String == "360p" && stream["state"] as? String == "up", "\(stream)")
        let since = try #require(stream["state_since"] as? String)
        #expect(since.hasPrefix("20") && since.hasSuffix("Z"))
        let last = try #require(events.last)
        #expect(last["event"] as? String == "summary" && last["streams"] as? Int == 1 && last["up"] as? Int == 1)
        #expect(last["down"] as? Int == 0 && last["outages"] as? Int == 0 && last["exit_status"] as? Int == 0)
    }

    private static func query(_ port: Int, _ expression: String) -> [String: String] {
        let bytes = try? Tool.run([
            "curl", "-sS", "-m", "10", "-G", "--data-urlencode", "query=\(expression)",
            "http://127.0.0.1:\(port)/api/v1/query",
        ])
        let document = try? JSONSerialization.jsonObject(with: Data(bytes ?? [])) as? [String: Any]
        let results = (document?["data"] as? [String: Any])?["result"] as? [[String: Any]] ?? []
        var values: [String: String] = [:]
        for result in results {
            let labels = result["metric"] as? [String: String] ?? [:]
            values[labels["stream"] ?? ""] = (result["value"] as? [Any])?.last as? String
        }
        return values
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        try #require(isBound)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    @Test("Prometheus scrapes the monitor, and its alert rules fire", .enabled(if: Tool.exists("/usr/bin/prometheus")))
    func prometheus() async throws {
        let folder = try ScratchFolder()
        let origin = try SwitchedOrigin()
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            try folder.write(
                Array("film = \(server.url)/master.m3u8\nnone = \(server.url)/none.m3u8\n".utf8), to: "list")
            let monitor = try Command.hlsget(
                ["monitor", "list", "--for", "1s", "--metrics-port", "0"], in: folder.path)
            defer { monitor.send(signal: SIGKILL) }
            try #require(monitor.wait { Self.port(in: monitor.errors) != nil })
            let target = try #require(Self.port(in: monitor.errors))
            // The rules of the example with a shorter duration.
            let rules = try String(contentsOfFile: Self.examples + "/alerts.yml", encoding: .utf8)
            try folder.write(Array(rules.replacing(/for: \d+[sm]/, with: "for: 1s").utf8), to: "alerts.yml")
            let lines = [
                "global: {scrape_interval: 1s, evaluation_interval: 1s}", "rule_files: [alerts.yml]", "scrape_configs:",
                "  - {job_name: hls, static_configs: [{targets: ['127.0.0.1:\(target)']}]}",
            ]
            try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "prometheus.yml")
            let port = try Self.freePort()
            let prometheus = try Command(
                [
                    "/usr/bin/prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                    "--web.listen-address=127.0.0.1:\(port)",
                ], in: folder.path)
            defer { prometheus.send(signal: SIGKILL) }
            var states: [String: String] = [:]
            var alerts: [String: String] = [:]
            for _ in 0..<4 where alerts["none"] == nil || states["film"] != "1" {
                _ = prometheus.wait {
                    states = Self.query(port, "hls_stream_up")
                    alerts = Self.query(port, "ALERTS{alertname=\"HLSStreamDown\",alertstate=\"firing\"}")
                    return alerts["none"] != nil && states["film"] == "1"
                }
            }
            #expect(states == ["film": "1", "none": "0"])
            #expect(alerts == ["none": "1"])
            #expect(Self.query(port, "up{job=\"hls\"}") == ["": "1"])
            prometheus.send(signal: SIGTERM)
            #expect(try await prometheus.result().status == 0)
        }
    }

    @Test("a stream that recovers is reported once as down and once as up")
    func outage() async throws {
        let folder = try ScratchFolder()
        let origin = try SwitchedOrigin()
        origin.turn(on: false)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let command = try Command.hlsget(
                ["monitor", "\(server.url)/master.m3u8", "--for", "1s", "--strict", "--duration", "60s"],
                in: folder.path)
            defer { command.send(signal: SIGKILL) }
            #expect(command.waitForErrors(containing: " is down: failed: "))
            origin.turn(on: true)
            var isBack = false
            for _ in 0..<5 where !isBack { isBack = command.waitForErrors(containing: " is up after ") }
            #expect(isBack)
            command.send(signal: SIGINT)
            let result = try await command.result()
            #expect(result.status == 128 + SIGINT)
            let changes = result.lines.filter { $0.contains(" is ") }
            #expect(changes.count == 2, "\(result.errors)")
            #expect(result.lines.last?.contains("1 outage") == true)
        }
    }

    @Test("--strict exits with 10 if a stream was down, and otherwise --duration with 0")
    func strict() async throws {
        let folder = try ScratchFolder()
        let origin = try SwitchedOrigin()
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let good = try await hlsget(
                "monitor", "--duration", "4s", "--for", "1s", "--strict", "\(server.url)/master.m3u8", in: folder)
            #expect(good.status == 0, "\(good.errors)")
            #expect(good.errors.contains("1 up; 0 outages"))
            let bad = try await hlsget(
                "monitor", "--duration", "10s", "--for", "1s", "--strict", "\(server.url)/none.m3u8", in: folder)
            #expect(bad.status == 10, "\(bad.errors)")
        }
    }

    @Test("mistakes exit with 64 before any request")
    func mistakes() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("https://127.0.0.1:1/x\na = https://\n".utf8), to: "list")
        try folder.write(Array("# nothing\n".utf8), to: "empty")
        for (arguments, text) in [
            (["list"], "list:2: "), (["nowhere"], "nowhere cannot be read: No such file or directory"),
            (["empty"], "the list contains no streams"), (["list", "--shard", "2/2"], "write i/n"),
            (["list", "--metrics-port", "70000"], "0 to 65535"),
            (["list", "--metrics-address", "::1"], "--metrics-address requires --metrics-port"),
            (["list", "--webhook", "ftp://x"], "expected an http or https URL"),
            (["list", "--interval", "5s"], "--interval requires --progress json"),
        ] {
            let result = try await hlsget(["monitor"] + arguments, in: folder)
            #expect(result.status == 64, "\(arguments): \(result.errors)")
            #expect(result.errors.contains(text), "\(arguments): \(result.errors)")
        }
    }

    @Test("the remaining days of a certificate are reported", .enabled(if: TestOrigin.isInstalled))
    func certificate() async throws {
        let origin = try TestOrigin()
        try SampleMedia.copy(to: origin.root)
        let result = try await hlsget(
            "monitor", "--duration", "4s", "--json", "-q", "--cacert", origin.caFile,
            "\(origin.secure)/sample/master.m3u8")
        #expect(result.status == 0, "\(result.errors)")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
        let stream = try #require((document["streams"] as? [[String: Any]])?.first)
        #expect(stream["state"] as? String == "up")
        #expect(stream["certificate_days"] is Int, "\(stream)")
    }

    @Test(
        "the page shows the streams, the worst first",
        .enabled(if: Tool.exists("/usr/bin/chromium")))
    func page() async throws {
        let folder = try ScratchFolder()
        let origin = try SwitchedOrigin()
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let list = "aaa = \(server.url)/master.m3u8\nzzz <b>x</b> = \(server.url)/none.m3u8\n"
            try folder.write(Array(list.utf8), to: "list")
            let command = try Command.hlsget(
                ["monitor", "list", "--for", "1s", "--metrics-port", "0"], in: folder.path)
            defer { command.send(signal: SIGKILL) }
            try #require(command.waitForErrors(containing: "is down"))
            let port = try #require(Self.port(in: command.errors))
            // The event stream never ends, so the browser shows the initial content of the page.
            let page = String(
                decoding: try Tool.run(
                    [
                        "timeout", "60", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                        "--user-data-dir=\(folder.path)/browser",
                        "--window-size=1000,400", "--screenshot=\(folder.path)/page.png", "--dump-dom",
                        "http://127.0.0.1:\(port)/",
                    ]), as: UTF8.self)
            let first = try #require(page.firstRange(of: "zzz &lt;b&gt;x&lt;/b&gt;"))
            let second = try #require(page.firstRange(of: ">aaa<"))
            #expect(first.lowerBound < second.lowerBound)
            #expect(page.contains("<span class=\"state down\">down</span>"))
            #expect(page.contains("1 down · hlsget monitor"))
        }
    }
}
