extension MediaPlaylist {
    /// Returns this playlist updated by a later one of the same stream.
    ///
    /// A delta update (``skip``) is completed with segments of this playlist. Its keys, map, bit rate, dates and
    /// discontinuities continue theirs. A full update is used unchanged, except for values that only the earlier
    /// playlist contains. These are discontinuity sequence numbers that `update` does not write, and attributes of date
    /// ranges with the same ID. The result, including its ``text``, equals the full playlist.
    ///
    /// The method throws ``PlaylistError/Code/cannotMerge`` if this playlist does not contain all skipped segments. In
    /// that case, load the full playlist. The time is proportional to the update and a copy of the text.
    public func merging(update: MediaPlaylist) throws(PlaylistError) -> MediaPlaylist {
        guard let skip = update.skip else {
            var result = update
            if !update.hasDiscontinuitySequence { result.carryOver(from: self) }
            let limit = limits(of: update).maximumAttributeCount
            var known: [String: DateRange] = [:]
            for range in dateRanges { known[range.id] = range }
            for index in result.dateRanges.indices {
                guard let old = known[result.dateRanges[index].id] else { continue }
                // The earlier playlist's data is dropped if both together exceed the limit.
                var merged = result.dateRanges[index]
                if merged.merge(old, upTo: limit) != nil { result.dateRanges[index] = merged }
            }
            return result
        }
        let base = segments.store == nil ? try MediaPlaylist(parsing: text, url: url) : self
        let (start, overflow) = update.mediaSequence.subtractingReportingOverflow(base.mediaSequence)
        guard !overflow, start >= 0, base.skip == nil, skip.count <= base.segments.count,
            start <= base.segments.count - skip.count, skip.count > 0
        else {
            throw PlaylistError(
                code: .cannotMerge, rule: .skip, tag: Tag.skip.rawValue,
                text:
                    "\(skip.count) segments from \(update.mediaSequence) on are skipped, but not all of them are known")
        }
        let kept = start..<start + skip.count
        let options = base.source.value?.options ?? update.source.value?.options ?? .init()
        var result = try MediaPlaylist(
            parsing: update.completedText(with: base, kept), url: update.url, options: options, reusing: base)
        if !update.hasDiscontinuitySequence { result.carryOver(from: base) }

        let skipsDateRanges = (update.serverControl ?? serverControl)?.canSkipDateRanges == true
        var ranges = update.dateRanges
        if skipsDateRanges || !skip.recentlyRemovedDateRanges.isEmpty {
            let removed = Set(skip.recentlyRemovedDateRanges)
            let limits = limits(of: update)
            ranges = dateRanges.filter { !removed.contains($0.id) }
            var places: [String: Int] = [:]
            for (index, range) in ranges.enumerated() { places[range.id] = index }
            for range in update.dateRanges {
                if let index = places[range.id] {
                    var merged = range
                    if merged.merge(ranges[index], upTo: limits.maximumAttributeCount) != nil { ranges[index] = merged }
                } else {
                    places[range.id] = ranges.count
                    ranges.append(range)
                }
            }
            // Repeated delta updates could grow it without limit. A full playlist resets it.
            guard ranges.count <= limits.maximumDateRangeCount else {
                throw PlaylistError(
                    code: .cannotMerge, rule: .limit, tag: Tag.skip.rawValue,
                    text: "more than maximumDateRangeCount = \(limits.maximumDateRangeCount)")
            }
        }
        result.dateRanges = ranges
        return result
    }

    private func limits(of update: MediaPlaylist) -> PlaylistLimits {
        (source.value?.options ?? update.source.value?.options ?? .init()).limits
    }

    /// The text of this delta update with the skipped segments of `base` in place of the skip tag.
    private func completedText(with base: MediaPlaylist, _ kept: Range<Int>) -> [UInt8] {
        var first = base.segments[kept.lowerBound]
        let hasDates =
            base.segments[kept].contains { $0.programDateTime != nil }
            || segments.contains { $0.programDateTime != nil }
        if !hasDates { first.programDateTime = first.derivedProgramDateTime }
        var skipped = MediaPlaylistWriter.block(of: first, at: kept.lowerBound, in: base)
        if kept.count > 1, let source = base.source.value {
            let start = source.store.blockRange(kept.lowerBound + 1, source).lowerBound
            let end = source.store.blockRange(kept.upperBound - 1, source).upperBound
            skipped += source.store.text[start..<end]
        }

        let text = self.text
        var result: [UInt8] = []
        result.reserveCapacity(text.count + skipped.count)
        // Segment tags in front of EXT-X-SKIP apply to the segments after it.
        var moved: [UInt8] = []
        var isBeforeSkip = true
        var end = 0
        text.forEachLine(in: 0..<text.count) { line in
            guard isBeforeSkip else { return }
            end = line.range.upperBound
            switch line.content {
            case .tag(.skip):
                isBeforeSkip = false
                result += skipped
                if result.last != 0x0A { result.append(0x0A) }
                result += moved
            case .tag(let tag) where tag.isOfSegment: moved += text[line.range]
            default: result += text[line.range]
            }
        }
        result += text[end...]
        return result
    }

    /// Numbers the discontinuities like an earlier playlist, using a shared segment or else its last one.
    private mutating func carryOver(from earlier: MediaPlaylist) {
        guard let first = segments.first, let last = earlier.segments.last else { return }
        let (distance, overflow) = first.mediaSequence.subtractingReportingOverflow(last.mediaSequence)
        guard !overflow else { return }
        let index = earlier.segments.count - 1 + min(distance, 0)
        guard earlier.segments.indices.contains(index) else { return }
        let same = earlier.segments[index]
        // The segment's number without its own discontinuities in this text.
        let counted = first.discontinuitySequence - discontinuitySequence
        var number = same.discontinuitySequence - counted
        if distance > 0 { number = same.discontinuitySequence }
        guard number >= 0, number != discontinuitySequence,
            !number.addingReportingOverflow(segments.count + 1).overflow
        else { return }
        discontinuitySequence = number
        guard let store = segments.store else { return }
        let renumbered = SegmentStore(
            text: store.text, expansions: store.expansions, tables: store.tables, mediaSequence: store.mediaSequence,
            discontinuitySequence: number)
        segments = MediaSegments(store: renumbered)
        guard let old = source.value else { return }
        source = Unhashed(
            MediaSource(
                store: renumbered, original: old.original, tailStart: old.tailStart,
                dateRangeLines: old.dateRangeLines, isReusable: old.isReusable, options: old.options))
    }
}
