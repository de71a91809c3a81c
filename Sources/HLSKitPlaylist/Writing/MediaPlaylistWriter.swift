import HLSKitTime

extension MediaPlaylist {
    /// The playlist as text.
    ///
    /// An unedited playlist has its original bytes. In an edited one, unchanged items keep their lines byte for byte.
    /// Comments and unknown tags stay with the segment whose lines surround them. Segments are numbered from
    /// ``mediaSequence`` on. If this changes the number of a segment whose key has an implicit IV, the IV is written.
    public var text: [UInt8] {
        if let source = source.value, source.original == self { return source.store.text }
        var writer = MediaPlaylistWriter(self)
        writer.write()
        return writer.out.bytes
    }
}

/// Writes a media playlist based on the text that it was read from.
struct MediaPlaylistWriter {
    private let playlist: MediaPlaylist
    private let source: MediaSource?
    private let original: MediaPlaylist
    private(set) var out: LineWriter
    private var written: Set<Tag> = []
    private var writtenDateRanges: Set<String> = []
    private let dateRanges: [String: DateRange]
    private let originalDateRanges: [String: DateRange]

    // The state that the lines so far have set.
    private var keys: [EncryptionKey] = []
    private var map: MediaInitializationSection?
    private var kilobits: Int?
    private var range: (uri: String, end: Int)?

    init(_ playlist: MediaPlaylist) {
        self.playlist = playlist
        source = playlist.source.value
        original = source?.original ?? MediaPlaylist(targetDuration: .seconds(-1))
        out = LineWriter(like: source?.store.text ?? [])
        dateRanges = Dictionary(playlist.dateRanges.map { ($0.id, $0) }) { first, _ in first }
        originalDateRanges = Dictionary(original.dateRanges.map { ($0.id, $0) }) { first, _ in first }
    }

    mutating func write() {
        guard let source else {
            out.tag(.extM3U)
            writeNewSingles(present: [])
            for (offset, segment) in playlist.segments.enumerated() { write(segment, at: offset) }
            writeTail(nil)
            return
        }
        let text = source.store.text
        var present: Set<Tag> = []
        text.forEachLine(in: 0..<text.count) { line in
            if case .tag(let tag) = line.content { present.insert(tag) }
        }
        let first = source.store.tables.records.isEmpty ? 0..<text.count : source.store.blockRange(0, source)
        let startsSame = playlist.segments.first.map { $0.store === source.store && $0.index == 0 } ?? false
        var used: Set<Int> = []
        if !startsSame { writePlaylistLines(first, isHead: true, present: present) }
        for (offset, segment) in playlist.segments.enumerated() {
            let isOwn = segment.store === source.store && segment.index >= 0
            let isFirstUse = isOwn && used.insert(segment.index).inserted
            let isHead = startsSame && offset == 0
            write(
                segment, at: offset, playlistLines: isFirstUse && (segment.index > 0 || isHead),
                present: isHead ? present : nil)
        }
        for index in source.store.tables.records.indices.dropFirst() where !used.contains(index) {
            writePlaylistLines(source.store.blockRange(index, source), isHead: false, present: present)
        }
        writeTail(source)
    }
}

extension SegmentStore {
    /// The lines of a segment, from the end of the previous one to the end of its URI line.
    func blockRange(_ index: Int, _ source: MediaSource) -> Range<Int> {
        let records = tables.records
        let start = index == 0 ? 0 : Int(records[index].blockStart)
        let end = index + 1 < records.count ? Int(records[index + 1].blockStart) : source.tailStart
        return start..<max(start, end)
    }

    /// Like ``blockRange(_:_:)``, but uses only the text and finds the URI line by its position.
    func blockRange(_ index: Int) -> Range<Int> {
        let record = tables.records[index]
        let start = index == 0 ? 0 : Int(record.blockStart)
        if index + 1 < tables.records.count { return start..<Int(tables.records[index + 1].blockStart) }
        var end = start
        var isFound = false
        while !isFound, end < text.count {
            let line = text.line(at: end)
            end = line.range.upperBound
            if case .uri = line.content, hasInf(before: line.range.lowerBound, from: start) { isFound = true }
        }
        return start..<end
    }

    private func hasInf(before end: Int, from start: Int) -> Bool {
        var result = false
        text.forEachLine(in: start..<end) { line in
            if case .tag(.inf) = line.content { result = true }
        }
        return result
    }
}

// MARK: - Segments

extension MediaPlaylistWriter {
    /// The lines of a segment as if it were the first: with all tags in force, but without tags of the playlist.
    static func block(of segment: MediaSegment, at offset: Int, in playlist: MediaPlaylist) -> [UInt8] {
        var writer = MediaPlaylistWriter(playlist)
        writer.write(segment, at: offset)
        return writer.out.bytes
    }

