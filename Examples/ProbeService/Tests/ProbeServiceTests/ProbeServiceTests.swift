import Foundation
import HLSKitCore
import HLSKitSimulation
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import ProbeService

@Suite("A stream as an HTTP response", .timeLimit(.minutes(10)))
struct ProbeServiceTests {
    private static let stream = SyntheticStream(segmentDuration: .seconds(2), segmentCount: 5)

    private func ask(
        _ url: String?, arguments: [String] = [], deadline: Duration = .seconds(10),
        times: Int = 1,
        of answer: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse = { stream.response(to: $0) }
    ) async throws -> [(status: HTTPResponse.Status, body: Data, retry: String?)] {
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 50_000_000, latency: .milliseconds(5)))
        let transport = SimulatedTransport(over: link, clock: ContinuousClock(), answer: answer)
        let options = try ProbeOptions(arguments)
        let probe = StreamProbe(
            transport: GuardedTransport(base: transport, hosts: options.hosts), deadline: deadline)
        return try await ask(url, options, probe, times: times)
    }

    private func ask(
        _ url: String?, _ options: ProbeOptions, _ probe: StreamProbe, times: Int = 1
    ) async throws -> [(status: HTTPResponse.Status, body: Data, retry: String?)] {
        var characters = CharacterSet.urlQueryAllowed
        characters.remove(charactersIn: "&+?=#")
        let text = url.flatMap { $0.addingPercentEncoding(withAllowedCharacters: characters) }
        let application = ProbeService.application(options, probe, logger: Logger(label: "test"))
        return try await application.test(.router) { client in
            try await withThrowingTaskGroup { group in
                for _ in 0..<times {
                    group.addTask {
                        try await client.execute(uri: text.map { "/probe?url=\($0)" } ?? "/probe", method: .get) {
                            ($0.status, Data($0.body.readableBytesView), $0.headers[.retryAfter])
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
    }

    private func problem(_ body: Data) throws -> ProbeReport.Failure {
        try JSONDecoder().decode(ProbeProblem.self, from: body).error
    }

    @Test("the response has variants, duration, tracks and time to first frame, without URL secrets")
    func film() async throws {
        let answer = try await ask(Self.stream.urlString + "?token=SECRET") { request in
            var request = request
            request.urlString = String(request.urlString.prefix { $0 != "?" })
            return Self.stream.response(to: request)
        }[0]
        #expect(answer.status == .ok)
        let report = try JSONDecoder().decode(ProbeReport.self, from: answer.body)
        #expect(report.url == Self.stream.urlString)
        #expect(!report.live && report.duration == 10)
        #expect(report.variants.map(\.peakBitRate) == [400_000, 1_000_000, 2_500_000, 5_000_000])
        #expect(report.variants.allSatisfy { $0.ineligible.isEmpty && !$0.codecs.isEmpty })
        #expect(report.tracks.map { [$0.type, $0.codec] } == [["video", "h264"]])
        let frame = try #require(report.firstPicture)
        #expect(frame > 0 && frame < 8)
        #expect(report.requests >= 4 && report.bytes > 1000 && report.errors.isEmpty)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("SECRET"))
    }

    @Test("a live stream has no duration; a recovered failure is reported")
    func live() async throws {
        let live = SyntheticStream(segmentDuration: .seconds(2), segmentCount: 1000, liveWindow: 6)
        let answer = try await ask(live.urlString) { request in
            request.urlString.hasSuffix("/0/index.m3u8") && request.attempt == 1
                ? .status(503) : live.response(to: request)
        }[0]
        let report = try JSONDecoder().decode(ProbeReport.self, from: answer.body)
        #expect(report.live && report.duration == nil && report.firstPicture != nil)
    }

    @Test(
        "URLs other than http(s) are refused before anything is loaded",
        arguments: [nil, "", "x", "file:///etc/passwd", "ftp://a/b", "http://", "//a/b"])
    func urls(_ url: String?) async throws {
        let answer = try await ask(url) { _ in
            Issue.record("it was loaded")
            return .notFound
        }[0]
        #expect(answer.status == .badRequest)
        #expect(try problem(answer.body).code == "badURL")
    }

    @Test("the status of a failure tells client errors from stream errors")
    func failures() async throws {
        let gone = try await ask(Self.stream.urlString) { _ in .notFound }[0]
        #expect(gone.status == .badGateway)
        #expect(try problem(gone.body).status == 404)
        let page = try await ask(Self.stream.urlString) { _ in
            SimulatedResponse(contentType: "text/html", body: Array("<html>no stream</html>".utf8))
        }[0]
        #expect(page.status == .unprocessableContent)
        let silent = try await ask(Self.stream.urlString, deadline: .milliseconds(300)) { _ in
            var response = SimulatedResponse.notFound
            response.delay = .seconds(60)
            return response
        }[0]
        #expect(silent.status == .gatewayTimeout)
    }

    @Test("probes above the limit are refused with a Retry-After")
    func busy() async throws {
        let answers = try await ask(
            Self.stream.urlString, arguments: ["--at-once", "2"], deadline: .milliseconds(500), times: 5
        ) { _ in
            var response = SimulatedResponse.notFound
            response.delay = .seconds(60)
            return response
        }
        #expect(answers.filter { $0.status == .serviceUnavailable && $0.retry == "5" }.count == 3)
        #expect(answers.filter { $0.status == .gatewayTimeout }.count == 2)
    }

    @Test("with a list of hosts, others are not contacted, neither by URL nor from a playlist")
    func hosts() async throws {
        let arguments = ["--allow-host", "synthetic.invalid", "--allow-host", "*.example.com"]
        #expect(try await ask(Self.stream.urlString, arguments: arguments)[0].status == .ok)
        for url in ["https://example.com/a", "https://notexample.com/a", "https://other.invalid/a"] {
            #expect(try await ask(url, arguments: arguments)[0].status == .forbidden)
        }
        let led = try await ask(Self.stream.urlString, arguments: arguments) { request in
            request.urlString.contains("other.invalid")
                ? .notFound : .playlist("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://other.invalid/v.m3u8\n")
        }[0]
        #expect(led.status == .forbidden)
        let list = HostList(patterns: ["a.example", "*.b.example"])
        #expect(list.allows("A.example") && list.allows("x.b.example") && list.allows("x.y.b.example"))
        #expect(!list.allows("b.example") && !list.allows("xa.example") && !list.allows("a.example.evil"))
    }

    /// Responds like a server that was reached by a redirect.
    private struct Elsewhere: ResourceTransport {
        var url: String

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            handler(.response(TransportResponse(status: 200, urlString: url)))
            handler(.data(Array("#EXTM3U".utf8)))
            handler(.finished(TransferMetrics()))
            return Over()
        }

        final class Over: TransportTask {
            func cancel() {}
            func pause() {}
            func resume() {}
        }
    }

    @Test("a response from a redirect to a forbidden host is not read")
    func redirects() async throws {
        for (url, status) in [("https://a.example/b", 422), ("https://other.invalid/b", 403)] {
            let options = try ProbeOptions(["--allow-host", "a.example"])
            let transport = GuardedTransport(base: Elsewhere(url: url), hosts: options.hosts)
            let probe = StreamProbe(transport: transport, deadline: .seconds(10))
            #expect(try await ask("https://a.example/a", options, probe)[0].status.code == status)
        }
    }

    @Test("reported URLs contain no user, password or query")
    func shown() {
        #expect(ProbeReport.shown("https://me:secret@a.example:1/b?c=d#e") == "https://a.example:1/b")
    }

    @Test(
        "addresses of this machine and of private networks are not contacted",
        arguments: [
            "http://127.0.0.1:9/a.m3u8", "http://localhost:9/a", "http://[::1]:9/a", "http://10.0.0.1/a",
            "http://169.254.169.254/latest/meta-data", "http://[::ffff:192.168.0.1]/a", "http://0x7f000001:9/a",
        ])
    func addresses(_ url: String) async throws {
        let options = try ProbeOptions()
        let probe = StreamProbe(transport: options.makeTransport(), deadline: .seconds(10))
        let answer = try await ask(url, options, probe)[0]
        #expect(answer.status == .forbidden, "\(String(decoding: answer.body, as: UTF8.self))")
    }

    @Test("command line values have limits")
    func options() throws {
        let options = try ProbeOptions(["--port", "0", "--deadline", "5", "--at-once", "3", "--allow-private"])
        #expect(options.port == 0 && options.deadline == .seconds(5) && options.maximumCount == 3)
        #expect(options.allowsPrivateAddresses)
        for mistake in [["--port"], ["--port", "x"], ["--deadline", "0"], ["--at-once", "100000"], ["x"]] {
            #expect(throws: ProbeOptions.Mistake.self) { try ProbeOptions(mistake) }
        }
    }
}
