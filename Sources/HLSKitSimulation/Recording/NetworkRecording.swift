import FoundationEssentials
public import HLSKitCore

/// The network traffic of a session: every request, and the time of its response.
///
/// ``RecordingTransport`` writes a recording and ``ReplayTransport`` plays it back. The file is text with one JSON
/// object per line. A truncated file is valid up to its last complete line. It contains all bodies, including keys and
/// playlists with everything in them. It does not contain request header fields, cookies, or secrets in URLs.
public struct NetworkRecording: Sendable {
    package static let version = 1
    static let maximumLineByteCount = 64 << 20

    /// A request and its result. Times count from the first request of the recording.
    package struct Exchange: Sendable {
        /// The URL without a user name or password.
        package var url: String
        package var resourceClass: ResourceClass
        package var byteRange: Range<UInt64>?
        package var time: Duration
        /// The events in time order. The last one is not `.finished` or `.failed` if the request was cancelled, or was
        /// active at the end of the recording.
        package var events: [(time: Duration, event: TransportEvent)] = []
    }

    /// The URL of the session, as given by the recording app.
    public var urlString: String
    /// Arguments that play the recording in the same way.
    ///
    /// The arguments never contain secrets.
    public var options: [String]
    /// The exchanges in the order of their start.
    package var exchanges: [Exchange] = []
    /// The decisions of the player, as in ``EventLog/decisions``.
    ///
    /// The array is empty if the decisions were not recorded.
    public var decisions: [String] = []
    /// The time from the first request to the last recorded event.
    public var duration = Duration.zero
    /// A Boolean value that indicates whether the recording was ended instead of truncated.
    public var isComplete = false

    /// Creates a recording without requests.
    public init(urlString: String, options: [String] = []) {
        self.urlString = urlString
        self.options = options
    }

    /// Reads a recording and keeps all bodies in memory.
    ///
    /// - Throws: `HLSError` with the unreadable line. An incomplete last line is skipped.
    public init(contentsOfFile path: String) throws(HLSError) {
        var reader = RecordingReader()
        try RecordingFile.read(path) { bytes throws(HLSError) in try reader.append(bytes) }
        self = try reader.finish()
    }

    /// Reads the text of a recording.
    public init(parsing bytes: [UInt8]) throws(HLSError) {
        var reader = RecordingReader()
        try reader.append(bytes[...])
        self = try reader.finish()
    }

    /// Removes secrets from a URL, so that a replay finds it even if they differ.
    static func bare(_ url: String) -> String { Redaction.url(url) }
}

struct RecordingReader {
    private var rest: [UInt8] = []
    private var number = 0
    private var recording: NetworkRecording?
    private var places: [Int: Int] = [:]

    mutating func append(_ bytes: ArraySlice<UInt8>) throws(HLSError) {
        var bytes = bytes
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            rest += bytes[..<end]
            bytes = bytes[(end + 1)...]
            number += 1
            let line = rest
            rest.removeAll(keepingCapacity: true)
            try read(line)
        }
        rest += bytes
        guard rest.count <= NetworkRecording.maximumLineByteCount else {
            throw HLSError.simulation(
                line: number + 1, "longer than \(NetworkRecording.maximumLineByteCount >> 20) MiB")
        }
    }

    func finish() throws(HLSError) -> NetworkRecording {
        guard let recording else { throw HLSError.simulation(line: 1, "not a recording: it has no first line") }
        return recording
    }

    private mutating func read(_ bytes: [UInt8]) throws(HLSError) {
        let line: RecordingLine
        do {
            line = try JSONDecoder().decode(RecordingLine.self, from: Data(bytes))
        } catch {
            throw HLSError.simulation(line: number, number == 1 ? "not a recording" : "not a line of a recording")
        }
        guard var recording else {
            guard line.type == .recording, let url = line.url else {
                throw HLSError.simulation(line: number, "not a recording")
            }
            guard line.version == NetworkRecording.version else {
                throw HLSError.simulation(line: number, "unknown format version \(line.version ?? 0)")
            }
            self.recording = NetworkRecording(urlString: url, options: line.options ?? [])
            return
        }
        // The recording is put back at the end because a second copy of its exchanges would be costly.
        self.recording = nil
        defer { self.recording = recording }
        guard let nanoseconds = line.time, nanoseconds >= 0 else {
            throw HLSError.simulation(line: number, "time_ns is missing")
        }
        let time = Duration.nanoseconds(nanoseconds)
        recording.duration = max(recording.duration, time)
        switch line.type {
        case .recording: throw HLSError.simulation(line: number, "a second first line")
        case .close: recording.isComplete = true
        case .request: try begin(line, at: time, &recording)
        case .cancel: break
        case .event: if let text = line.text { recording.decisions.append(text) }
        case .response, .data, .end, .failure:
            guard let place = line.id.flatMap({ places[$0] }) else {
                throw HLSError.simulation(line: number, "no earlier request has this id")
            }
            let last = recording.exchanges[place].events.last?.time ?? recording.exchanges[place].time
            let event = try event(line, url: recording.exchanges[place].url)
            recording.exchanges[place].events.append((max(last, time), event))
        }
    }

    private mutating func begin(
        _ line: RecordingLine, at time: Duration, _ recording: inout NetworkRecording
    ) throws(HLSError) {
        guard let id = line.id, places[id] == nil, let url = line.url,
            let resourceClass = line.resourceClass.flatMap(ResourceClass.init(rawValue:))
        else { throw HLSError.simulation(line: number, "a request needs a unique id, a url and a known class") }
        var exchange = NetworkRecording.Exchange(url: url, resourceClass: resourceClass, time: time)
        if let start = line.rangeStart {
            // A range without a length has an open end.
            let (end, overflow) = start.addingReportingOverflow(line.rangeLength ?? .max - start)
            guard !overflow else { throw HLSError.simulation(line: number, "the range is too large") }
            exchange.byteRange = start..<end
        }
        places[id] = recording.exchanges.count
        recording.exchanges.append(exchange)
    }

    private func event(_ line: RecordingLine, url: String) throws(HLSError) -> TransportEvent {
        let metrics = line.metrics?.metrics ?? TransferMetrics()
        switch line.type {
        case .response:
            guard let status = line.status else {
                throw HLSError.simulation(line: number, "a response needs a status")
            }
            let texts = line.fields ?? []
            let fields = stride(from: 0, to: texts.count - 1, by: 2).map {
                TransportField(name: texts[$0], value: texts[$0 + 1])
            }
            return .response(
                TransportResponse(
                    status: status, urlString: line.url ?? url, contentType: line.contentType,
                    contentLength: line.contentLength, fields: fields, serverAddress: line.server))
        case .data:
            guard let body = line.body else { throw HLSError.simulation(line: number, "data needs a body") }
            return .data(Array(body))
        case .failure:
            guard let code = line.code else { throw HLSError.simulation(line: number, "a failure needs a code") }
            return .failed(
                LoadingError(
                    code: HLSError.Code(rawValue: code), url: line.url ?? url, status: line.status,
                    retryAfter: line.retryAfter.map { .nanoseconds($0) }, text: line.text ?? code), metrics)
        default: return .finished(metrics)
        }
    }
}
