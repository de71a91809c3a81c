import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// The record of a download, with one line of JSON for each file that is safely on the disk, in order of completion.
///
/// Other lines describe the stream and its lanes. Each line is written after its file, so all files in the journal
/// exist even if a download is interrupted. A truncated last line is ignored.
struct DownloadJournal: Sendable, Equatable {
    static let version = 1

    struct Lane: Sendable, Hashable {
        enum Kind: String, Sendable, Hashable, CaseIterable { case main, audio, subtitles }

        /// The same ID after a restart, and for a fresh URL of the same stream.
        var id: String
        var kind: Kind
        var language: String?
        var name: String?
        var isDefault = false
        var isForced = false
        /// `CHARACTERISTICS` as written.
        var characteristics: String?
        var channels: String?
        /// The bandwidth of the variant, for the multivariant playlist of the folder.
        var bandwidth = 0
        /// `AVERAGE-BANDWIDTH`, or 0 if undeclared.
        var averageBandwidth = 0
        /// `CODECS` as written.
        var codecs: String?
        var resolution: String?
        /// `VIDEO-RANGE` as written.
        var videoRange: String?
        var frameRate: String?
        var isAuxiliary = false
        /// Whether more segments may be listed, so that segments not loaded in time are no longer available.
        var isLive = false
        /// Whether the folder's playlists list it, so that it stays in them.
        var isListed = false

        var codecList: [String] {
            (codecs ?? "").split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
        }
    }

    struct File: Sendable, Hashable {
        var name: String
        var byteCount: Int
        var digest: FileDigest
    }

    struct Key: Sendable, Hashable {
        var method: String
        var file: String
        /// 32 hexadecimal digits.
        var vector: String
    }

    /// A key that was not loaded, as named by the stream.
    struct NamedKey: Sendable, Hashable {
        var method: String
        var uri: String
        /// 32 hexadecimal digits, or `nil` if undeclared and the key system may decide on it.
        var vector: String?
        var format: String?
        var formatVersions: String?
    }

    struct Segment: Sendable, Hashable {
        var lane: String
        var epoch = 0
        var sequence: Int
        /// The parts of its URL that are the same in all runs: the last path component and the byte range.
        var name: String
        var range: Range<UInt64>?
        /// The start time on the timeline of the download, in microseconds.
        var start: Int64
        var duration: Int64
        var discontinuity = 0
        /// The file, or `nil` if the segment is skipped or the stream itself declares it missing.
        var file: File?
        var map: String?
        var mapKey: Key?
        var key: Key?
        /// The keys to choose from if the segment, or its map, is stored encrypted.
        var namedKeys: [NamedKey] = []
        var namedMapKeys: [NamedKey] = []
        /// `EXT-X-PROGRAM-DATE-TIME` as written.
        var date: String?
        /// The variant that the segment was loaded from, if the chosen variant did not have it.
        var variant: String?
        /// Whether the ``SkipRule`` of the download leaves the segment out.
        var isSkipped = false
        /// The times of the file to which its media belongs, if a part is skipped. The journal does not contain them.
        var limits: TimeWindow?

        var position: SegmentPosition { SegmentPosition(epoch: epoch, sequence: sequence) }
        var timeRange: Range<Duration> { .microseconds(start)..<(.microseconds(start) + .microseconds(duration)) }
        var resources: [String] { [map, key?.file, mapKey?.file].compactMap(\.self) }
    }

    enum Entry: Sendable, Hashable {
        /// The downloaded stream. This is the first line.
        case header(url: String, identity: String)
        case lane(Lane)
        /// The title, chapters and other metadata of the stream, for files.
        case metadata(FileMetadata)
        /// A map or a key.
        case resource(File)
        case segment(Segment)
        /// The file with all media is complete and has its final name and this size.
        case written(byteCount: Int)
        /// The files of the lane with this ID have been removed.
        case removed(lane: String)
    }

    /// The URL of the stream without query, user and fragment, because these may change for the same stream.
    private(set) var url = ""
    /// A hash of the URL including its query, because the query may distinguish two streams.
    private(set) var identity = ""
    private(set) var lanes: [Lane] = []
    private(set) var metadata = FileMetadata()
    private(set) var resources: [String: File] = [:]
    private(set) var segments: [String: [SegmentPosition: Segment]] = [:]
    private(set) var writtenByteCount: Int?
    /// The number of bytes in complete lines of the text that was read.
    private(set) var validByteCount = 0

