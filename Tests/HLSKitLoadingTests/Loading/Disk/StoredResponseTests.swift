import HLSKitLoading
import Testing

@testable import HLSKitNetwork

@Suite("D13: Responses on disk")
struct StoredResponseTests {
    private static let url = "https://a.example/s.ts?x=1"

    private static func request(
        _ url: String = url, range: Range<UInt64>? = nil, fields: [TransportField] = []
    ) -> TransportRequest {
        TransportRequest(urlString: url, resourceClass: .segment, fields: fields, byteRange: range)
    }

    private static func response(_ fields: [String: String], status: Int = 200) -> TransportResponse {
        TransportResponse(
            status: status, urlString: url, contentType: "video/mp2t",
            fields: fields.sorted { $0.key < $1.key }.map { TransportField(name: $0.key, value: $0.value) })
    }

    private static func stored(
        _ fields: [String: String], at validated: Int64 = 1000, body: [UInt8] = [1, 10, 10, 2]
    ) -> StoredResponse {
        StoredResponse(
            key: StoredResponse.Key(request()), response: response(fields), validated: validated, body: body)
    }

    @Test("responses are read as written, whatever their bodies", arguments: [[], [10], [10, 10, 1], [0, 255]])
    func roundTrip(_ body: [UInt8]) throws {
        var stored = Self.stored(["ETag": "\"x: y\"", "Content-Length": "7"], body: body)
        let read = try #require(StoredResponse(stored.serialized, of: stored.key))
        stored.response.contentLength = body.count
        #expect(read == stored)
    }

    @Test("truncated, extended or mismatched responses are rejected")
    func damage() {
        let stored = Self.stored(["ETag": "x"])
        let bytes = stored.serialized
        for count in bytes.indices { #expect(StoredResponse(Array(bytes[..<count]), of: stored.key) == nil) }
        #expect(StoredResponse(bytes + [0], of: stored.key) == nil)
        #expect(StoredResponse(bytes, of: StoredResponse.Key(Self.request(range: 0..<4))) == nil)
        #expect(StoredResponse(bytes, of: StoredResponse.Key(Self.request("https://a.example/other"))) == nil)
        #expect(StoredResponse([UInt8](repeating: 10, count: 5000), of: stored.key) == nil)
        var early = stored
        early.validated = .min
        #expect(StoredResponse(early.serialized, of: stored.key) == nil)
    }

    @Test("names distinguish resources and ranges, and ignore fragments")
    func names() {
        let requests = [
            Self.request(), Self.request(range: 0..<1), Self.request(range: 0..<2), Self.request("https://a.example/"),
        ]
        let names = Set(requests.map { StoredResponse.Key($0).fileName })
        #expect(names.count == requests.count)
        #expect(names.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
        #expect(StoredResponse.Key(Self.request("https://a.example/#x")) == StoredResponse.Key(requests[3]))
    }

    struct Case: CustomTestStringConvertible {
        var fields: [String: String]
        var request: [TransportField] = []
        var status = 200
        var isStorable = true
        /// The freshness lifetime in seconds.
        var lifetime: Int64 = 0
        var testDescription: String { "\(status) \(fields) \(request.map(\.name))" }
    }

    static let cases = [
        Case(fields: [:], isStorable: false),
        Case(fields: ["ETag": "x"]),
        Case(fields: ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]),
        Case(fields: ["Cache-Control": "max-age=60"], lifetime: 60),
        Case(fields: ["cache-control": "Public, MAX-AGE=\"60\""], lifetime: 60),
        Case(fields: ["Cache-Control": "max-age=60", "Age": "20"], lifetime: 40),
        Case(fields: ["Cache-Control": "max-age=0"], isStorable: false),
        Case(fields: ["Cache-Control": "max-age=-1"], isStorable: false),
        Case(fields: ["Cache-Control": "max-age=60, no-cache", "ETag": "x"]),
        Case(fields: ["Cache-Control": "max-age=60, no-store", "ETag": "x"], isStorable: false),
        Case(
            fields: ["Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            lifetime: 60),
        Case(fields: ["Expires": "0", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"], isStorable: false),
        Case(fields: ["ETag": "x", "Vary": "Accept-Encoding, Origin"]),
        Case(fields: ["ETag": "x", "Vary": "Cookie"], isStorable: false),
        Case(fields: ["ETag": "x", "Vary": "*"], isStorable: false),
        Case(fields: ["ETag": "x"], status: 206),
        Case(fields: ["ETag": "x"], status: 203, isStorable: false),
        Case(fields: ["ETag": "x\ny"], isStorable: false),
        Case(
            fields: ["ETag": "x"], request: [TransportField(name: "authorization", value: "Basic x")], isStorable: false
        ),
        Case(fields: ["ETag": "x"], request: [TransportField(name: "X-Token", value: "x")], isStorable: false),
        Case(fields: ["ETag": "x"], request: [TransportField(name: "User-Agent", value: "x")]),
        Case(
            fields: ["ETag": "x", "Cache-Control": "public"],
            request: [TransportField(name: "Authorization", value: "Basic x")]),
    ]

    @Test("headers determine if a response is stored and how long it is fresh", arguments: cases)
    func headers(_ test: Case) {
        let response = Self.response(test.fields, status: test.status)
        #expect(StoredResponse.isStorable(response, of: Self.request(fields: test.request)) == test.isStorable)
        guard test.isStorable else { return }
        let stored = Self.stored(test.fields)
        #expect(stored.isFresh(at: 1000) == (test.lifetime > 0))
        #expect(!stored.isFresh(at: 1000 + test.lifetime))
        if test.lifetime > 0 { #expect(stored.isFresh(at: 999 + test.lifetime)) }
        #expect(!stored.isFresh(at: 999), "the clock was set back")
    }

    @Test("responses whose URL contains a login are not stored")
    func logins() {
        let response = Self.response(["ETag": "x"])
        #expect(!StoredResponse.isStorable(response, of: Self.request("https://me:secret@a.example/s.ts")))
        var request = Self.request()
        request.cookies = [TransportCookie(name: "a", value: "1", domain: "a.example")]
        #expect(!StoredResponse.isStorable(response, of: request))
    }

    @Test("a stale response is revalidated by its tag, otherwise by its date")
    func conditions() {
        let both = Self.stored(["ETag": "W/\"x\"", "Last-Modified": "d"])
        #expect(both.conditions == [TransportField(name: "If-None-Match", value: "W/\"x\"")])
        #expect(
            Self.stored(["Last-Modified": "d"]).conditions == [TransportField(name: "If-Modified-Since", value: "d")])
        #expect(Self.stored(["Cache-Control": "max-age=1"]).conditions.isEmpty)
    }

    @Test("a revalidated response is fresh again, by the server's new headers")
    func revalidation() {
        var stored = Self.stored(["ETag": "x", "Cache-Control": "max-age=10", "Age": "5"])
        stored.revalidate([TransportField(name: "cache-control", value: "max-age=100")], at: 5000)
        #expect(stored.isFresh(at: 5099) && !stored.isFresh(at: 5100))
        stored.revalidate([], at: 6000)
        #expect(stored.isFresh(at: 6099))
        #expect(stored.conditions.map(\.value) == ["x"])
    }
}
