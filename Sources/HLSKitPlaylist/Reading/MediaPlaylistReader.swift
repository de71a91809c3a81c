/// Reads the lines of a media playlist.
///
/// Segments become records of a fixed size. A segment with plain tags needs no allocation.
struct MediaPlaylistReader {
    /// The longest plausible `EXTINF`, part or target duration (R34): eleven days.
    static var longestDuration: Duration { Duration(seconds: longestSeconds, attos: 0) }
    private static var longestSeconds: UInt64 { 1_000_000 }
    /// The number of preload hints to keep. There should be two, and later ones are useless.
    private static var maximumHintCount: Int { 100 }
    /// Longer segments cause a warning.
    private static var longSeconds: UInt64 { 86_400 }

    private var tables = SegmentTables()
    private var expansions: [UInt8] = []
    private var playlist = MediaPlaylist(targetDuration: .zero)
    private var seen: Set<Tag> = []
    private var hasDiscontinuityTag = false
    private var dateRangeIndices: [String: Int] = [:]
    private var dateRangeLines: [(start: Int, range: DateRange)] = []
    private var isReusable = true
    private var reported: Set<PlaylistRule> = []

    // State for the next segment.
    private var record = SegmentRecord()
    private var hasInf = false
    private var range: (length: Int, offset: Int?)?
    private var date: PlaylistDate?
    private var state = SegmentState()
    private var hasStateChanged = false
    private var keys = SegmentKeys()

    // State that accumulates over segments.
    private var elapsedSeconds: UInt64 = 0
    private var elapsedAttos: UInt64 = 0
    private var discontinuityCount: UInt32 = 0
    private var longest: (seconds: UInt64, line: UInt32) = (0, 0)
    private var replacedDurationLine: Int?

    // An earlier state of the playlist, until it has been used or found not to match.
    private var previous: MediaSource?
    /// The position at which reading continues after segments of the earlier state have been reused.
    var adopted: (next: Int, lineCount: Int)?

    init(reusing previous: MediaSource?, mode: PlaylistParser.Mode) {
        if let previous, previous.isReusable, previous.options.mode == mode { self.previous = previous }
    }

    func store(text: [UInt8]) -> SegmentStore {
        SegmentStore(
            text: text, expansions: expansions, tables: tables,
            mediaSequence: playlist.mediaSequence.addingReportingOverflow(playlist.skip?.count ?? 0).partialValue,
            discontinuitySequence: playlist.discontinuitySequence)
    }
}

// MARK: - Segments

extension MediaPlaylistReader {
    @inline(__always)
    mutating func readInf(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, line: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        if hasInf { try context.report(.tagWithoutURI, "the previous EXTINF has no URI line; ignored") }
        hasInf = true
        record.flags.remove(.replacedDuration)
        var start = value.lowerBound
        while start < value.upperBound, bytes[start] == 0x20 { start &+= 1 }
        guard case (let number, var end)? = bytes.decimalPrefix(in: start..<value.upperBound),
            number.whole < Self.longestSeconds || (number.whole == Self.longestSeconds && number.attos == 0)
        else {
            try readBadInf(bytes, value, &context)
            return
        }
        record.durationSeconds = UInt32(truncatingIfNeeded: number.whole)
        record.durationAttos = number.attos
        record.titleStart = 0
        if number.whole > Self.longSeconds, reported.insert(.number).inserted {
            try context.report(.segmentDuration, "\(number.whole) s is more than a day", severity: .warning)
        }
        if end < value.upperBound, bytes[end] == 0x2C {
            if end &+ 1 < value.upperBound { record.titleStart = UInt32(truncatingIfNeeded: end &+ 1) }
            return
        }
        while end < value.upperBound, bytes[end] == 0x20 { end &+= 1 }
        if end < value.upperBound, bytes[end] != 0x2C {
            try readBadInf(bytes, value, &context)
        } else {
            if end &+ 1 < value.upperBound { record.titleStart = UInt32(truncatingIfNeeded: end &+ 1) }
            if end == value.upperBound, reported.insert(.segmentDuration).inserted {
                try context.report(.segmentDuration, "no comma after the duration", severity: .warning)
            }
        }
    }