    init() {}

    mutating func add(_ entry: Entry) {
        switch entry {
        case .header(let url, let identity): (self.url, self.identity) = (url, identity)
        case .lane(let lane):
            if let index = lanes.firstIndex(where: { $0.id == lane.id }) {
                lanes[index] = lane
            } else {
                lanes.append(lane)
            }
        case .metadata(let metadata): self.metadata = metadata
        case .resource(let file): resources[file.name] = file
        case .segment(let segment): segments[segment.lane, default: [:]][segment.position] = segment
        case .written(let byteCount): writtenByteCount = byteCount
        case .removed(let lane):
            lanes.removeAll { $0.id == lane }
            segments[lane] = nil
        }
    }

    var listedLanes: [Lane] { lanes.filter(\.isListed) }

    mutating func remove(_ segment: Segment) { segments[segment.lane]?[segment.position] = nil }

    mutating func removeResource(_ name: String) { resources[name] = nil }

    func segments(of lane: String) -> [Segment] {
        (segments[lane] ?? [:]).values.sorted { $0.position < $1.position }
    }

    var byteCount: Int {
        segments.values.reduce(0) { sum, lane in lane.values.reduce(sum) { $0 + ($1.file?.byteCount ?? 0) } }
    }

    var hasMedia: Bool { segments.values.contains { $0.values.contains { $0.file != nil } } }
}

// MARK: - Reading

extension DownloadJournal {
    /// Reads a journal up to the first invalid line. Returns `nil` for another version, or if it is not a journal.
    init?(parsing bytes: [UInt8]) {
        var start = 0
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            guard let document = JSONDocument(parsing: bytes[start..<end]), let entry = Entry(document) else { break }
            if start == 0 {
                guard case .header = entry else { return nil }
            }
            add(entry)
            start = end + 1
        }
        validByteCount = start
        if start == 0, bytes.contains(0x0A) { return nil }
    }
}

extension DownloadJournal.Entry {
    fileprivate init?(_ document: JSONDocument) {
        if document["v"] != nil {
            guard document["v"]?.integer == DownloadJournal.version, let url = document["url"]?.string else {
                return nil
            }
            self = .header(url: url, identity: document["identity"]?.string ?? "")
        } else if let kind = document["lane"]?.string.flatMap(DownloadJournal.Lane.Kind.init),
            let lane = document["id"]?.string
        {
            var value = DownloadJournal.Lane(id: lane, kind: kind)
            value.language = document["language"]?.string
            value.name = document["name"]?.string
            value.isDefault = document["default"] == .bool(true)
            value.isForced = document["forced"] == .bool(true)
            value.characteristics = document["characteristics"]?.string
            value.channels = document["channels"]?.string
            value.bandwidth = document["bandwidth"]?.integer ?? 0
            value.averageBandwidth = document["average"]?.integer ?? 0
            value.frameRate = document["fps"]?.string
            value.codecs = document["codecs"]?.string
            value.resolution = document["resolution"]?.string
            value.videoRange = document["range"]?.string
            value.isAuxiliary = document["auxiliary"] == .bool(true)
            value.isLive = document["live"] == .bool(true)
            value.isListed = document["listed"] == .bool(true)
            self = .lane(value)
        } else if let lane = document["removed"]?.string {
            self = .removed(lane: lane)
        } else if let tags = document["tags"]?.array {
            self = .metadata(FileMetadata(tags, document["chapters"]?.array ?? []))
        } else if let byteCount = document["written"]?.integer {
            self = .written(byteCount: byteCount)
        } else if document["sequence"] != nil {
            guard let segment = DownloadJournal.Segment(document) else { return nil }
            self = .segment(segment)
        } else {
            guard let file = DownloadJournal.File(document) else { return nil }
            self = .resource(file)
        }
    }
}

extension FileMetadata {
    /// Reads pairs of a name and a value, and chapters with their times in microseconds.
    fileprivate init(_ tags: [JSONDocument], _ chapters: [JSONDocument]) {
        self.init()
        for pair in tags.compactMap(\.array) where pair.count == 2 {
            if let name = pair[0].string, let value = pair[1].string { add(value, for: name) }
        }
        for chapter in chapters {
            guard let start = chapter["start"]?.integer, let title = chapter["title"]?.string, start >= 0 else {
                continue
            }
            let end = chapter["end"]?.integer.map { Duration.microseconds($0) }
            add(Chapter(start: .microseconds(start), end: end, title: title))
        }
    }
}

