import Glibc

/// The segments of an earlier playlist state that follow, byte for byte, the first segment of a newer state. Their
/// values are reused instead of parsed again.
struct EarlierSegments {
    /// The reading position after the first segment, at which they are appended.
    struct Place {
        var line: Int
        var elapsedSeconds: UInt64
        var elapsedAttos: UInt64
        var discontinuityCount: UInt32
        var state: SegmentState
        /// The number of keys in all sets of the tables.
        var keyCount: Int
        /// The longest segment so far, in whole seconds, and its line.
        var longest: (seconds: UInt64, line: UInt32)
    }

    private let source: MediaSource
    let indices: ClosedRange<Int>
    let text: Range<Int>
    let lineCount: Int
    /// The difference between positions in the newer and the earlier text.
    private let shift: Int

    /// Finds them. Returns nil if the first segment is not among the earlier ones, has changed, or is followed by
    /// others.
    ///
    /// - Parameters:
    ///   - tables: The tables with only the first segment of the newer text.
    ///   - state: The state of the first segment.
    ///   - next: The offset of the lines after the first segment.
    ///   - limit: The largest number of segments.
    init?(
        of source: MediaSource, after tables: SegmentTables, _ state: SegmentState, mediaSequence: Int,
        in bytes: borrowing Span<UInt8>, next: Int, limit: Int
    ) {
        let old = source.store
        let (start, overflow) = mediaSequence.subtractingReportingOverflow(old.mediaSequence)
        let records = old.tables.records
        guard tables.records.count == 1, let first = tables.records.first, !overflow, records.indices.contains(start)
        else { return nil }
        let oldFirst = records[start]
        let oldState = old.tables.states[Int(oldFirst.state)]
        guard old.bytes(oldFirst.uri).elementsEqual(bytes.extracting(first.uri.range).bytesArray),
            old.tables.keySets[oldState.keys] == tables.keySets[state.keys],
            oldState.map.map({ old.tables.maps[$0] }) == state.map.map({ tables.maps[$0] }),
            oldState.bitRate == state.bitRate,
            first.flags.contains(.byteRange) == oldFirst.flags.contains(.byteRange),
            first.byteRangeOffset == oldFirst.byteRangeOffset, first.byteRangeLength == oldFirst.byteRangeLength
        else { return nil }

        // Count the segments with the same text.
        func blockEnd(_ index: Int) -> Int {
            index + 1 < records.count ? Int(records[index + 1].blockStart) : source.tailStart
        }
        let oldNext = blockEnd(start)
        let oldText = old.text
        let same = bytes.commonPrefix(from: next, with: oldText.span, from: oldNext)
        var last = start
        var (low, high) = (start, records.count - 1)
        while low <= high {
            let middle = (low + high) / 2
            if blockEnd(middle) - oldNext <= same {
                last = middle
                low = middle + 1
            } else {
                high = middle - 1
            }
        }
        // A last line without a line end may continue here.
        if last > start, oldText[blockEnd(last) - 1] != 0x0A { last -= 1 }
        guard last > start, last - start + 1 <= limit else { return nil }
        self.source = source
        indices = start + 1...last
        text = next..<next + blockEnd(last) - oldNext
        lineCount = Int(records[last].line) - Int(oldFirst.line)
        shift = next - oldNext
    }

    /// The `EXT-X-DATERANGE` lines between them: their offsets in the newer text, and the range that each line declares
    /// by itself.
    var dateRangeLines: [(start: Int, range: DateRange)] {
        source.dateRangeLines.compactMap { start, range in
            let moved = start + shift
            return text.contains(moved) ? (moved, range) : nil
        }
    }

    // MARK: Taking them over

    /// Appends their values to the tables of the newer text. The record of the last one contains the reading position
    /// after them.
    ///
    /// - Parameter place: Receives the number of keys and the longest segment.
    /// - Throws: An error if there are more keys than allowed.
    func append(
        to tables: inout SegmentTables, after place: inout Place, _ context: borrowing ReadingContext
    ) throws(PlaylistError) {
        let old = source.store.tables
        let before = old.records[indices.lowerBound - 1]
        let last = old.records[indices.upperBound]
        let move = move(after: place, before, to: tables)
        try appendStates(
            to: &tables, after: Int(before.state), upTo: Int(last.state), after: &place, context)
        let dates = Int(before.dateCount)..<Int(last.dateCount)
        tables.dates.reserveCapacity(tables.dates.count + dates.count + 64)
        let firstMoved = tables.dates.count
        tables.dates += old.dates[dates]
        var anchors = tables.dates.mutableSpan
        for index in firstMoved..<anchors.count {
            var anchor = anchors[index]
            move.time(&anchor.elapsedSeconds, &anchor.elapsedAttos)
            anchors[index] = anchor
        }
        tables.parts += old.parts[Int(before.partEnd)..<Int(last.partEnd)]
        let firstTaken = tables.records.count
        for var marker in old.markers where indices.contains(Int(marker.segment)) {
            marker.segment = UInt32(truncatingIfNeeded: Int(marker.segment) - indices.lowerBound + firstTaken)
            marker.value = marker.value.shifted(by: shift)
            tables.markers.append(marker)
        }
        appendRecords(to: &tables, moved: move, &place.longest)
    }