    /// The target duration replaces an unreadable duration (R34).
    private mutating func readBadInf(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        let comma = bytes.index(of: 0x2C, in: value) ?? value.upperBound
        try context.report(
            .segmentDuration,
            "\"\(bytes.excerpt(value.lowerBound..<comma))\" is not a duration of at most \(Self.longestSeconds) s; "
                + "the target duration is used")
        record.durationSeconds = 0
        record.durationAttos = 0
        record.titleStart = comma + 1 < value.upperBound ? UInt32(truncatingIfNeeded: comma + 1) : 0
        record.flags.insert(.replacedDuration)
        replacedDurationLine = replacedDurationLine ?? context.line
    }

    @inline(__always)
    mutating func readURI(
        _ bytes: borrowing Span<UInt8>, _ uri: Range<Int>, next: Int, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        guard hasInf else {
            try context.report(.uriWithoutTag, "a URI without EXTINF is not a segment; ignored")
            return
        }
        record.uri = TextRange(uri)
        if !context.traits.isEmpty { try readUnusualURI(bytes, uri, &context) }
        let limit = context.options.limits.maximumSegmentCount
        guard tables.records.count < limit else { throw context.limit("maximumSegmentCount", limit) }
        if tables.records.count == 64 {
            tables.records.reserveCapacity(Self.expectedCount(text: bytes.count, read: next))
        }

        if range != nil { try resolveRange(bytes, &context) }
        if let date {
            record.flags.insert(.ownDate)
            tables.dates.append(DateAnchor(date: date, elapsedSeconds: elapsedSeconds, elapsedAttos: elapsedAttos))
            self.date = nil
        }
        if hasStateChanged {
            hasStateChanged = false
            try keys.store(in: &tables, &state, context)
            if state != tables.states[tables.states.count &- 1] { tables.states.append(state) }
        }
        record.state = UInt32(truncatingIfNeeded: tables.states.count &- 1)
        record.dateCount = UInt32(truncatingIfNeeded: tables.dates.count)
        record.partEnd = UInt32(truncatingIfNeeded: tables.parts.count)
        record.discontinuityCount = discontinuityCount
        record.elapsedSeconds = elapsedSeconds
        record.elapsedAttos = elapsedAttos
        record.line = UInt32(truncatingIfNeeded: context.line)
        tables.records.append(record)

        advance(seconds: record.durationSeconds, attos: record.durationAttos, line: record.line)
        record.blockStart = UInt32(truncatingIfNeeded: next)
        record.flags = []
        hasInf = false
        if previous != nil { try adopt(bytes, next: next, &context) }
    }

    @inline(__always)
    private mutating func advance(seconds: UInt32, attos: UInt64, line: UInt32) {
        elapsedSeconds &+= UInt64(seconds)
        elapsedAttos &+= attos
        if elapsedAttos >= 1_000_000_000_000_000_000 {
            elapsedAttos &-= 1_000_000_000_000_000_000
            elapsedSeconds &+= 1
        }
        let rounded = UInt64(seconds) &+ (attos >= 500_000_000_000_000_000 ? 1 : 0)
        if rounded > longest.seconds { longest = (rounded, line) }
    }

    /// Estimates the number of items from the size of the first 64, so that one allocation suffices for the rest.
    private static func expectedCount(text: Int, read: Int) -> Int {
        min(text / max(1, read / 64) + 64, 1 << 20)
    }

    private mutating func readUnusualURI(
        _ bytes: borrowing Span<UInt8>, _ uri: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        if let text = try context.unusualURI(uri, bytes) {
            record.uri = TextRange(expansions.count..<expansions.count + text.count, isExpansion: true)
            expansions += text
        }
    }

