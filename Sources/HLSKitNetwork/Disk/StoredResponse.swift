import HLSKitLoading
import HLSKitTime

/// A response as stored on disk: the key of its request, its header, its validation time and its body.
///
/// Source: RFC 9111.
struct StoredResponse: Sendable, Hashable {
    struct Key: Sendable, Hashable {
        var url: String
        var byteRange: Range<UInt64>?

        init(_ request: TransportRequest) {
            url = request.urlString.firstIndex(of: "#").map { String(request.urlString[..<$0]) } ?? request.urlString
            byteRange = request.byteRange
        }

        /// The name of the file: a 128-bit FNV-1a hash. The file itself contains the key, so a collision is noticed.
        var fileName: String {
            let text = "\(url) \(rangeText)".utf8
            let hash = text.reduce((UInt64(0x6C62_272E_07BB_0142), UInt64(0x62B8_2175_6295_C58D))) { hash, byte in
                let low = hash.1 ^ UInt64(byte)
                // Multiply by 2^88 + 0x13B.
                let (carry, product) = low.multipliedFullWidth(by: 0x13B)
                return (hash.0 &* 0x13B &+ carry &+ (low << 24), product)
            }
            return hash.0.hexadecimal(16) + hash.1.hexadecimal(16)
        }

        var rangeText: String { byteRange.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "-" }
    }

    var key: Key
    var response: TransportResponse
    /// Seconds since 1970.
    var validated: Int64
    var body: [UInt8]

    // MARK: Freshness

    static func isStorable(_ response: TransportResponse, of request: TransportRequest) -> Bool {
        guard response.status == 200 || response.status == 206, !response.wasReadFromCache,
            response.contentType?.isOneLine ?? true, response.urlString.isOneLine, request.urlString.isOneLine,
            response.fields.allSatisfy({ $0.name.isOneLine && $0.value.isOneLine })
        else { return false }
        let control = CacheControl(response)
        let vary = response.members(of: "Vary")
        guard !control.isForbidden, vary.allSatisfy({ $0 == "accept-encoding" || $0 == "origin" }) else { return false }
        let isSecret =
            request.fields.contains { !UserFields.isHarmless($0.name.lowercased()) && !$0.isNamed("Referer") }
            || !request.cookies.isEmpty || Redaction.withoutUserInfo(request.urlString) != request.urlString
        guard !isSecret || control.isPublic else { return false }
        return control.lifetime > 0 || response.value(of: "ETag") != nil
            || response.value(of: "Last-Modified") != nil
    }

    func isFresh(at now: Int64) -> Bool {
        let control = CacheControl(response)
        guard !control.needsValidation, now >= validated else { return false }
        return now - validated < control.lifetime
    }

    /// The request fields that ask the server whether the response is still current. Empty if it has no validator.
    var conditions: [TransportField] {
        if let tag = response.value(of: "ETag") { return [TransportField(name: "If-None-Match", value: tag)] }
        return response.value(of: "Last-Modified").map { [TransportField(name: "If-Modified-Since", value: $0)] } ?? []
    }

    /// Marks the response as current and updates its fields with the fields of the 304 response.
    mutating func revalidate(_ fields: [TransportField], at now: Int64) {
        validated = now
        let reported = fields.filter {
            $0.isNamed("Cache-Control") || $0.isNamed("Expires") || $0.isNamed("Date") || $0.isNamed("Age")
        }.filter { $0.value.isOneLine }
        response.fields.removeAll { old in reported.contains { $0.isNamed(old.name) } || old.isNamed("Age") }
        response.fields += reported
    }

    var events: [TransportEvent] {
        var response = response
        response.wasReadFromCache = true
        var metrics = TransferMetrics()
        metrics.decodedByteCount = body.count
        metrics.protocolName = "cache"
        return [.response(response), .data(body), .finished(metrics)]
    }

    // MARK: Files

    private static let magic = "HLSKit cache 1"

    var serialized: [UInt8] {
        var lines = [
            Self.magic, key.url, key.rangeText, "\(response.status)", response.urlString, response.contentType ?? "",
            "\(validated)", "\(body.count)",
        ]
        lines += response.fields.map { "\($0.name): \($0.value)" }
        return Array(lines.joined(separator: "\n").utf8) + [10, 10] + body
    }

    /// Returns nil if the file is damaged or belongs to another request.
    init?(_ bytes: [UInt8], of key: Key) {
        var lines: [String] = []
        var start = 0
        while true {
            guard let end = bytes[start...].prefix(64 << 10).firstIndex(of: 10), lines.count < 512 else { return nil }
            // The empty line after the fields. The content type can also be empty.
            if end == start, lines.count >= 8 {
                start = end + 1
                break
            }
            lines.append(String(decoding: bytes[start..<end], as: UTF8.self))
            start = end + 1
        }
        guard lines[0] == Self.magic, lines[1] == key.url, lines[2] == key.rangeText, let status = Int(lines[3]),
            let validated = Int64(lines[6]), validated >= 0, let count = Int(lines[7]), count == bytes.count - start
        else { return nil }
        self.key = key
        self.validated = validated
        response = TransportResponse(
            status: status, urlString: lines[4], contentType: lines[5].isEmpty ? nil : lines[5], contentLength: count)
        for line in lines[8...] {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            response.fields.append(TransportField(name: String(line[..<colon]), value: String(value)))
        }
        body = Array(bytes[start...])
    }

    init(key: Key, response: TransportResponse, validated: Int64, body: [UInt8]) {
        self.key = key
        self.response = response
        self.validated = validated
        self.body = body
    }
}

private struct CacheControl {
    /// Whether the response must not be stored, must be revalidated before each use, or may be stored despite
    /// credentials.
    var isForbidden = false
    var needsValidation = false
    var isPublic = false
    /// The number of seconds after its arrival for which the response is fresh.
    var lifetime: Int64 = 0

    init(_ response: TransportResponse) {
        var maximumAge: Int64?
        for directive in response.members(of: "Cache-Control") {
            let parts = directive.split(separator: "=", maxSplits: 1)
            switch parts.first {
            case "no-store": isForbidden = true
            case "no-cache": needsValidation = true
            case "public": isPublic = true
            case "max-age": maximumAge = parts.count == 2 ? Self.seconds(parts[1]) : 0
            default: break
            }
        }
        if let maximumAge {
            lifetime = maximumAge
        } else if let expires = response.value(of: "Expires"), let date = response.value(of: "Date"),
            let end = HTTPDate.seconds(expires), let start = HTTPDate.seconds(date)
        {
            lifetime = max(0, end - start)
        }
        if let age = response.value(of: "Age") { lifetime -= Self.seconds(age[...]) }
    }

    /// More than ten digits mean practically forever.
    private static func seconds(_ text: Substring) -> Int64 {
        let digits = text.filter { $0 != "\"" }
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return 0 }
        return Int64(digits.prefix(10)) ?? 0
    }
}

extension TransportResponse {
    fileprivate func value(of name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The members of a list, in lower case.
    fileprivate func members(of name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.flatMap { $0.value.split(separator: ",") }.map { member in
            String(member.filter { !$0.isWhitespace }).lowercased()
        }
    }
}

extension String {
    fileprivate var isOneLine: Bool { utf8.allSatisfy { $0 != 10 && $0 != 13 && $0 != 0 } }
}
