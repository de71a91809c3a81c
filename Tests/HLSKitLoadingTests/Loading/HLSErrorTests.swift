import FoundationEssentials
import HLSKitCodec
import HLSKitMedia
import HLSKitPlaylist
import Testing

@testable import HLSKitLoading

@Suite("HLSError")
struct HLSErrorTests {
    private static let url = "https://host/a.m3u8"

    private static func loading(_ code: LoadingError.Code, status: Int? = nil) -> LoadingError {
        LoadingError(code: code, url: url, status: status, text: code.rawValue)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var error: HLSError
        var domain: HLSError.Domain
        var isPermanent: Bool
        var testDescription: String { "\(error.code.rawValue): \(error)" }

        init(_ error: HLSError, _ domain: HLSError.Domain, isPermanent: Bool) {
            (self.error, self.domain, self.isPermanent) = (error, domain, isPermanent)
        }

        init(_ code: HLSError.Code, _ domain: HLSError.Domain, isPermanent: Bool) {
            self.init(HLSError(code: code, cause: "x"), domain, isPermanent: isPermanent)
        }
    }

    static let cases = [
        Case(HLSError(loading(.httpStatus, status: 503), as: .listed), .http, isPermanent: false),
        Case(HLSError(loading(.httpStatus, status: 429), as: .named), .http, isPermanent: false),
        Case(HLSError(loading(.httpStatus, status: 404), as: .named), .http, isPermanent: true),
        Case(HLSError(loading(.httpStatus, status: 403), as: .listed), .http, isPermanent: true),
        Case(HLSError(loading(.connectionLost), as: .listed), .network, isPermanent: false),
        Case(HLSError(loading(.nameNotFound), as: .named), .network, isPermanent: false),
        Case(HLSError(loading(.badRange, status: 200), as: .listed), .network, isPermanent: true),
        Case(HLSError(loading(.fileNotFound), as: .named), .network, isPermanent: true),
        Case(HLSError(loading(.untrustedCertificate), as: .named), .core, isPermanent: true),
        Case(HLSError(loading(.httpStatus, status: 503), as: .key), .key, isPermanent: false),
        Case(HLSError(loading(.timedOut), as: .key), .key, isPermanent: false),
        Case(HLSError(loading(.httpStatus, status: 403), as: .key), .key, isPermanent: true),
        Case(HLSError(loading(.application), as: .key), .key, isPermanent: true),
        Case(.contentKey, .key, isPermanent: true), Case(.timedOut, .network, isPermanent: false),
        Case(.application, .core, isPermanent: true), Case(.missingLibrary, .core, isPermanent: true),
        Case(.untrustedCertificate, .network, isPermanent: true),
        Case(
            HLSError(
                PlaylistError(code: .limitExceeded, rule: .header, text: "too many variants"), url: url), .playlist,
            isPermanent: true),
        Case(HLSError(MediaError(code: .malformed, text: "x"), url: url), .media, isPermanent: true),
        Case(HLSError(CodecError(call: "open", code: -1, text: "x"), url: url), .media, isPermanent: true),
        Case(HLSError(code: .diskFull, path: "/a", text: "full"), .output, isPermanent: true),
        Case(HLSError(code: .diskFull, path: "/a", text: "full").ofItem, .output, isPermanent: true),
        Case(.network, .network, isPermanent: false), Case(.staleLive, .playlist, isPermanent: false),
        Case(.badPlaylist, .playlist, isPermanent: true), Case(.noEligibleVariant, .core, isPermanent: true),
        Case(.itemInUse, .core, isPermanent: true), Case(.invalidTime, .core, isPermanent: true),
        Case(.notReady, .core, isPermanent: false), Case(.cancelled, .core, isPermanent: false),
        Case(.internal, .core, isPermanent: false),
        Case(HLSError.Code(rawValue: "fromTheFuture"), .core, isPermanent: false),
    ]

    @Test("O08: code and underlying error determine the area and whether a retry can help", arguments: cases)
    func nature(_ test: Case) {
        #expect(test.error.domain == test.domain)
        #expect(test.error.isPermanent == test.isPermanent)
    }

    @Test(
        "the status is set for refusing responses, not for truncated, late or empty bodies",
        arguments: [
            (.httpStatus, 404, 404), (.httpStatus, 503, 503), (.httpStatus, 303, 303), (.connectionLost, 200, nil),
            (.timedOut, 200, nil), (.emptyBody, 200, nil), (.emptyBody, 204, nil), (.badRange, 206, nil),
            (.tooManyRedirects, 302, nil), (.tooLarge, 200, nil), (.badContentEncoding, 200, nil),
            (.transport, 200, nil),
        ] as [(HLSError.Code, Int, Int?)])
    func status(code: HLSError.Code, answered: Int, expected: Int?) {
        let below = Self.loading(code, status: answered)
        #expect(HLSError(transport: below).statusCode == expected)
        for role in LoadingFailure.Role.allCases {
            let error = HLSError(below, as: role)
            #expect(error.statusCode == expected)
            #expect((error.underlyingError as? HLSError)?.statusCode == expected)
        }
    }

    @Test("an empty playlist response is temporary, an empty playlist file is not")
    func emptyPlaylist() {
        let error = HLSError(Self.loading(.emptyBody, status: 200), as: .named)
        #expect(error.code == .badPlaylist)
        #expect(!error.isPermanent)
        let file = LoadingError(code: .emptyBody, url: "file:///a.m3u8", text: "the body is empty")
        #expect(HLSError(file, as: .named).isPermanent)
        #expect(HLSError(PlaylistError(code: .malformed, rule: .header, text: "x"), url: Self.url).isPermanent)
    }