    /// Resolves the offset of the segment's range: the written one, or the end of the previous range (rule 15). The
    /// previous range should belong to the same resource. If it does not, other players continue from any range, and
    /// from 0 if there is none.
    private mutating func resolveRange(
        _ bytes: borrowing Span<UInt8>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        guard let range else { return }
        self.range = nil
        record.flags.insert(.byteRange)
        record.byteRangeLength = range.length
        if let offset = range.offset {
            record.byteRangeOffset = offset
        } else {
            record.flags.insert(.continuedRange)
            record.byteRangeOffset = 0
            if let last = tables.records.last, last.flags.contains(.byteRange) {
                record.byteRangeOffset = last.byteRangeOffset &+ last.byteRangeLength
                if !isSameResource(last.uri, bytes) {
                    try context.report(
                        .byteRange,
                        "the offset is missing, and the previous range is of another resource; read as its end",
                        tag: .byteRange)
                }
            } else {
                try context.report(
                    .byteRange, "the offset is missing, and there is no previous range; read as 0", tag: .byteRange)
            }
        }
        guard !record.byteRangeOffset.addingReportingOverflow(record.byteRangeLength).overflow else {
            throw context.failure(.byteRange, "the range ends beyond 2^63-1")
        }
    }

    private func isSameResource(_ other: TextRange, _ bytes: borrowing Span<UInt8>) -> Bool {
        switch (other.isExpansion, record.uri.isExpansion) {
        case (false, false): bytes.equals(other.range, record.uri.range)
        case (true, true): expansions[other.range] == expansions[record.uri.range]
        default: false
        }
    }
}

// MARK: - Tags

extension MediaPlaylistReader {
    mutating func read(
        _ tag: Tag, _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, line: Range<Int>,
        _ context: inout ReadingContext
    ) throws(PlaylistError) {
        switch tag {
        case .byteRange: try readByteRange(bytes, value, &context)
        case .discontinuity:
            if record.flags.contains(.discontinuity) {
                try context.report(.repeatedTag, "occurs again before a segment", severity: .warning)
            } else {
                record.flags.insert(.discontinuity)
                discontinuityCount &+= 1
                hasDiscontinuityTag = true
            }
        case .gap: record.flags.insert(.gap)
        case .programDateTime:
            if let (date, hasZone) = bytes.date(in: value) {
                self.date = date
                if !hasZone, reported.insert(.date).inserted {
                    try context.report(.date, "no time zone; read as UTC", severity: .warning)
                }
            } else {
                try context.report(.date, "\"\(bytes.excerpt(value))\" is not a date; ignored")
            }
        case .key: if try keys.readKey(bytes, value, &context) { hasStateChanged = true }
        case .map: if try keys.readMap(bytes, value, &context) { hasStateChanged = true }
        case .bitRate:
            if let kilobits = bytes.integer(in: value), kilobits <= Int.max / 1000 {
                state.bitRate = kilobits
                hasStateChanged = true
            } else {
                try context.report(.number, "\"\(bytes.excerpt(value))\" is not a bit rate; ignored")
            }
        case .part: try readPart(bytes, value, &context)
        case .dateRange:
            context.beginAttributes(value)
            let limit = context.options.limits.maximumDateRangeCount
            guard dateRangeLines.count < limit else { throw context.limit("maximumDateRangeCount", limit) }
            let range = try DateRange(&context, bytes)
            dateRangeLines.append((line.lowerBound, range))
            try readDateRange(range, &context)
        default: try readPlaylistTag(tag, bytes, value, &context)
        }
    }

    private mutating func readByteRange(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        let isContinuation = bytes.index(of: 0x40, in: value) == nil
        let read = try context.byteRange(value, bytes, continuing: 0)
        range = (read.length, isContinuation ? nil : read.offset)
    }

    mutating func readPart(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        context.beginAttributes(value)
        let limit = context.options.limits.maximumSegmentCount
        guard tables.parts.count < limit else { throw context.limit("maximumSegmentCount (parts)", limit) }
        if tables.parts.count == 64 {
            tables.parts.reserveCapacity(Self.expectedCount(text: bytes.count, read: value.upperBound))
        }
        let firstPart = Int(tables.records.last?.partEnd ?? 0)
        if let part = try PartialSegment(
            &context, bytes, previous: tables.parts.count == firstPart ? nil : tables.parts.last)
        {
            tables.parts.append(part)
        }
    }

    /// Only its position is stored. Its contents are read on access. Markers beyond the limit of segments are dropped.
    mutating func readSpliceMarker(_ tag: Tag, _ value: Range<Int>, _ context: borrowing ReadingContext) {
        guard tables.markers.count < context.options.limits.maximumSegmentCount else { return }
        tables.markers.append(
            SpliceMarkerRecord(
                segment: UInt32(truncatingIfNeeded: tables.records.count), tag: tag, value: TextRange(value)))
    }

