import HLSKitCore
import HLSKitSimulation
import InMemoryTracing
import TestSupport
import Testing
import Tracing

@testable import HLSKitObservability

@Suite("Player tracing", .timeLimit(.minutes(10)))
struct PlayerTracingTests {
    private static func seconds(_ instant: any TracerInstant) -> Double {
        Double(instant.nanosecondsSinceEpoch) / 1e9
    }

    private static func text(_ span: FinishedInMemorySpan, _ attribute: TraceAttribute) -> String? {
        switch span.attributes.get(attribute.rawValue) {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let value): "\(value)"
        default: nil
        }
    }

    private func spans(
        _ stage: Stage, seconds: Int, _ tracing: (InMemoryTracer) -> PlayerTracing = { PlayerTracing(tracer: $0) }
    ) throws -> [FinishedInMemorySpan] {
        let tracer = InMemoryTracer()
        let tracing = tracing(tracer)
        let player = try stage.play { tracing.attach(to: $0) }
        stage.clock.advance(by: .seconds(seconds))
        stage.close(player)
        #expect(tracer.activeSpans.isEmpty)
        return tracer.finishedSpans
    }

    @Test("an item is a span from its start until it is left, with its result")
    func item() throws {
        let spans = try spans(Stage(), seconds: 70)
        let items = spans.filter { $0.operationName == "hls.item" }
        #expect(items.count == 1)
        let item = try #require(items.first)
        #expect(item.parentSpanID == nil)
        #expect(Self.seconds(item.startInstant) == 0)
        #expect(Self.seconds(item.endInstant) == 70)
        #expect(Self.text(item, .url) == "https://synthetic.invalid/index.m3u8")
        #expect(Self.text(item, .variantCount) == "4")
        #expect(Self.text(item, .playbackType) == "vod")
        #expect(Self.text(item, .outcome) == "ended")
        #expect(Self.text(item, .played) == "60.0")
        #expect(Self.text(item, .stallCount) == "0")
        #expect(Self.text(item, .session)?.isEmpty == false)
        #expect(item.status == nil)
        let events = item.events.map(\.name)
        #expect(events.contains("hls.ready") && events.contains("hls.variant_switch"))
        #expect(events.filter { $0 == "hls.playing" }.count == 1)
    }

    @Test("each request is a span in the item's span, with its times and HTTP attributes")
    func requests() throws {
        let spans = try spans(Stage(), seconds: 70)
        let item = try #require(spans.first { $0.operationName == "hls.item" })
        let requests = spans.filter { $0.kind == .client }
        #expect(requests.filter { $0.operationName == "GET segment" }.count == 10)
        #expect(requests.filter { $0.operationName == "GET multivariant_playlist" }.count == 1)
        for request in requests {
            #expect(request.parentSpanID == item.spanID)
            #expect(request.traceID == item.traceID)
            #expect(Self.seconds(request.endInstant) > Self.seconds(request.startInstant))
            #expect(Self.text(request, .method) == "GET")
            #expect(Self.text(request, .status) == "200")
            #expect(Self.text(request, .serverAddress) == "synthetic.invalid")
            #expect(Self.text(request, .serverPort) == "443")
            #expect(Self.text(request, .errorType) == nil)
            let first = request.events.first { $0.name == "hls.first_byte" }
            let time = try #require(first).nanosecondsSinceEpoch
            #expect(time > request.startInstant.nanosecondsSinceEpoch)
            #expect(time <= request.endInstant.nanosecondsSinceEpoch)
        }
        let first = try #require(requests.first { $0.operationName == "GET multivariant_playlist" })
        #expect(Self.seconds(first.startInstant) == 0)
        let segment = try #require(requests.first { $0.operationName == "GET segment" })
        #expect(Self.text(segment, .segmentDuration) == "6.0")
        #expect(Self.text(segment, .variant) != nil)
    }

    @Test("each stall is a span with its cause")
    func stalls() throws {
        let spans = try spans(
            Stage(SyntheticStream(bitRates: Stage.bitRates), over: try Stage.tunnel(from: 60, for: 55)), seconds: 240)
        let item = try #require(spans.first { $0.operationName == "hls.item" })
        let stalls = spans.filter { $0.operationName == "hls.stall" }
        #expect(stalls.count == 2)
        #expect(Self.text(item, .stallCount) == "2")
        for stall in stalls {
            #expect(stall.parentSpanID == item.spanID)
            #expect(Self.text(stall, .waitingReason) == "toMinimizeStalls")
            #expect(Self.text(stall, .itemTime) != nil)
        }
        let total = stalls.reduce(0) { $0 + Self.seconds($1.endInstant) - Self.seconds($1.startInstant) }
        let reported = try #require(Self.text(item, .stallTime).flatMap(Double.init))
        #expect(abs(total - reported) < 0.001)
        #expect(item.events.contains { $0.name == "hls.missing" })
        #expect(item.errors.count > 0)
        #expect(item.status == nil)
        #expect(Self.text(item, .outcome) == "left")
    }

    @Test("a failed item is a span with its error, and so is the failed request")
    func failure() throws {
        let stage = Stage { request in request.urlString.contains("index") ? .notFound : nil }
        let spans = try spans(stage, seconds: 30)
        let item = try #require(spans.first { $0.operationName == "hls.item" })
        #expect(item.status?.code == .error)
        #expect(Self.text(item, .outcome) == "failed")
        #expect(Self.text(item, .errorType) == "http_404")
        #expect(Self.text(item, .status) == "404")
        #expect(item.errors.contains { ($0.error as? HLSError)?.code == .notFound })
        let request = try #require(spans.first { $0.kind == .client })
        #expect(request.status?.code == .error)
        #expect(Self.text(request, .errorType) == "404")
        #expect(Self.text(request, .status) == "404")
        #expect(request.errors.count == 1)
    }

    @Test("spans belong to the context in which the player was attached")
    func parent() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 2))
        let tracer = InMemoryTracer()
        let tracing = PlayerTracing(tracer: tracer)
        let outer = tracer.startSpan("service")
        let player = try ServiceContext.$current.withValue(outer.context) {
            try stage.play { tracing.attach(to: $0) }
        }
        stage.clock.advance(by: .seconds(5))
        stage.close(player)
        outer.end()
        let item = try #require(tracer.finishedSpans.first { $0.operationName == "hls.item" })
        #expect(item.parentSpanID == outer.spanID)
        #expect(item.traceID == outer.traceID)
    }

    @Test("requests can be excluded, all or only successful ones", arguments: PlayerTracing.RequestSpans.allCases)
    func fewer(_ which: PlayerTracing.RequestSpans) throws {
        let stage = Stage { request in
            request.urlString.hasSuffix("/3.m4s") && request.attempt == 0 ? .status(503) : nil
        }
        let requests = try spans(stage, seconds: 70) { PlayerTracing(tracer: $0, requestSpans: which) }
            .filter { $0.kind == .client }
        switch which {
        case .all: #expect(requests.count > 12)
        case .failed: #expect(requests.map { Self.text($0, .status) } == ["503"])
        case .none: #expect(requests.isEmpty)
        }
    }

    @Test("when an observation is cancelled, the item's span ends and says so")
    func cancelled() throws {
        let stage = Stage()
        let tracer = InMemoryTracer()
        let tracing = PlayerTracing(tracer: tracer)
        var observation: PlayerObservation?
        let player = try stage.play { observation = tracing.attach(to: $0) }
        stage.clock.advance(by: .seconds(20))
        observation?.cancel()
        stage.clock.advance(by: .seconds(20))
        #expect(tracer.activeSpans.isEmpty)
        let count = tracer.finishedSpans.count
        let item = try #require(tracer.finishedSpans.last { $0.operationName == "hls.item" })
        #expect(Self.text(item, .outcome) == "unobserved")
        #expect(Self.seconds(item.endInstant) == 20)
        stage.close(player)
        #expect(tracer.finishedSpans.count == count)
    }

    @Test("the items of a queue are spans one after another")
    func queue() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 3))
        let tracer = InMemoryTracer()
        let tracing = PlayerTracing(tracer: tracer)
        let items = (0..<2).map { _ in PlayerItem(urlString: stage.stream.urlString) }
        let player = try QueuePlayer(items: items, configuration: stage.configuration)
        tracing.attach(to: player)
        player.play()
        stage.clock.advance(by: .seconds(60))
        stage.close(player)
        let spans = tracer.finishedSpans.filter { $0.operationName == "hls.item" }
        #expect(spans.map { Self.text($0, .outcome) } == ["ended", "ended"])
        for span in spans {
            let requests = tracer.finishedSpans.filter { $0.parentSpanID == span.spanID && $0.kind == .client }
            #expect(requests.filter { $0.operationName == "GET segment" }.count == 3)
            #expect(requests.allSatisfy { Self.seconds($0.startInstant) >= Self.seconds(span.startInstant) })
        }
    }

    @Test("the same session always gives the same spans")
    func repeatable() throws {
        func run() throws -> [String] {
            let stage = Stage(SyntheticStream(bitRates: Stage.bitRates), over: try Stage.tunnel(from: 30, for: 60))
            return try spans(stage, seconds: 200).map { span in
                let names = TraceAttribute.allCases.compactMap { name in
                    name == .session ? nil : Self.text(span, name).map { "\(name.rawValue)=\($0)" }
                }
                let times = [span.startInstant, span.endInstant].map(\.nanosecondsSinceEpoch)
                return "\(span.operationName) \(times) \(names) \(span.events.map(\.name))"
            }
        }
        let first = try run()
        #expect(first.count > 20)
        #expect(try run() == first)
    }

    @Test("the attribute and event tables match the reported attributes and events")
    func table() throws {
        let names = try Page("docs/reference/observability.md").rows.map { Page.names($0[0])[0] }
        let attributes = Set(TraceAttribute.allCases.map(\.rawValue))
        let events = Set(TraceEvent.allCases.map(\.rawValue))
        let others = Set(Metric.allCases.map(\.rawValue)).union(["class", "outcome"])
        let kinds: Set<String> = [TraceName.item, TraceName.stall, "GET"]
        #expect(Set(names).subtracting(others) == attributes.union(events).union(kinds))
        let made = try spans(
            Stage(SyntheticStream(bitRates: Stage.bitRates), over: try Stage.tunnel(from: 60, for: 55)), seconds: 240)
        for span in made {
            func check(_ name: String, _ value: SpanAttribute) { #expect(attributes.contains(name), "\(name)") }
            span.attributes.forEach(check)
            for event in span.events { #expect(events.contains(event.name), "\(event.name)") }
        }
    }
}

@Suite("URLs in traces")
struct RequestURLTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var url: String, text: String, host: String, port: Int
        var testDescription: String { url }
    }

    @Test(
        "host and port are separated, and users and queries are removed",
        arguments: [
            Case(url: "https://a.example/x?token=1#y", text: "https://a.example/x", host: "a.example", port: 443),
            Case(url: "http://a.example:8080/x", text: "http://a.example:8080/x", host: "a.example", port: 8080),
            Case(url: "http://[::1]:81/x", text: "http://[::1]:81/x", host: "[::1]", port: 81),
            Case(url: "http://[::1]/x", text: "http://[::1]/x", host: "[::1]", port: 80),
            Case(url: "https://a.example", text: "https://a.example", host: "a.example", port: 443),
            Case(url: "https://a.example:x/y", text: "https://a.example:x/y", host: "a.example", port: 443),
        ])
    func parts(_ example: Case) {
        let url = RequestURL(example.url)
        #expect(url.text == example.text)
        #expect(url.host == example.host)
        #expect(url.port == example.port)
    }

    @Test("user and password appear nowhere")
    func secrets() {
        let url = RequestURL("https://user:secret@a.example:444/x?key=secret")
        #expect(!"\(url)".contains("secret") && !"\(url)".contains("user"))
        #expect(url.host == "a.example" && url.port == 444)
        #expect(!RequestURL("data:text/plain,secret").text.contains("secret"))
        #expect(!RequestURL("file:///tmp/x.m3u8").isHTTP)
    }
}