extension DownloadJournal.File {
    fileprivate init?(_ document: JSONDocument) {
        guard let name = document["file"]?.string, DownloadName.isOfMedia(name), let count = document["bytes"]?.integer,
            (0..<1 << 48).contains(count)
        else { return nil }
        let digests = LibraryDigest.Algorithm.allCases.lazy.compactMap { algorithm in
            document[algorithm.rawValue]?.string.map { FileDigest(algorithm: algorithm, text: $0) }
        }
        guard let digest = digests.first else { return nil }
        self.init(name: name, byteCount: count, digest: digest)
    }
}

extension DownloadJournal.Key {
    fileprivate init?(_ document: JSONDocument?) {
        guard let document, let method = document["method"]?.string, let file = document["file"]?.string,
            DownloadName.isOfKey(file), let vector = document["iv"]?.string, vector.utf8.count == 32
        else { return nil }
        self.init(method: method, file: file, vector: vector)
    }
}

extension DownloadJournal.NamedKey {
    fileprivate init?(_ document: JSONDocument) {
        guard let method = document["method"]?.string, let uri = document["uri"]?.string else { return nil }
        self.init(
            method: method, uri: uri, vector: document["iv"]?.string, format: document["format"]?.string,
            formatVersions: document["versions"]?.string)
        if let vector, vector.utf8.count != 32 || !vector.utf8.allSatisfy({ $0.hexadecimalValue != nil }) { return nil }
    }

    fileprivate static func list(_ document: JSONDocument?) -> [Self]? {
        guard let document else { return [] }
        guard let array = document.array else { return nil }
        let keys = array.compactMap { Self($0) }
        return keys.count == array.count ? keys : nil
    }
}

extension DownloadJournal.Segment {
    /// The limit, in microseconds (36,000 years), that prevents overflows in sums.
    private static let farthest = 1 << 60

    fileprivate init?(_ document: JSONDocument) {
        guard let lane = document["in"]?.string, let sequence = document["sequence"]?.integer,
            let name = document["name"]?.string, let start = document["start"]?.integer,
            let duration = document["duration"]?.integer, duration >= 0, duration < Self.farthest,
            start.magnitude < Self.farthest, case let epoch = document["epoch"]?.integer ?? 0,
            (0..<Self.farthest).contains(epoch)
        else { return nil }
        self.init(lane: lane, sequence: sequence, name: name, start: Int64(start), duration: Int64(duration))
        self.epoch = epoch
        discontinuity = document["discontinuity"]?.integer ?? 0
        if let bounds = document["range"]?.array {
            guard bounds.count == 2, let lower = bounds[0].integer, let upper = bounds[1].integer, lower >= 0,
                upper >= lower
            else { return nil }
            range = UInt64(lower)..<UInt64(upper)
        }
        if document["file"] != nil {
            guard let file = DownloadJournal.File(document) else { return nil }
            self.file = file
        }
        if let map = document["map"]?.string {
            guard DownloadName.isOfMedia(map) else { return nil }
            self.map = map
        }
        key = DownloadJournal.Key(document["key"])
        mapKey = DownloadJournal.Key(document["mapkey"])
        if document["key"] != nil && key == nil || document["mapkey"] != nil && mapKey == nil { return nil }
        guard let keys = DownloadJournal.NamedKey.list(document["keys"]),
            let mapKeys = DownloadJournal.NamedKey.list(document["mapkeys"])
        else { return nil }
        (namedKeys, namedMapKeys) = (keys, mapKeys)
        date = document["date"]?.string
        variant = document["variant"]?.string
        isSkipped = document["skipped"] == .bool(true)
    }
}

extension JSONDocument {
    /// An integer. Large numbers are stored as text because a double does not hold them exactly.
    fileprivate var integer: Int? {
        guard let number else { return string.flatMap { Int($0) } }
        guard number == number.rounded(), number.magnitude < JournalLine.widest else { return nil }
        return Int(number)
    }
}

// MARK: - Writing