    /// The lines of a segment to rewrite. Others are copied.
    fileprivate struct Changes {
        var encryption = false
        var bitRate = false
        var range = false
        var discontinuity = false
        var gap = false
        var date = false
        var parts = false
        var inf = false
        var uri = false

        func contains(_ tag: Tag) -> Bool {
            switch tag {
            case .key, .map: encryption
            case .bitRate: bitRate
            case .byteRange: range
            case .discontinuity: discontinuity
            case .gap: gap
            case .programDateTime: date
            case .part: parts
            case .inf: inf
            default: false
            }
        }
    }

    /// Writes the lines of one segment. `present` is set for the segment after the head of the text.
    private mutating func write(
        _ segment: MediaSegment, at offset: Int, playlistLines: Bool = false, present: Set<Tag>? = nil
    ) {
        var values = segment.values
        let number = playlist.mediaSequence.addingReportingOverflow(offset + (playlist.skip?.count ?? 0)).partialValue
        if segment.index >= 0, segment.mediaSequence != number {
            values.keys = values.keys.map { key in
                guard key.iv == nil, key.effectiveKeyFormat == "identity", key.method != .sampleAESCTR else {
                    return key
                }
                var key = key
                key.iv = segment.initializationVector(for: key)
                return key
            }
        }
        guard let read = segment.original else {
            writeNew(values, Changes.all)
            writeInf(values)
            out.line(values.uri)
            return
        }

        let store = segment.store
        let record = store.tables.records[segment.index]
        let state = store.tables.states[Int(record.state)]
        let before =
            segment.index > 0
            ? store.tables.states[Int(store.tables.records[segment.index - 1].state)] : SegmentState()
        let old = read.values
        var changes = Changes()
        changes.encryption =
            values.keys != old.keys || values.map != old.map || keys != store.tables.keySets[before.keys]
            || map != before.map.map { store.tables.maps[$0] }
        changes.bitRate = values.bitRate != old.bitRate || kilobits != before.bitRate
        let continues = range.map { $0.uri == values.uri && $0.end == values.byteRange?.offset } ?? false
        changes.range =
            values.byteRange != old.byteRange || (record.flags.contains(.continuedRange) && !continues)
        changes.discontinuity = values.hasDiscontinuity != old.hasDiscontinuity
        changes.gap = values.isGap != old.isGap
        changes.date = values.programDateTime != old.programDateTime
        changes.parts = values.parts != old.parts
        changes.inf =
            values.duration != old.duration || values.title != old.title
            || (record.flags.contains(.replacedDuration) && playlist.targetDuration != original.targetDuration)
        changes.uri = values.uri != old.uri

        let text = store.text
        let isSource = store === source?.store
        var isNewWritten = false
        var uriLine: PlaylistLine?
        let block = isSource ? source.map { store.blockRange(segment.index, $0) } : store.blockRange(segment.index)
        text.forEachLine(in: block ?? 0..<0) { line in
            switch line.content {
            case .tag(let tag) where tag.isOfSegment:
                if !isNewWritten {
                    isNewWritten = true
                    writeNew(values, changes)
                }
                if !changes.contains(tag) { out.raw(text, line.range) } else if tag == .inf { writeInf(values) }
            case .tag(let tag):
                if playlistLines { writePlaylistLine(tag, line, text, present: present) }
            case .uri:
                // URI lines before the last one belong to no segment.
                uriLine = line
            case .other:
                if playlistLines || (segment.index > 0) { out.raw(text, line.range) }
            }
        }
        if !changes.uri, let uriLine { out.raw(text, uriLine.range) } else { out.line(values.uri) }
        if !changes.encryption {
            keys = store.tables.keySets[state.keys]
            map = state.map.map { store.tables.maps[$0] }
        }
        if !changes.bitRate { kilobits = state.bitRate }
        range = values.byteRange.map { (values.uri, $0.end) }
    }

    private mutating func writeNew(_ values: MediaSegment.Values, _ changes: Changes) {
        if changes.discontinuity, values.hasDiscontinuity { out.tag(.discontinuity) }
        if changes.encryption {
            if let map = values.map, map != self.map {
                put(map.keys)
                out.tag(.map, map.attributeText)
                self.map = map
            }
            put(values.keys)
        }
        if changes.bitRate, values.byteRange == nil, let bitRate = values.bitRate, bitRate / 1000 != kilobits {
            out.tag(.bitRate, String(bitRate / 1000))
            kilobits = bitRate / 1000
        }
        if changes.date, let date = values.programDateTime { out.tag(.programDateTime, date.description) }
        if changes.gap, values.isGap { out.tag(.gap) }
        if changes.parts { for part in values.parts { out.tag(.part, part.attributeText) } }
        if changes.range, let range = values.byteRange { out.tag(.byteRange, range.text) }
        range = values.byteRange.map { (values.uri, $0.end) }
    }

