/// A tag before a segment that marks or describes an ad break.
///
/// The tags are `EXT-X-CUE-OUT`, `EXT-X-CUE-OUT-CONT`, `EXT-X-CUE-IN`, `EXT-X-SCTE35`, `EXT-OATCLS-SCTE35` and
/// `EXT-X-ASSET`. No standard defines them, so the parser accepts the forms that packagers write. Their contents are
/// never reported as issues, and they are written as they were read.
public struct SpliceMarker: Sendable, Hashable {
    /// The meaning of a marker.
    ///
    /// The set is open.
    public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public var description: String { rawValue }

        /// A break begins with the segment: `EXT-X-CUE-OUT`, or `EXT-X-SCTE35` with `CUE-OUT=YES`.
        public static let out = Kind(rawValue: "out")
        /// The segment is in a break: `EXT-X-CUE-OUT-CONT`, or `EXT-X-SCTE35` with `CUE-OUT=CONT`.
        public static let continued = Kind(rawValue: "continued")
        /// The previous break has ended: `EXT-X-CUE-IN`, or `EXT-X-SCTE35` with `CUE-IN=YES` or `CUE-OUT=NO`.
        public static let `in` = Kind(rawValue: "in")
        /// Splice information without a position: `EXT-OATCLS-SCTE35`, and other `EXT-X-SCTE35`.
        public static let message = Kind(rawValue: "message")
        /// The content of the break: `EXT-X-ASSET`.
        public static let asset = Kind(rawValue: "asset")
    }

    /// The name of the tag, without `#`.
    public var tag: String
    /// The meaning of the marker.
    public var kind: Kind
    /// The text after the colon, as written, which may be empty.
    public var value: String
    /// The duration of the break (`:30`, `8/30`, `DURATION=30`), or `nil` if it is 0 or undeclared.
    public var duration: Duration?
    /// The elapsed time of the break (`8/30`, `ELAPSED=8`), or `nil` if undeclared.
    public var elapsed: Duration?
    /// The identifier (`ID`), or `nil` if undeclared.
    public var id: String?
    /// The SCTE 35 splice information as written, or `nil` if there is none.
    ///
    /// It is base 64, or hexadecimal after `0x`.
    public var scte35: String?
    /// All attributes, in the order of the text.
    ///
    /// If a name is repeated, the properties use the first value.
    public var attributes: [PlaylistAttribute]

    /// The value of an attribute, regardless of the case of its name.
    public subscript(attribute name: String) -> String? {
        attributes.first { $0.name.uppercased() == name.uppercased() }?.value
    }

    /// The marker that opened the break whose end this is, as far as the end declares it.
    ///
    /// It is `EXT-X-CUE-OUT`, or the same tag with the same attributes.
    package var opening: SpliceMarker {
        var marker = self
        if tag == Tag.cueIn.rawValue { marker.tag = Tag.cueOut.rawValue }
        marker.kind = .out
        return marker
    }

    /// Further attributes are not read.
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
            // A section alone has no name. The end of base 64 looks like an empty attribute.
            if attributes.allSatisfy({ $0.value.isEmpty || $0.value.utf8.allSatisfy { $0 == 0x3d } }) {
                attributes = []
                scte35 = value.isEmpty ? nil : value
            }
        }
        readAttributes()
    }

    /// `30` or `8/30`. A single `8` in a continuing break is the elapsed time.
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

struct SpliceMarkerRecord: Sendable {
    /// The index of the segment after it.
    var segment: UInt32
    var tag: Tag
    var value: TextRange
}

extension SegmentStore {
    /// Returns the markers before a segment, or after the last one.
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
    /// The markers of a break before the segment, as they were read.
    ///
    /// It is empty for a segment created in code.
    public var spliceMarkers: [SpliceMarker] {
        guard index >= 0, !store.tables.markers.isEmpty else { return [] }
        return store.spliceMarkers(of: index)
    }
}

extension MediaPlaylist {
    /// The indices of the segments with markers before them. The index after the last segment represents the segment in
    /// progress.
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

    package var upcomingSpliceMarkers: [SpliceMarker] {
        segments.store.map { $0.tables.markers.isEmpty ? [] : $0.spliceMarkers(of: segments.count) } ?? []
    }
}

extension Tag {
    var isSpliceMarker: Bool {
        switch self {
        case .cueOut, .cueOutContinued, .cueIn, .oatcls, .scte35, .asset: true
        default: false
        }
    }
}