    private mutating func readDateRange(
        _ range: DateRange, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        guard let index = dateRangeIndices[range.id] else {
            dateRangeIndices[range.id] = playlist.dateRanges.count
            playlist.dateRanges.append(range)
            return
        }
        let limit = context.options.limits.maximumAttributeCount
        guard let conflicts = playlist.dateRanges[index].merge(range, upTo: limit) else {
            throw context.limit("maximumAttributeCount", limit)
        }
        if !conflicts.isEmpty {
            try context.report(
                .dateRange,
                "\(conflicts.joined(separator: ", ")) of \"\(range.id)\" differ from earlier ones; the first count")
        }
    }

    private mutating func readPlaylistTag(
        _ tag: Tag, _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        switch tag {
        case .preloadHint, .renditionReport: break
        case .mediaSequence, .discontinuitySequence:
            let isRepeated = !seen.insert(tag).inserted
            if isRepeated { try context.report(.repeatedTag, "occurs again") }
            if !tables.records.isEmpty {
                isReusable = false
                try context.report(.tagPosition, "after the first segment")
                if isRepeated { return }
            }
        default:
            if !tables.records.isEmpty, tag != .endList { isReusable = false }
            guard seen.insert(tag).inserted else {
                try context.report(.repeatedTag, "occurs again; the first one counts")
                return
            }
        }
        switch tag {
        case .targetDuration: try readTargetDuration(bytes, value, &context)
        case .mediaSequence:
            playlist.mediaSequence = try sequenceNumber(bytes, value, context)
        case .discontinuitySequence:
            playlist.discontinuitySequence = try sequenceNumber(bytes, value, context)
            playlist.hasDiscontinuitySequence = true
            if hasDiscontinuityTag { try context.report(.tagPosition, "after EXT-X-DISCONTINUITY") }
        case .endList: playlist.hasEndList = true
        case .playlistType:
            let type = PlaylistType(rawValue: bytes.string(value))
            if type != .event, type != .vod {
                try context.report(.unknownValue, "\"\(bytes.excerpt(value))\" is neither EVENT nor VOD")
            }
            playlist.playlistType = value.isEmpty ? nil : type
        case .iFramesOnly: playlist.isIFramesOnly = true
        case .partInf:
            context.beginAttributes(value)
            while let attribute = try context.nextAttribute(bytes) {
                if attribute.name == .partTarget { playlist.partTarget = try context.duration(attribute, bytes) }
            }
            if playlist.partTarget == nil { try context.reportMissing(.partTarget) }
        case .serverControl:
            context.beginAttributes(value)
            playlist.serverControl = try ServerControl(&context, bytes)
        case .skip:
            context.beginAttributes(value)
            playlist.skip = try PlaylistSkip(&context, bytes)
            isReusable = false
        case .preloadHint:
            context.beginAttributes(value)
            guard let hint = try PreloadHint(&context, bytes) else { return }
            guard playlist.preloadHints.count < Self.maximumHintCount else { return }
            playlist.preloadHints.append(hint)
        case .renditionReport:
            context.beginAttributes(value)
            guard let report = try RenditionReport(&context, bytes) else { return }
            let limit = context.options.limits.maximumVariantCount
            guard playlist.renditionReports.count < limit else { throw context.limit("maximumVariantCount", limit) }
            playlist.renditionReports.append(report)
        default: break
        }
    }

    /// Reads an integer. A fraction is accepted and reported (rule 33).
    private mutating func readTargetDuration(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        guard let number = bytes.decimal(in: value), let duration = Duration(number) else {
            try context.report(.targetDuration, "\"\(bytes.excerpt(value))\" is not a number of seconds; ignored")
            seen.remove(.targetDuration)
            return
        }
        playlist.targetDuration = duration
        if duration > Self.longestDuration {
            try context.report(.targetDuration, "more than \(Self.longestSeconds) s; read as that")
            playlist.targetDuration = Self.longestDuration
        }
        if bytes.integer(in: value) == nil {
            try context.report(.targetDuration, "\"\(bytes.excerpt(value))\" is not an integer", severity: .warning)
        }
    }