    private func move(
        after place: Place, _ before: SegmentRecord, to tables: SegmentTables
    ) -> SegmentRecord.Move {
        let first = source.store.tables.records[indices.lowerBound]
        // Times move by a constant, calculated in attoseconds because both values fit easily.
        let timeShift =
            Int128(place.elapsedSeconds) * 1_000_000_000_000_000_000 + Int128(place.elapsedAttos)
            - Int128(first.elapsedSeconds) * 1_000_000_000_000_000_000 - Int128(first.elapsedAttos)
        let (seconds, attos) = Self.split(timeShift)
        return SegmentRecord.Move(
            text: UInt32(truncatingIfNeeded: shift), line: UInt32(truncatingIfNeeded: place.line) &- before.line,
            state: UInt32(truncatingIfNeeded: tables.states.count &- 1) &- before.state,
            dateCount: UInt32(truncatingIfNeeded: tables.dates.count) &- before.dateCount,
            partEnd: UInt32(truncatingIfNeeded: tables.parts.count) &- before.partEnd,
            discontinuityCount: place.discontinuityCount &- before.discontinuityCount,
            seconds: UInt64(bitPattern: seconds), attos: attos)
    }

    /// Builds the records in one pass because they are most of the data to copy. The records already read go first.
    private func appendRecords(
        to tables: inout SegmentTables, moved move: SegmentRecord.Move, _ longest: inout (seconds: UInt64, line: UInt32)
    ) {
        let (own, old) = (tables.records, source.store.tables.records)
        var found = longest
        tables.records = [SegmentRecord](
            unsafeUninitializedCapacity: own.count + indices.count + 64
        ) { buffer, count in
            for record in own {
                buffer.initializeElement(at: count, to: record)
                count += 1
            }
            for index in indices {
                let record = old[index].moved(by: move)
                buffer.initializeElement(at: count, to: record)
                count += 1
                let rounded =
                    UInt64(record.durationSeconds) &+ (record.durationAttos >= 500_000_000_000_000_000 ? 1 : 0)
                if rounded > found.seconds { found = (rounded, record.line) }
            }
        }
        longest = found
    }

    /// Copies states with their keys and maps. Each segment has the same state as the previous one, or the next state
    /// in the table. The states of a range of segments are therefore contiguous, and their numbers move by a constant.
    private func appendStates(
        to tables: inout SegmentTables, after known: Int, upTo last: Int, after place: inout Place,
        _ context: borrowing ReadingContext
    ) throws(PlaylistError) {
        let old = source.store.tables
        var keySets = [Int](repeating: -1, count: old.keySets.count)
        var maps = [Int](repeating: -1, count: old.maps.count)
        let before = old.states[known]
        keySets[before.keys] = place.state.keys
        if let map = before.map, let own = place.state.map { maps[map] = own }
        keySets[0] = 0
        tables.states.reserveCapacity(tables.states.count + last - known + 64)
        tables.keySets.reserveCapacity(tables.keySets.count + old.keySets.count)
        let limit = context.options.limits.maximumKeyCount
        for index in known..<last {
            var state = old.states[index + 1]
            if keySets[state.keys] < 0 {
                keySets[state.keys] = tables.keySets.count
                let keys = old.keySets[state.keys]
                tables.keySets.append(keys)
                place.keyCount += keys.count
                guard place.keyCount <= limit else { throw context.limit("maximumKeyCount", limit) }
            }
            state.keys = keySets[state.keys]
            if let map = state.map {
                if maps[map] < 0 {
                    maps[map] = tables.maps.count
                    tables.maps.append(old.maps[map])
                }
                state.map = maps[map]
            }
            tables.states.append(state)
        }
    }

    /// Whole seconds (rounded down) and the rest.
    private static func split(_ attoseconds: Int128) -> (Int64, UInt64) {
        let unit: Int128 = 1_000_000_000_000_000_000
        var (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: unit)
        if rest < 0 {
            rest += unit
            seconds -= 1
        }
        return (Int64(clamping: seconds), UInt64(rest))
    }
}

extension Span where Element == UInt8 {
    func commonPrefix(from start: Int, with other: borrowing Span<UInt8>, from otherStart: Int) -> Int {
        let limit = Swift.min(count - start, other.count - otherStart)
        var length = 0
        let step = 4096
        while length &+ step <= limit {
            let here = extracting(start &+ length..<start &+ length &+ step)
            let there = other.extracting(otherStart &+ length..<otherStart &+ length &+ step)
            let isSame = here.withUnsafeBytes { here in
                there.withUnsafeBytes { there in
                    // Both have `step` bytes, so neither address is nil.
                    guard let a = here.baseAddress, let b = there.baseAddress else { return false }
                    return memcmp(a, b, step) == 0
                }
            }
            guard isSame else { break }
            length &+= step
        }
        while length < limit, self[start &+ length] == other[otherStart &+ length] { length &+= 1 }
        return length
    }

    var bytesArray: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count { buffer[index] = self[index] }
            initialized = count
        }
    }
}