    private mutating func writeInf(_ values: MediaSegment.Values) {
        out.tag(.inf, values.duration.decimalText() + "," + values.title)
    }

    /// Writes the tags that set exactly `wanted` in force.
    private mutating func put(_ wanted: [EncryptionKey]) {
        guard keys != wanted else { return }
        var result = keys
        let changed = wanted.filter { !keys.contains($0) }
        for key in changed {
            if let index = result.firstIndex(where: { $0.effectiveKeyFormat == key.effectiveKeyFormat }) {
                result[index] = key
            } else {
                result.append(key)
            }
        }
        if result == wanted, !changed.isEmpty {
            for key in changed { out.tag(.key, key.attributeText) }
        } else {
            out.tag(.key, "METHOD=NONE")
            for key in wanted { out.tag(.key, key.attributeText) }
        }
        keys = wanted
    }
}

extension MediaPlaylistWriter.Changes {
    fileprivate static let all = Self(
        encryption: true, bitRate: true, range: true, discontinuity: true, gap: true, date: true, parts: true,
        inf: true, uri: true)
}

extension Tag {
    /// Whether the tag applies to the next segment or all following ones.
    var isOfSegment: Bool {
        switch self {
        case .inf, .byteRange, .discontinuity, .key, .map, .programDateTime, .gap, .bitRate, .part: true
        default: isSpliceMarker
        }
    }
}

// MARK: - Playlist tags

extension MediaPlaylistWriter {
    /// Writes the playlist tags among the lines of a segment that is not written, and comments too if it is in the
    /// head.
    private mutating func writePlaylistLines(_ range: Range<Int>, isHead: Bool, present: Set<Tag>) {
        guard let text = source?.store.text else { return }
        var isAfterSegmentTag = false
        text.forEachLine(in: range) { line in
            switch line.content {
            case .tag(let tag):
                if tag.isOfSegment {
                    isAfterSegmentTag = true
                } else if !isTail(tag) || !isHead || source?.store.tables.records.isEmpty == false {
                    writePlaylistLine(tag, line, text, present: present)
                }
            case .other: if isHead, !isAfterSegmentTag { out.raw(text, line.range) }
            case .uri: break
            }
        }
    }

    private func isTail(_ tag: Tag) -> Bool {
        tag == .endList || tag == .preloadHint || tag == .renditionReport || tag == .dateRange
    }

    private mutating func writePlaylistLine(_ tag: Tag, _ line: PlaylistLine, _ text: [UInt8], present: Set<Tag>?) {
        switch tag {
        case .dateRange: writeDateRangeLine(line, text)
        // Without a segment, these alone would make it a multivariant playlist.
        case _ where tag.isSessionTag && playlist.segments.isEmpty: break
        case _ where isUnchanged(tag): out.raw(text, line.range)
        case _ where written.insert(tag).inserted: writeValue(tag)
        default: break
        }
        if tag == .extM3U, let present, written.insert(.extM3U).inserted { writeNewSingles(present: present) }
    }

    /// Copies an unchanged line of a range. The first line of a changed range is written again.
    private mutating func writeDateRangeLine(_ line: PlaylistLine, _ text: [UInt8]) {
        var options = PlaylistParser.Options()
        options.importedVariables = [:]
        var context = ReadingContext(options: options, url: original.url)
        for definition in original.definitions { try? context.define(definition) }
        context.traits = .brace
        let span = text.span
        context.beginAttributes(line.value)
        guard let range = try? DateRange(&context, span),
            let wanted = dateRanges[range.id]
        else { return }
        if wanted == originalDateRanges[range.id] {
            out.raw(text, line.range)
            writtenDateRanges.insert(range.id)
        } else if writtenDateRanges.insert(range.id).inserted {
            out.tag(.dateRange, wanted.attributeText)
        }
    }

    private func isUnchanged(_ tag: Tag) -> Bool {
        switch tag {
        case .version: playlist.version == original.version
        case .independentSegments: playlist.hasIndependentSegments == original.hasIndependentSegments
        case .start: playlist.start == original.start
        case .define: playlist.definitions == original.definitions
        case .targetDuration: playlist.targetDuration == original.targetDuration
        case .mediaSequence: playlist.mediaSequence == original.mediaSequence
        case .discontinuitySequence:
            playlist.discontinuitySequence == original.discontinuitySequence
                && playlist.hasDiscontinuitySequence == original.hasDiscontinuitySequence
        case .endList: playlist.hasEndList == original.hasEndList
        case .playlistType: playlist.playlistType == original.playlistType
        case .iFramesOnly: playlist.isIFramesOnly == original.isIFramesOnly
        case .partInf: playlist.partTarget == original.partTarget
        case .serverControl: playlist.serverControl == original.serverControl
        case .skip: playlist.skip == original.skip
        case .preloadHint: playlist.preloadHints == original.preloadHints
        case .renditionReport: playlist.renditionReports == original.renditionReports
        default: true
        }
    }

