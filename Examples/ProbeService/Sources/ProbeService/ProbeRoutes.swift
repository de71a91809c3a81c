import Foundation
import HLSKitCore
import Hummingbird
import Logging
import Synchronization

/// Answers requests with a report, or with a status that says who caused the problem.
///
/// | status | meaning |
/// |---|---|
/// | 200 | the report |
/// | 400 | no URL, or a scheme other than http and https |
/// | 403 | a host or an address that the service must not contact |
/// | 422 | the response is not a stream, or cannot be played here |
/// | 502 | the stream's server fails, or does not have the stream |
/// | 503 | too many probes at once: `Retry-After` |
/// | 504 | the probe took too long |
struct ProbeRoutes: Sendable {
    private let probe: StreamProbe
    private let hosts: HostList
    private let places: Places

    init(_ options: ProbeOptions, _ probe: StreamProbe) {
        self.probe = probe
        hosts = options.hosts
        places = Places(options.maximumCount)
    }

    func add(to router: Router<BasicRequestContext>) {
        router.get("probe") { request, context in
            let url = request.uri.queryParameters.get("url")
            let response = await self.answer(to: url)
            let shown = url.map(ProbeReport.shown) ?? ""
            context.logger.info("a probe", metadata: ["url": "\(shown)", "status": "\(response.status.code)"])
            return response
        }
        router.get("healthz") { _, _ in "ok\n" }
    }

    private func answer(to url: String?) async -> Response {
        guard let url, let parsed = URL(string: url), let host = parsed.host(), !host.isEmpty,
            ["http", "https"].contains(parsed.scheme?.lowercased())
        else { return Self.problem(.badRequest, "badURL", "the parameter url has to be a URL of http or https") }
        guard hosts.allows(host) else {
            return Self.problem(.forbidden, "refused", "this service does not ask that host")
        }
        guard places.take() else {
            var response = Self.problem(.serviceUnavailable, "busy", "too many probes at once")
            response.headers[.retryAfter] = "5"
            return response
        }
        defer { places.giveBack() }
        do {
            return Self.json(.ok, try await probe.probe(url))
        } catch is StreamProbe.TooLate {
            return Self.problem(.gatewayTimeout, "timedOut", "the stream took too long")
        } catch let error as HLSError {
            return Self.json(Self.status(of: error), ProbeProblem(error: ProbeReport.Failure(error)))
        } catch {
            return Self.problem(.serviceUnavailable, "cancelled", "the service shuts down")
        }
    }

    static func status(of error: HLSError) -> HTTPResponse.Status {
        let below = error.underlyingError as? HLSError
        if error.code == .refused || below?.code == .refused { return .forbidden }
        if error.code == .timedOut || below?.code == .timedOut { return .gatewayTimeout }
        switch error.domain {
        case .http, .network: return .badGateway
        case .playlist, .media, .key: return .unprocessableContent
        default: return error.code == .noEligibleVariant ? .unprocessableContent : .internalServerError
        }
    }

    private static func problem(_ status: HTTPResponse.Status, _ code: String, _ text: String) -> Response {
        json(status, ProbeProblem(error: ProbeReport.Failure(code: code, message: text)))
    }

    private static func json(_ status: HTTPResponse.Status, _ value: some Encodable) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return Response(status: .internalServerError) }
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data + Data("\n".utf8))))
    }
}

/// Limits the number of concurrent probes. A request without a free place is refused at once.
private final class Places: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) { free = Mutex(count) }

    func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func giveBack() { free.withLock { $0 += 1 } }
}
