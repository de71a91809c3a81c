/// A tag in front of a segment that says where a break begins, continues or ends, or what is known of it: `EXT-X-CUE-OUT`,
/// `EXT-X-CUE-OUT-CONT`, `EXT-X-CUE-IN`, `EXT-X-SCTE35`, `EXT-OATCLS-SCTE35` and `EXT-X-ASSET`.
///
/// No standard has these tags; what is read is what packagers write. Nothing in them is an issue of the playlist, and they are
/// written as they were read.
public struct SpliceMarker: Sendable, Hashable {
    /// What a marker says. An open set.
    public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public var description: String { rawValue }

        /// A break begins with the segment: `EXT-X-CUE-OUT`, and `EXT-X-SCTE35` with `CUE-OUT=YES`.
        public static let out = Kind(rawValue: "out")
        /// The segment is in a break: `EXT-X-CUE-OUT-CONT`, and `EXT-X-SCTE35` with `CUE-OUT=CONT`.
        public static let continued = Kind(rawValue: "continued")
        /// The break before has ended: `EXT-X-CUE-IN`, and `EXT-X-SCTE35` with `CUE-IN=YES` or `CUE-OUT=NO`.
        public static let `in` = Kind(rawValue: "in")
        /// Splice information, and no word of where: `EXT-OATCLS-SCTE35`, and other `EXT-X-SCTE35`.
        public static let message = Kind(rawValue: "message")
        /// What is shown in the break: `EXT-X-ASSET`.
        public static let asset = Kind(rawValue: "asset")
    }

    /// The name of the tag, without `#`.
    public var tag: String
    /// What it says.
    public var kind: Kind
    /// The text after the colon, as it is written; may be empty.
    public var value: String
    /// How long the break lasts (`:30`, `8/30`, `DURATION=30`); nil if undeclared, or 0.
    public var duration: Duration?
    /// How much of the break is over (`8/30`, `ELAPSED=8`); nil if undeclared.
    public var elapsed: Duration?
    /// `ID`; nil if undeclared.
    public var id: String?
    /// The splice information of SCTE 35 as it is written: base 64, or hexadecimal after `0x`; nil without.
    public var scte35: String?
    /// All attributes of a list, in the order of the text; of a repeated name the first counts for the properties.
    public var attributes: [PlaylistAttribute]

    /// The value of an attribute, whatever the case of its name.
    public subscript(attribute name: String) -> String? {
        attributes.first { $0.name.uppercased() == name.uppercased() }?.value
    }

    /// That of the beginning of a break whose end this is, as far as its end tells: `EXT-X-CUE-OUT`, or the same tag, with the
    /// same attributes.
    package var opening: SpliceMarker {
        var marker = self
        if tag == Tag.cueIn.rawValue { marker.tag = Tag.cueOut.rawValue }
        marker.kind = .out
        return marker
    }

    /// More of them are not read.
    private static let maximumAttributeCount = 100

    init(_ tag: Tag, _ value: String) {
        self.tag = tag.rawValue
        self.value = value
        kind = .message
        attributes = []
        let content = value.utf8.first { $0 == 0x3d || $0 == 0x2f || $0 == 0x2c }
        switch tag {
        case .oatcls: scte35 = value.isEmpty ? nil : value
        case .cueOut, .cueOutContinued, .cueIn:
            kind = tag == .cueOut ? .out : tag == .cueIn ? .in : .continued
            if content == 0x3d { attributes = Self.attributes(value) } else { readNumbers() }
        case .asset:
            kind = .asset
            attributes = Self.attributes(value)
        default:
            attributes = Self.attributes(value)
            // A section alone has no name; base 64 ends with what looks like one that is empty.
            if attributes.allSatisfy({ $0.value.isEmpty || $0.value.utf8.allSatisfy { $0 == 0x3d } }) {
                attributes = []
                scte35 = value.isEmpty ? nil : value
            }
        }
        readAttributes()
    }

    /// `30`, `8/30`; `8` alone is what is over of a break that continues.
    private mutating func readNumbers() {
        let parts = value.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts.map { Self.duration($0) }
        if kind == .continued || parts.count == 2 {
            elapsed = numbers.first ?? nil
            duration = parts.count == 2 ? Self.positive(numbers[1]) : nil
        } else {
            duration = Self.positive(numbers.first ?? nil)
        }
    }

    private mutating func readAttributes() {
        guard !attributes.isEmpty, kind != .asset else { return }
        duration = Self.positive(self[attribute: "DURATION"].flatMap { Self.duration($0) })
        elapsed = (self[attribute: "ELAPSEDTIME"] ?? self[attribute: "ELAPSED"]).flatMap { Self.duration($0) }
        id = self[attribute: "ID"]
        scte35 = self[attribute: "SCTE35"] ?? self[attribute: "CUE"]
        guard tag == Tag.scte35.rawValue else { return }
        switch (self[attribute: "CUE-OUT"]?.uppercased(), self[attribute: "CUE-IN"]?.uppercased()) {
        case ("YES", _): kind = .out
        case ("CONT", _): kind = .continued
        case ("NO", _), (_, "YES"): kind = .in
        default: break
        }
    }

    private static func positive(_ duration: Duration?) -> Duration? { duration.flatMap { $0 > .zero ? $0 : nil } }

    private static func duration(_ text: some StringProtocol) -> Duration? {
        let bytes = Array(text.utf8)
        let span = bytes.span
        guard let duration = span.decimal(in: span.trimmed(0..<bytes.count)).flatMap({ Duration($0) }),
            duration <= MediaPlaylistReader.longestDuration
        else { return nil }
        return duration
    }

    private static func attributes(_ text: String) -> [PlaylistAttribute] {
        var rest = Array(text.utf8)[...]
        func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
            let start = bytes.firstIndex { $0 > 0x20 } ?? bytes.endIndex
            let end = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? start
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        var attributes: [PlaylistAttribute] = []
        while !rest.isEmpty, attributes.count < maximumAttributeCount {
            let nameEnd = rest.firstIndex { $0 == 0x3d || $0 == 0x2c } ?? rest.endIndex
            let name = trimmed(rest[..<nameEnd])
            guard nameEnd < rest.endIndex, rest[nameEnd] == 0x3d else {
                rest = rest[min(nameEnd + 1, rest.endIndex)...]
                continue
            }
            rest = rest[(nameEnd + 1)...].drop { $0 == 0x20 }
            let isQuoted = rest.first == 0x22
            if isQuoted { rest = rest.dropFirst() }
            let end = rest.firstIndex(of: isQuoted ? 0x22 : 0x2c) ?? rest.endIndex
            let value = isQuoted ? String(decoding: rest[..<end], as: UTF8.self) : trimmed(rest[..<end])
            rest = rest[end...]
            let comma = rest.firstIndex(of: 0x2c) ?? rest.endIndex
            rest = rest[min(comma + 1, rest.endIndex)...]
            if !name.isEmpty { attributes.append(PlaylistAttribute(name: name, value: value, isQuoted: isQuoted)) }
        }
        return attributes
    }
}

