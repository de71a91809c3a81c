/// The parts of a request head that the monitor's server needs: `GET PATH`.
///
/// Source: RFC 9112 §2 and §3.
struct HTTPRequestHead: Sendable, Hashable {
    static let maximumByteCount = 8 << 10

    enum Result: Sendable, Hashable {
        case incomplete
        case refused(Int)
        case request(HTTPRequestHead)
    }

    /// Without the query.
    var path: String

    static func parse(_ bytes: [UInt8]) -> Result {
        // RFC 9112 §2.2: a line may end without its carriage return.
        var lineStart = 0
        var firstLine: ArraySlice<UInt8>?
        var isComplete = false
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            var line = bytes[lineStart..<index]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            lineStart = index + 1
            if line.isEmpty, firstLine != nil {
                isComplete = true
                break
            }
            if firstLine == nil, !line.isEmpty { firstLine = line }
        }
        guard isComplete, let firstLine else {
            return bytes.count >= maximumByteCount ? .refused(431) : .incomplete
        }
        let words = String(decoding: firstLine, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return .refused(400) }
        guard words[0] == "GET" else { return .refused(405) }
        guard words[1].hasPrefix("/") else { return .refused(400) }
        return .request(HTTPRequestHead(path: String(words[1].prefix { $0 != "?" && $0 != "#" })))
    }
}

struct HTTPAnswer: Sendable, Hashable {
    var status = 200
    var contentType = "text/plain; charset=utf-8"
    var body: [UInt8] = []
    /// Whether the response continues with the events sent to all readers (server-sent events).
    var isEventStream = false

    static func text(_ text: String, status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, body: Array("\(text)\n".utf8))
    }

    var bytes: [UInt8] {
        var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Error")\r\nContent-Type: \(contentType)\r\n"
        if !isEventStream { head += "Content-Length: \(body.count)\r\n" }
        if status == 405 { head += "Allow: GET\r\n" }
        head += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
        head += "Content-Security-Policy: \(Self.policy)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    /// Forbids external resources and embedding in other sites' frames.
    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        + "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    private static let reasons = [
        200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
        431: "Request Header Fields Too Large", 503: "Service Unavailable",
    ]
}