    private func sequenceNumber(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: ReadingContext
    ) throws(PlaylistError) -> Int {
        guard let number = bytes.integer(in: value) else {
            throw context.failure(.sequenceNumber, "\"\(bytes.excerpt(value))\" is not a number up to 2^63-1")
        }
        return number
    }
}

// MARK: - Reuse

extension MediaPlaylistReader {
    /// Called after the first segment. If an earlier state of the playlist continues with the same bytes, reuses its
    /// segments.
    private mutating func adopt(
        _ bytes: borrowing Span<UInt8>, next: Int, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        guard let previous else { return }
        self.previous = nil
        guard context.issues.isEmpty, context.definitions.isEmpty, isReusable, playlist.skip == nil,
            let earlier = EarlierSegments(
                of: previous, after: tables, state, mediaSequence: playlist.mediaSequence, in: bytes, next: next,
                limit: context.options.limits.maximumSegmentCount)
        else { return }
        var place = EarlierSegments.Place(
            line: context.line, elapsedSeconds: elapsedSeconds, elapsedAttos: elapsedAttos,
            discontinuityCount: discontinuityCount, state: state, keyCount: keys.count, longest: longest)
        try earlier.append(to: &tables, after: &place, context)
        longest = place.longest
        if let last = tables.records.last {
            elapsedSeconds = last.elapsedSeconds
            elapsedAttos = last.elapsedAttos
            advance(seconds: last.durationSeconds, attos: last.durationAttos, line: last.line)
            discontinuityCount = last.discontinuityCount
            state = tables.states[Int(last.state)]
            // The running state may differ from the last appended state.
            hasStateChanged = true
        }
        record.blockStart = UInt32(truncatingIfNeeded: earlier.text.upperBound)
        adopted = (earlier.text.upperBound, earlier.lineCount)
        keys.take(state, of: tables, count: place.keyCount)

        dateRangeIndices.reserveCapacity(previous.dateRangeLines.count)
        dateRangeLines.reserveCapacity(previous.dateRangeLines.count)
        playlist.dateRanges.reserveCapacity(previous.dateRangeLines.count)
        for (start, range) in earlier.dateRangeLines {
            dateRangeLines.append((start, range))
            try readDateRange(range, &context)
        }
    }
}

// MARK: - The end

extension MediaPlaylistReader {
    /// Creates the playlist. `complete` adds the values of tags that either kind may have.
    mutating func finish(
        text: [UInt8], _ context: inout ReadingContext, complete: (inout MediaPlaylist) -> Void
    ) throws(PlaylistError) -> MediaPlaylist {
        if hasInf { try context.report(.tagWithoutURI, "no URI line follows; not a segment", tag: .inf) }
        context.line = 0
        try replaceDurations(&context)
        try checkTargetDuration(in: text, &context)
        try checkNumbers(context)

        if let date {
            // The date of the next segment, from which earlier ones can be dated.
            tables.dates.append(DateAnchor(date: date, elapsedSeconds: elapsedSeconds, elapsedAttos: elapsedAttos))
        }
        let store = store(text: text)
        playlist.segments = MediaSegments(store: store)
        let partStart = Int(tables.records.last?.partEnd ?? 0)
        playlist.trailingParts = Array(tables.parts[partStart...])
        playlist.upcoming.keys = keys.keys
        playlist.upcoming.map = keys.map
        playlist.upcoming.hasDiscontinuity = record.flags.contains(.discontinuity)
        playlist.upcoming.programDateTime = date
        if !tables.parts.isEmpty, playlist.partTarget == nil {
            try context.report(.missingAttribute, "parts without EXT-X-PART-INF", tag: .partInf)
        }
        for range in playlist.dateRanges where range.startDate == nil {
            try context.report(.dateRange, "\"\(range.id)\" has no START-DATE", tag: .dateRange)
        }
        if playlist.isComplete, !playlist.hasEndList {
            try context.report(.tagPosition, "VOD without EXT-X-ENDLIST; read as complete", tag: .playlistType)
        }
        inheritReports(store)
        complete(&playlist)
        playlist.definitions = context.definitions
        playlist.issues = context.issues
        let source = MediaSource(
            store: store, original: playlist, tailStart: Int(record.blockStart), dateRangeLines: dateRangeLines,
            isReusable: isReusable && context.definitions.isEmpty && expansions.isEmpty && context.issues.isEmpty,
            options: context.options)
        playlist.source = Unhashed(source)
        return playlist
    }