extension DownloadJournal.Entry {
    /// The journal line, including the line break.
    var line: [UInt8] {
        var object = JournalLine()
        switch self {
        case .header(let url, let identity):
            object.add("v", DownloadJournal.version)
            object.add("url", url)
            object.add("identity", identity)
        case .lane(let lane):
            object.add("lane", lane.kind.rawValue)
            object.add("id", lane.id)
            object.add("language", lane.language)
            object.add("name", lane.name)
            if lane.isDefault { object.add("default", JSONValue.bool(true)) }
            if lane.isForced { object.add("forced", JSONValue.bool(true)) }
            object.add("characteristics", lane.characteristics)
            object.add("channels", lane.channels)
            if lane.bandwidth > 0 { object.add("bandwidth", lane.bandwidth) }
            if lane.averageBandwidth > 0 { object.add("average", lane.averageBandwidth) }
            object.add("fps", lane.frameRate)
            object.add("codecs", lane.codecs)
            object.add("resolution", lane.resolution)
            object.add("range", lane.videoRange)
            if lane.isAuxiliary { object.add("auxiliary", JSONValue.bool(true)) }
            if lane.isLive { object.add("live", JSONValue.bool(true)) }
            if lane.isListed { object.add("listed", JSONValue.bool(true)) }
        case .metadata(let metadata): object.add(metadata)
        case .resource(let file): object.add(file)
        case .segment(let segment):
            object.add("in", segment.lane)
            if segment.epoch != 0 { object.add("epoch", segment.epoch) }
            object.add("sequence", segment.sequence)
            object.add("name", segment.name)
            if let range = segment.range {
                let bounds = [range.lowerBound, range.upperBound].map { JournalLine.number($0) }
                object.add("range", JSONValue.array(bounds))
            }
            object.add("start", Int(segment.start))
            object.add("duration", Int(segment.duration))
            if segment.discontinuity != 0 { object.add("discontinuity", segment.discontinuity) }
            if let file = segment.file { object.add(file) }
            object.add("map", segment.map)
            object.add("key", segment.key)
            object.add("mapkey", segment.mapKey)
            object.add("keys", segment.namedKeys)
            object.add("mapkeys", segment.namedMapKeys)
            object.add("date", segment.date)
            object.add("variant", segment.variant)
            if segment.isSkipped { object.add("skipped", JSONValue.bool(true)) }
        case .written(let byteCount): object.add("written", byteCount)
        case .removed(let lane): object.add("removed", lane)
        }
        return Array((object.value.text(.controls) + "\n").utf8)
    }
}

private struct JournalLine {
    /// Numbers from here on are written as text.
    static let widest = 9e15

    private var members: [JSONValue.Member] = []

    var value: JSONValue { .object(members) }

    mutating func add(_ name: String, _ value: JSONValue) { members.append(.init(name: name, value: value)) }
    mutating func add(_ name: String, _ value: Int) { add(name, Self.number(value)) }

    static func number(_ value: some BinaryInteger) -> JSONValue {
        Double(value).magnitude < widest ? .integer(Int(value)) : .string("\(value)")
    }

    mutating func add(_ name: String, _ value: String?) {
        if let value { add(name, JSONValue.string(value)) }
    }

    mutating func add(_ file: DownloadJournal.File) {
        add("file", file.name)
        add("bytes", file.byteCount)
        add(file.digest.algorithm.rawValue, file.digest.text)
    }

    mutating func add(_ name: String, _ key: DownloadJournal.Key?) {
        guard let key else { return }
        var object = JournalLine()
        object.add("method", key.method)
        object.add("file", key.file)
        object.add("iv", key.vector)
        add(name, object.value)
    }

    mutating func add(_ name: String, _ keys: [DownloadJournal.NamedKey]) {
        guard !keys.isEmpty else { return }
        let values = keys.map { key in
            var object = JournalLine()
            object.add("method", key.method)
            object.add("uri", key.uri)
            object.add("iv", key.vector)
            object.add("format", key.format)
            object.add("versions", key.formatVersions)
            return object.value
        }
        add(name, .array(values))
    }

    mutating func add(_ metadata: FileMetadata) {
        let chapters = metadata.chapters.map { chapter in
            var object = JournalLine()
            object.add("start", Int(chapter.start.wholeMicroseconds))
            if let end = chapter.end { object.add("end", Int(end.wholeMicroseconds)) }
            object.add("title", chapter.title)
            return object.value
        }
        add("tags", .array(metadata.tags.map { .array([.string($0.name), .string($0.value)]) }))
        add("chapters", .array(chapters))
    }
}
