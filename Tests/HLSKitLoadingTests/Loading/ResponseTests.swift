import Testing

@testable import HLSKitLoading
@testable import HLSKitNetwork

@Suite("Responses")
struct ResponseTests {
    @Test(
        "Retry-After is read as seconds and as a date, by the server's clock",
        arguments: [
            ("120", nil, 120), ("0", nil, 0), ("99999999999999999999", nil, 999_999_999), ("-1", nil, nil),
            ("soon", nil, nil), ("", nil, nil), ("1.5", nil, nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:30 GMT", 7),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:30 1994", 7),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, 37), ("Sun, 06 Nov 1994 08:00:00 GMT", nil, 0),
            ("Sun, 99 Nov 1994 08:49:37 GMT", nil, nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil, nil),
        ] as [(String, String?, Int?)])
    func retryAfter(_ value: String, _ date: String?, _ seconds: Int?) {
        // 784111740 is 08:49:00 on the day in the test values.
        #expect(RetryAfter.delay(value, date: date, now: 784_111_740) == seconds.map { .seconds($0) })
    }

    @Test(
        "dates count from 1970",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)])
    func dates(_ text: String, _ seconds: Int64) { #expect(HTTPDate.seconds(text) == seconds) }

    @Test(
        "Content-Range is read or refused",
        arguments: [
            ("bytes 0-9/10", "0-9/10"), ("Bytes 5-5/*", "5-5/*"), ("bytes */10", nil), ("bytes 9-0/10", nil),
            ("bytes 0-10/10", nil), ("0-9/10", nil), ("bytes 0-18446744073709551615/*", nil), ("", nil),
            ("bytes 0-99999999999999999999/*", nil),
        ] as [(String, String?)])
    func contentRange(_ text: String, _ read: String?) { #expect(ContentRange(text)?.description == read) }

    private func head(_ lines: [String]) -> ResponseHead {
        var head = ResponseHead()
        for line in lines + [""] { #expect(Array((line + "\r\n").utf8).withUnsafeBytes { head.read($0) }) }
        return head
    }

    @Test("header fields are read regardless of case and across several lines of one name")
    func fields() {
        var head = head([
            "HTTP/1.1 200 OK", "content-ENCODING:\tgzip , identity ", "Content-Encoding: GZIP", "no colon",
            "Content-Length: 12",
        ])
        #expect(head.isComplete)
        #expect(head.members(of: "Content-Encoding") == ["gzip", "identity", "gzip"])
        #expect(head.contentLength == 12)
        #expect(!head.isCloseDelimited)
        #expect(Array("Content-Length: 99\r\n".utf8).withUnsafeBytes { head.read($0) })
        #expect(head.contentLength == 12)
    }

    @Test("an ignored range is cut out with checked arithmetic")
    func slicing() {
        let request = TransportRequest(
            urlString: "http://a/", resourceClass: .segment, byteRange: (UInt64.max - 5)..<UInt64.max)
        let short = ResponsePlan(
            head(["HTTP/1.1 200 OK", "Content-Length: 10"]), for: request, at: "http://a/", now: 0)
        guard case .fail(let error) = short else {
            Issue.record("\(short)")
            return
        }
        #expect(error.code == .badRange)
    }

    @Test(
        "an open-ended range is recognised by its first byte",
        arguments: [
            (["HTTP/1.1 206 P", "Content-Range: bytes 7-9/10"], 0, nil),
            (["HTTP/1.1 206 P", "Content-Range: bytes 7-9007199254740991/*"], 0, nil),
            (["HTTP/1.1 206 P", "Content-Range: bytes 6-9/10"], 0, .badRange),
            (["HTTP/1.1 200 OK", "Content-Length: 10"], 7, nil), (["HTTP/1.1 200 OK"], 7, nil),
            (["HTTP/1.1 200 OK", "Content-Length: 7"], 0, .badRange),
            (["HTTP/1.1 200 OK", "Content-Length: 1008"], 0, .tooLarge),
        ] as [([String], UInt64, LoadingError.Code?)])
    func open(_ lines: [String], _ skip: UInt64, _ code: LoadingError.Code?) {
        let request = TransportRequest(
            urlString: "http://a/", resourceClass: .segment, byteRange: .bytes(from: 7), maximumByteCount: 1000)
        switch ResponsePlan(head(lines), for: request, at: "http://a/", now: 0) {
        case .body(let plan): #expect(code == nil && plan.skip == skip && plan.count == nil)
        case .fail(let error): #expect(error.code == code)
        case .redirect: Issue.record("a redirect")
        }
    }

    @Test(
        "R24: Content-Encoding values that are not codings are ignored",
        arguments: [
            ("aws-chunked", []), ("UTF-8", []), ("none", []), ("binary", []), ("identity", []), ("8bit", []), ("", []),
            ("gzip, aws-chunked", [.gzip]), ("x-gzip,none", [.gzip]), ("br", nil), ("gzip, zstd", nil),
            ("gzip, gzip, gzip", nil),
        ] as [(String, [ContentCoding]?)])
    func codings(_ value: String, _ codings: [ContentCoding]?) {
        let request = TransportRequest(urlString: "http://a/", resourceClass: .segment)
        let head = head(["HTTP/1.1 200 OK", "Content-Encoding: \(value)"])
        #expect(ContentCoding.isUsed(in: head.fields) == (codings != []))
        switch ResponsePlan(head, for: request, at: "http://a/", now: 0) {
        case .body(let plan): #expect(plan.codings == codings)
        case .fail(let error): #expect(codings == nil && error.code == .badContentEncoding)
        case .redirect: Issue.record("a redirect")
        }
    }

    @Test(
        "R14: a 206 for a whole resource is whole unless its range says otherwise",
        arguments: [
            (["Content-Length: 10"], true), ([], true), (["Content-Range: nonsense"], true),
            (["Content-Range: bytes 0-9/10"], true), (["Content-Range: bytes 0-9/*", "Content-Length: 10"], true),
            (["Content-Range: bytes 0-9/*"], true), (["Content-Range: bytes 0-9/*", "Content-Length: 4"], false),
            (["Content-Range: bytes 0-8/10"], false), (["Content-Range: bytes 1-9/*"], false),
            (["Content-Type: multipart/byteranges; boundary=x"], false),
        ] as [([String], Bool)])
    func whole(_ lines: [String], _ isTaken: Bool) {
        let request = TransportRequest(urlString: "http://a/", resourceClass: .segment)
        switch ResponsePlan(head(["HTTP/1.1 206 P"] + lines), for: request, at: "http://a/", now: 0) {
        case .body(let plan): #expect(isTaken && plan.skip == 0 && plan.count == nil)
        case .fail(let error): #expect(!isTaken && error.code == .badRange)
        case .redirect: Issue.record("a redirect")
        }
    }

    @Test(
        "R14: a 206 with the whole resource is cut, and one of another length fails",
        arguments: [
            ("bytes 7-9/10", 3, 0), ("bytes 7-9/10", 10, 7), ("bytes 7-9/*", 10, nil), ("bytes 7-9/20", 10, nil),
        ] as [(String, Int, UInt64?)])
    func longBody(_ range: String, _ length: Int, _ skip: UInt64?) throws {
        let request = TransportRequest(urlString: "http://a/", resourceClass: .segment, byteRange: 7..<10)
        let answer = head(["HTTP/1.1 206 P", "Content-Range: \(range)", "Content-Length: \(length)"])
        guard case .body(let plan) = ResponsePlan(answer, for: request, at: "http://a/", now: 0) else {
            Issue.record("refused")
            return
        }
        #expect(plan.count == 3 && plan.isExact == (length != 10 || skip == nil))
        if let skip { #expect(plan.skip == skip) }
        var body = try BodyReader(plan, url: "http://a/")
        var bytes: [UInt8] = []
        let all = Array(UInt8(0)..<10)
        func read() throws {
            try all.suffix(length).withUnsafeBytes { piece in
                try body.read(piece) { part in
                    bytes += part
                    return true
                }
            }
        }
        if skip != nil {
            try read()
            #expect(bytes == [7, 8, 9])
        } else {
            #expect(throws: LoadingError.self) { try read() }
        }
    }

    @Test("ranges are clamped to the resource, and written in request syntax")
    func ranges() {
        let range: Range<UInt64> = 5..<10
        #expect(range.bytes(ofResourceOf: 10) == range)
        #expect(range.bytes(ofResourceOf: 9) == nil && range.prefix(0).bytes(ofResourceOf: 10) == nil)
        let open = Range<UInt64>.bytes(from: 5)
        #expect(open.bytes(ofResourceOf: 10) == range && open.bytes(ofResourceOf: 5) == nil)
        #expect(Range<UInt64>.bytes(from: .max).bytes(ofResourceOf: .max) == nil)
        #expect(open.headerText == "5-" && range.headerText == "5-9")
    }

    @Test("a redirect chain drops user information when it leaves the origin")
    func redirectUserInformation() throws {
        let first = try HTTPURL("http://u:p@a/x")
        var chain = RedirectChain(from: first, maximumCount: 10, allowsDowngrade: false)
        let same = try chain.follow("/y", from: first, status: 302)
        #expect(same.userInfo == "u:p")
        let other = try chain.follow("http://x:y@b/z", from: same, status: 302)
        #expect(other.userInfo == nil)
        #expect(chain.redirectCount == 2)
    }

    @Test("D05: the speed gauge reports the first window with too few bytes, and none before")
    func speedGauge() {
        var gauge = SpeedGauge(window: .seconds(6), minimumBytesPerSecond: 1000, start: .zero, byteCount: 0)
        var reports: [Int] = []
        for tick in 1...200 {
            let time = Duration.milliseconds(tick * 100)
            if gauge.check(at: time, byteCount: min(tick * 200, 20_000)) != nil { reports.append(tick) }
        }
        // From 13 s on, a window of six seconds has fewer than 6 kB. Measurements are 0.75 s apart.
        #expect(reports.first.map { (130...138).contains($0) } == true)
    }

    @Test("the speed gauge accepts exactly the minimum speed")
    func steady() {
        var gauge = SpeedGauge(window: .seconds(6), minimumBytesPerSecond: 1000, start: .zero, byteCount: 0)
        for second in 1...100 { #expect(gauge.check(at: .seconds(second), byteCount: second * 1000) == nil) }
    }

    @Test("D11: the rate bucket saves little and waits until debts are paid")
    func rateBucket() {
        var bucket = RateBucket(bytesPerSecond: 1000, at: .zero)
        bucket.fill(at: .seconds(100))
        bucket.take(600)
        #expect(bucket.isEmpty)
        #expect(bucket.nextFill == .seconds(100) + .milliseconds(501))
        bucket.fill(at: bucket.nextFill)
        #expect(!bucket.isEmpty)
    }
}