    /// Fills in unreadable durations and moves the following segments.
    private mutating func replaceDurations(_ context: inout ReadingContext) throws(PlaylistError) {
        guard let line = replacedDurationLine else { return }
        guard seen.contains(.targetDuration), playlist.targetDuration >= .zero else {
            context.line = line
            throw context.failure(.segmentDuration, "a duration cannot be read, and there is no target duration")
        }
        let (seconds, attos) = playlist.targetDuration.components
        elapsedSeconds = 0
        elapsedAttos = 0
        for index in tables.records.indices {
            tables.records[index].elapsedSeconds = elapsedSeconds
            tables.records[index].elapsedAttos = elapsedAttos
            if tables.records[index].flags.contains(.replacedDuration) {
                tables.records[index].durationSeconds = UInt32(clamping: seconds)
                tables.records[index].durationAttos = UInt64(attos)
            }
            let record = tables.records[index]
            if record.flags.contains(.ownDate), record.dateCount > 0 {
                tables.dates[Int(record.dateCount) - 1].elapsedSeconds = elapsedSeconds
                tables.dates[Int(record.dateCount) - 1].elapsedAttos = elapsedAttos
            }
            advance(seconds: record.durationSeconds, attos: record.durationAttos, line: record.line)
        }
    }

    private mutating func checkTargetDuration(
        in text: [UInt8], _ context: inout ReadingContext
    ) throws(PlaylistError) {
        let longest = Duration.seconds(Int64(clamping: longest.seconds))
        if !seen.contains(.targetDuration) {
            try context.report(.targetDuration, "is missing; the longest segment is used", tag: .targetDuration)
            playlist.targetDuration = longest
        } else if longest > playlist.targetDuration {
            try context.report(
                .targetDuration, "a segment of \(self.longest.seconds) s is longer",
                line: Self.durationLine(beforeURIAt: Int(self.longest.line), in: text), tag: .targetDuration)
        }
    }

    /// Returns the line with the duration of the segment whose URI is in a line.
    private static func durationLine(beforeURIAt line: Int, in text: [UInt8]) -> Int {
        var (number, found) = (0, line)
        text.forEachLine(in: 0..<text.count) {
            number += 1
            if number < line, case .tag(.inf) = $0.content { found = number }
        }
        return found
    }

    /// Sequence numbers must not exceed 2⁶³−1 (rule 10, R35).
    private func checkNumbers(_ context: ReadingContext) throws(PlaylistError) {
        let (base, skipOverflow) = playlist.mediaSequence.addingReportingOverflow(playlist.skip?.count ?? 0)
        // One more for the segment in progress.
        let (_, overflow) = base.addingReportingOverflow(tables.records.count + 1)
        let (_, discontinuityOverflow) = playlist.discontinuitySequence.addingReportingOverflow(
            Int(discontinuityCount) + 1)
        if skipOverflow || overflow || discontinuityOverflow {
            throw context.failure(.sequenceNumber, "the sequence numbers exceed 2^63-1")
        }
    }

    /// Reports without numbers have the numbers of this playlist (rule 29).
    private mutating func inheritReports(_ store: SegmentStore) {
        let count = tables.records.count
        let isInTheMaking = !playlist.trailingParts.isEmpty
        let last = store.mediaSequence + count - (isInTheMaking ? 0 : 1)
        let partCount = isInTheMaking ? playlist.trailingParts.count : (playlist.segments.last?.parts.count ?? 0)
        for index in playlist.renditionReports.indices {
            if playlist.renditionReports[index].lastMediaSequence == nil, last >= 0 {
                playlist.renditionReports[index].lastMediaSequence = last
            }
            if playlist.renditionReports[index].lastPart == nil, partCount > 0 {
                playlist.renditionReports[index].lastPart = partCount - 1
            }
        }
    }
}
