import FoundationEssentials
public import HLSKitCore

/// The network traffic of a session: every request, and when its response arrived. ``RecordingTransport`` writes it,
/// ``ReplayTransport`` plays it back.
///
/// The file is text, one JSON object a line (`docs/guide/traces.md` lists the members), written as things happen: one that
/// was cut off is good up to its last whole line. It holds all bodies, keys too, and what playlists say with them; but
/// no header fields of requests, no cookies, and no secrets of URLs (docs/reference/loading.md).
public struct NetworkRecording: Sendable {
    /// The version of the format that is written and read.
    package static let version = 1
    /// The longest line that is read, in bytes.
    static let maximumLineByteCount = 64 << 20

    /// A request and what came of it. Times are since the first request of the recording.
    package struct Exchange: Sendable {
        /// Without a user name or password.
        package var url: String
        /// The purpose of the resource.
        package var resourceClass: ResourceClass
        /// The requested bytes; nil means all.
        package var byteRange: Range<UInt64>?
        /// When the request was made.
        package var time: Duration
        /// In the order of their times. The last one is not `.finished` or `.failed` where the request was cancelled, or
        /// still under way at the end of the recording.
        package var events: [(time: Duration, event: TransportEvent)] = []
    }

    /// The URL that was played, as given by the program that recorded it.
    public var urlString: String
    /// Arguments that play the recording as it was played; never secrets.
    public var options: [String]
    /// In the order in which they began.
    package var exchanges: [Exchange] = []
    /// Decisions of the player, as in ``EventLog/decisions``; empty if no one noted it.
    public var decisions: [String] = []
    /// From the first request to the last thing that was noted.
    public var duration = Duration.zero
    /// The recording was ended, not cut off.
    public var isComplete = false

    /// Makes a recording without requests.
    public init(urlString: String, options: [String] = []) {
        self.urlString = urlString
        self.options = options
    }

    /// Reads a recording. All bodies are kept in memory.
    ///
    /// - Throws: `HLSError` with the line that cannot be read. A last line without its end is skipped.
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

    /// A URL as recordings have it: without secrets, so that a replay finds it whatever they are then.
    static func bare(_ url: String) -> String { Redaction.url(url) }
}

/// Reads a recording line by line.
struct RecordingReader {
    private var rest: [UInt8] = []
    private var number = 0
    private var recording: NetworkRecording?
    /// Where the exchange of a request's number is.
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
        // The recording is put back at the end; two copies of its exchanges would be costly.
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
            // Without a length it is open at its end.
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