    @Test("codes and areas are printed by their names")
    func names() {
        #expect("\(HLSError.Code.network)" == "network")
        #expect("\(HLSError.Domain.http)" == "http")
        #expect("\(HLSError.Code(rawValue: "mine"))" == "mine")
    }

    @Test("an app's own error keeps its domain, whatever the code becomes")
    func own() {
        var error = HLSError(code: .init(rawValue: "mine"), domain: .init(rawValue: "app"), cause: "x")
        error.code = .badMedia
        #expect(error.domain.rawValue == "app")
        var other = HLSError(code: .network, cause: "x")
        other.code = .badPlaylist
        #expect(other.domain == .playlist)
    }

    @Test("O08: every internal error becomes one error with its origin as the underlying error")
    func conversion() {
        let cases: [(any Error, HLSError.Code)] = [
            (MediaError(code: .malformed, text: "x"), .badMedia),
            (PlaylistError(code: .malformed, rule: .header, text: "x"), .badPlaylist),
            (CodecError(call: "c", code: -1, text: "x"), .badMedia),
            (CancellationError(), .cancelled), (SharedLoadsError(), .internal),
        ]
        for (below, code) in cases {
            let error = HLSError(below)
            #expect(error.code == code, "\(below)")
            #expect(error.underlyingError.map { type(of: $0) == type(of: below) } == true, "\(below)")
            #expect(HLSError(error as any Error) == error)
        }
    }

    @Test("O08: a loading error has the transport's error with its code below it")
    func transport() throws {
        var below = LoadingError(
            code: .httpStatus, url: "https://host/a?token=1", status: 503, retryAfter: .seconds(4), text: "HTTP 503")
        below.fields = [TransportField(name: "Age", value: "1")]
        below.serverAddress = "192.0.2.1"
        let reported = HLSError(transport: below)
        #expect(reported.url?.absoluteString == "https://host/a?token=...")
        #expect(reported.domain == .http)
        #expect(!reported.isPermanent)
        #expect(LoadingError(reported) == below)

        let error = HLSError(below, as: .listed)
        #expect(error.code == .network)
        #expect(error.retryAfter == .seconds(4))
        let inner = try #require(error.underlyingError as? HLSError)
        #expect(inner.code == .httpStatus)
        #expect(inner.statusCode == 503)
        #expect(inner.urlString == "https://host/a?token=...")
        #expect(inner.underlyingError == nil)
    }

    @Test(
        "O08: an app's transfer error is treated as a transport error",
        arguments: [
            (HLSError(code: .timedOut, cause: "x"), .timedOut), (HLSError(code: .refused, cause: "x"), .refused),
            (HLSError(code: .network, cause: "x"), .network), (HLSError(code: .notFound, cause: "x"), .notFound),
            (HLSError(code: .notFound, cause: "x", statusCode: 404), .httpStatus),
            (HLSError(code: .network, cause: "x", statusCode: 503), .httpStatus),
            (HLSError(code: .contentKey, cause: "x"), .application),
            (HLSError(code: .badMedia, urlString: "https://h/a.mp4", cause: "x"), .application),
            (HLSError(code: .badMedia, urlString: "file:///a.mkv", cause: "x"), .badMedia),
            (HLSError(code: .diskFull, path: "/a", text: "full"), .application),
            (HLSError(code: .init(rawValue: "mine"), cause: "x"), .init(rawValue: "mine")),
        ] as [(HLSError, HLSError.Code)])
    func words(error: HLSError, code: HLSError.Code) {
        let loading = LoadingError(error, at: "https://host/asked")
        #expect(loading.code == code)
        #expect(loading.url == (error.urlString ?? "https://host/asked"))
        let severity = RequestFailure(cause: .loading(loading), kind: .segment).severity
        #expect([.passing, .unreachable].contains(severity) == !error.isPermanent)
    }

    @Test("a writer's failure names the file as the user did; the item's error contains it")
    func writers() {
        let error = HLSError(code: .diskFull, path: "a?token=1", text: "no space left")
        #expect(error.urlString == "a?token=1")
        #expect("\(error)" == "a?token=1: no space left")
        #expect(error.ofItem.code == .output)
        #expect("\(error.ofItem)" == "cannot write: a?token=... (no space left)")
        #expect(error.ofItem.underlyingError as? HLSError == error)
    }

    private struct SharedLoadsError: Error {}

    @Test("two errors are equal if all their visible values are")
    func equality() {
        let error = HLSError(Self.loading(.connectionLost), as: .listed)
        #expect(error == HLSError(Self.loading(.connectionLost), as: .listed))
        #expect(error != error.at(attempt: 2))
        var other = error
        other.underlyingError = nil
        #expect(error != other)
        #expect(Set([error, error, other]).count == 2)
    }

    @Test("errors contain no secrets, not even for `dump`")
    func secrets() {
        let url = "https://user:S3CRET@host/a?token=S3CRET"
        var below = LoadingError(code: .httpStatus, url: url, status: 403, text: "HTTP 403")
        below.fields = [TransportField(name: "Set-Cookie", value: "session=S3CRET")]
        var error = HLSError(below, as: .named)
        var text = ""
        dump(error, to: &text)
        error.urlString = url
        error.underlyingError = below
        dump(error, to: &text)
        text +=
            "\(error) \(String(reflecting: error)) \(error.urlString ?? "") \(error.underlyingError.map { "\($0)" } ?? "")"
        let transport = HLSError(transport: below)
        dump(transport, to: &text)
        text += "\(transport) \(String(reflecting: transport)) \(transport.url.map { "\($0)" } ?? "")"
        #expect(text.contains("host/a"))
        #expect(!text.contains("S3CRET"))
        #expect(error.fullURL == url)
    }
}
