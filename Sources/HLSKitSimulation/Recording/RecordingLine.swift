import FoundationEssentials
import HLSKitCore

/// One line of a recording, as JSON. Times are nanoseconds since the first request.
struct RecordingLine: Codable {
    enum Kind: String, Codable {
        /// The first line, with the format's version and the URL of the session.
        case recording
        case request, response, data, end, failure
        /// The caller cancelled the request.
        case cancel
        /// An event that the player reported.
        case event
        /// The last line, unless the recording is truncated.
        case close
    }

    var type: Kind
    var time: Int64?
    var id: Int?
    var version: Int?
    var tool: String?
    var options: [String]?
    var url: String?
    var resourceClass: String?
    var rangeStart: UInt64?
    var rangeLength: UInt64?
    var status: Int?
    var contentType: String?
    var contentLength: Int?
    /// Alternating names and values.
    var fields: [String]?
    var server: String?
    /// The bytes, as Base64.
    var body: Data?
    var code: String?
    var retryAfter: Int64?
    var text: String?
    var metrics: RecordedMetrics?

    enum CodingKeys: String, CodingKey {
        case type, id, version, tool, options, url, status, fields, server, body, code, text, metrics
        case time = "time_ns"
        case resourceClass = "class"
        case rangeStart = "range_start"
        case rangeLength = "range_length"
        case contentType = "content_type"
        case contentLength = "content_length"
        case retryAfter = "retry_after_ns"
    }

    init(_ type: Kind, id: Int? = nil, at time: Duration? = nil) {
        self.type = type
        self.id = id
        self.time = time?.wholeNanoseconds
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail because there are no floating-point numbers.
        guard let data = try? encoder.encode(self) else { return [] }
        return Array(data) + [UInt8(ascii: "\n")]
    }
}

/// ``TransferMetrics`` in a recording, times in nanoseconds.
struct RecordedMetrics: Codable {
    var nameLookup: Int64
    var connect: Int64
    var secureConnect: Int64
    var firstByte: Int64
    var total: Int64
    var received: Int
    var decoded: Int
    var protocolName: String
    var reused: Bool
    var lengthUnverified: Bool
    var redirects: Int

    enum CodingKeys: String, CodingKey {
        case connect, received, decoded, reused, redirects
        case nameLookup = "name_lookup_ns"
        case secureConnect = "secure_connect_ns"
        case firstByte = "first_byte_ns"
        case total = "total_ns"
        case protocolName = "protocol"
        case lengthUnverified = "length_unverified"
    }

    init(_ metrics: TransferMetrics) {
        nameLookup = metrics.nameLookup.wholeNanoseconds
        connect = metrics.connect.wholeNanoseconds
        secureConnect = metrics.secureConnect.wholeNanoseconds
        firstByte = metrics.firstByte.wholeNanoseconds
        total = metrics.total.wholeNanoseconds
        received = metrics.receivedByteCount
        decoded = metrics.decodedByteCount
        protocolName = metrics.protocolName
        reused = metrics.reusedConnection
        lengthUnverified = metrics.isLengthUnverified
        redirects = metrics.redirectCount
    }

    var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        metrics.nameLookup = .nanoseconds(nameLookup)
        metrics.connect = .nanoseconds(connect)
        metrics.secureConnect = .nanoseconds(secureConnect)
        metrics.firstByte = .nanoseconds(firstByte)
        metrics.total = .nanoseconds(total)
        metrics.receivedByteCount = received
        metrics.decodedByteCount = decoded
        metrics.protocolName = protocolName
        metrics.reusedConnection = reused
        metrics.isLengthUnverified = lengthUnverified
        metrics.redirectCount = redirects
        return metrics
    }
}