/// Where a marker stands in the text.
struct SpliceMarkerRecord: Sendable {
    /// The place of the segment behind it.
    var segment: UInt32
    var tag: Tag
    var value: TextRange
}

extension SegmentStore {
    /// The markers in front of a segment, or behind the last one.
    func spliceMarkers(of segment: Int) -> [SpliceMarker] {
        let records = tables.markers
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if Int(records[middle].segment) < segment { low = middle + 1 } else { high = middle }
        }
        var markers: [SpliceMarker] = []
        while low < records.count, Int(records[low].segment) == segment {
            markers.append(SpliceMarker(records[low].tag, string(records[low].value)))
            low += 1
        }
        return markers
    }
}

extension MediaSegment {
    /// The markers of a break that stand in front of the segment, as it was read; empty for a segment made by hand.
    public var spliceMarkers: [SpliceMarker] {
        guard index >= 0, !store.tables.markers.isEmpty else { return [] }
        return store.spliceMarkers(of: index)
    }
}

extension MediaPlaylist {
    /// The segments that have markers in front of them, by their places, and one past the last where the segment that is being
    /// made has some.
    package var markedSegments: [Int] {
        guard let store = segments.store else {
            return segments.indices.filter { !segments[$0].spliceMarkers.isEmpty }
        }
        var places: [Int] = []
        for record in store.tables.markers where places.last != Int(record.segment) {
            places.append(Int(record.segment))
        }
        return places
    }

    /// The markers of the segment that is being made.
    package var upcomingSpliceMarkers: [SpliceMarker] {
        segments.store.map { $0.tables.markers.isEmpty ? [] : $0.spliceMarkers(of: segments.count) } ?? []
    }
}

extension Tag {
    /// The tag is a ``SpliceMarker``.
    var isSpliceMarker: Bool {
        switch self {
        case .cueOut, .cueOutContinued, .cueIn, .oatcls, .scte35, .asset: true
        default: false
        }
    }
}