    private mutating func writeValue(_ tag: Tag) {
        switch tag {
        case .version: if let version = playlist.version { out.tag(tag, String(version)) }
        case .independentSegments: if playlist.hasIndependentSegments { out.tag(tag) }
        case .start: if let start = playlist.start { out.tag(tag, start.attributeText) }
        case .define: for definition in playlist.definitions { out.tag(tag, definition.attributeText) }
        case .targetDuration: out.tag(tag, playlist.targetDuration.decimalText())
        case .mediaSequence: out.tag(tag, String(playlist.mediaSequence))
        case .discontinuitySequence:
            if playlist.hasDiscontinuitySequence || playlist.discontinuitySequence > 0 {
                out.tag(tag, String(playlist.discontinuitySequence))
            }
        case .endList: if playlist.hasEndList { out.tag(tag) }
        case .playlistType: if let type = playlist.playlistType { out.tag(tag, type.rawValue) }
        case .iFramesOnly: if playlist.isIFramesOnly { out.tag(tag) }
        case .partInf:
            if let target = playlist.partTarget { out.tag(tag, "PART-TARGET=" + target.decimalText()) }
        case .serverControl: if let control = playlist.serverControl { out.tag(tag, control.attributeText) }
        case .skip: if let skip = playlist.skip { out.tag(tag, skip.attributeText) }
        case .preloadHint: for hint in playlist.preloadHints { out.tag(tag, hint.attributeText) }
        case .renditionReport: for report in playlist.renditionReports { out.tag(tag, report.attributeText) }
        default: break
        }
    }

    /// Writes changed values whose tags are not in the text.
    private mutating func writeNewSingles(present: Set<Tag>) {
        let tags: [Tag] = [
            .version, .targetDuration, .serverControl, .partInf, .mediaSequence, .discontinuitySequence, .playlistType,
            .iFramesOnly, .independentSegments, .define, .start, .skip,
        ]
        for tag in tags where !present.contains(tag) && !isUnchanged(tag) && written.insert(tag).inserted {
            writeValue(tag)
        }
    }

    private mutating func writeTail(_ source: MediaSource?) {
        let store = source?.store ?? .empty
        let isEmpty = store.tables.records.isEmpty
        let last = store.tables.records.last.map { store.tables.states[Int($0.state)] } ?? SegmentState()
        let isSame =
            playlist.trailingParts == original.trailingParts && playlist.upcoming == original.upcoming
            && keys == store.tables.keySets[last.keys] && map == last.map.map { store.tables.maps[$0] }
        var wasWritten = false
        if !isSame {
            var values = MediaSegment.Values(
                uri: "", duration: .zero, title: "", keys: playlist.upcoming.keys, map: playlist.upcoming.map,
                hasDiscontinuity: playlist.upcoming.hasDiscontinuity, isGap: false,
                programDateTime: playlist.upcoming.programDateTime, parts: playlist.trailingParts)
            if playlist.hasEndList, playlist.trailingParts.isEmpty {
                values.keys = keys
                values.map = map
            }
            writeNew(values, Changes.all)
        }
        func writeNewDateRanges() {
            guard !wasWritten else { return }
            wasWritten = true
            for range in playlist.dateRanges where originalDateRanges[range.id] == nil {
                out.tag(.dateRange, range.attributeText)
            }
        }
        let start = source?.tailStart ?? 0
        store.text.forEachLine(in: start..<store.text.count) { line in
            switch line.content {
            case .tag(let tag) where tag.isSpliceMarker: if !isEmpty { out.raw(store.text, line.range) }
            case .tag(let tag) where tag.isOfSegment: if isSame, tag != .inf { out.raw(store.text, line.range) }
            case .tag(let tag):
                if tag == .endList { writeNewDateRanges() }
                if !isEmpty || isTail(tag) { writePlaylistLine(tag, line, store.text, present: nil) }
            case .other: if !isEmpty { out.raw(store.text, line.range) }
            case .uri: break
            }
        }
        writeNewDateRanges()
        for tag in [Tag.preloadHint, .renditionReport, .endList]
        where !isUnchanged(tag) && written.insert(tag).inserted {
            writeValue(tag)
        }
    }
}
