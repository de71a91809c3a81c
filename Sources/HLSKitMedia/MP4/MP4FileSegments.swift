/// A whole (not fragmented) MP4 file, divided at sync samples into segments that can be read separately.
///
/// A segment is represented as a fragment: a `moof` box created from the file's sample tables, and the positions of its
/// samples in the file. Together with an initialization section of the same tracks, a stream player can read it. The
/// type keeps the file's original tables, and the start of each segment in them.
///
/// Source: ISO/IEC 14496-12 §8.6, §8.8.
package struct MP4FileSegments: Sendable {
    /// A file with more samples is read sequentially because reading all of its tables takes too long.
    private static let maximumSampleCount = 1 << 24
    private static let maximumSegmentCount = 4096
    /// Offsets in a fragment have 31 bits.
    private static let maximumSegmentByteCount = 1 << 30

    package struct Fragment: Sendable {
        /// `moof`, and the header of the `mdat` box.
        package var head: [UInt8]
        /// The parts of the file that form the `mdat` box, in order.
        package var ranges: [Range<Int>]
    }

    fileprivate struct Start {
        var index: Int
        var first: MP4SampleTable.Sample
        var rest: MP4SampleTable.Samples.Iterator
    }

    fileprivate struct Lane {
        let table: MP4SampleTable.Track
        let editShift: Int64
        /// The start for each segment, or nil if the track has no samples in it.
        var starts: [Start?] = []
        /// The index after its last sample of each segment.
        var ends: [Int] = []
        var end: Int64 = 0

        var id: Int { table.track.id }
    }

    /// The readable tracks: those with samples, without chapters.
    package var tracks: [MediaTrack] { lanes.map(\.table.track) }
    /// The start of each segment in presentation time. The first is the start of the file.
    package let starts: [Duration]
    package let end: Duration
    package private(set) var byteCounts: [Int] = []

    private var lanes: [Lane]

    /// - Parameters:
    ///   - target: The minimum time between two cuts. A segment begins at the next sync sample.
    /// - Returns: nil if the tables do not allow it: a fragmented, encrypted or empty file, or one that is too large.
    package init?(_ header: MP4InitializationSection, target: Duration) {
        let tables = MP4SampleTable(header).tracks.filter { !$0.track.holdsChapters }
        var stepCount = 0
        for table in tables { stepCount += min(table.stepCount, Self.maximumSampleCount + 1) }
        guard !header.isFragmented, stepCount <= Self.maximumSampleCount,
            tables.allSatisfy({ $0.track.encryption == nil }),
            let reference = tables.firstIndex(where: { $0.track.mediaType == .video })
                ?? tables.firstIndex(where: { $0.track.mediaType == .audio })
        else { return nil }
        lanes = tables.map { Lane(table: $0, editShift: header.movieTracks[$0.trackIndex].editShift) }
        let scale = lanes[reference].table.track.timescale
        let cuts = Self.cuts(of: lanes[reference].table, target: target)
        guard !cuts.isEmpty else { return nil }
        var first: Duration?
        var last = Duration.zero
        for index in lanes.indices {
            guard let range = lanes[index].walk(cuts, of: scale) else { continue }
            guard range.byteCount.max() ?? 0 <= Self.maximumSegmentByteCount else { return nil }
            byteCounts.append(range.byteCount.reduce(0, +))
            let timescale = lanes[index].table.track.timescale
            if lanes[index].table.track.mediaType != .text {
                // Media outside the edit list takes no time.
                let shown = lanes[index].table.track.shownRange
                let begin = Self.duration(max(range.first, shown?.lowerBound ?? range.first), timescale)
                first = min(first ?? begin, begin)
                last = max(last, Self.duration(min(lanes[index].end, shown?.upperBound ?? .max), timescale))
            }
        }
        lanes.removeAll { $0.starts.isEmpty }
        guard lanes.count == byteCounts.count else { return nil }
        var starts = cuts.map { max(.zero, Self.duration($0, scale)) }
        // The encoder's priming lies before the start. If the file's clock starts at another time, the file begins
        // there.
        if let first, first > .milliseconds(200) { starts[0] = first } else { starts[0] = .zero }
        guard last > starts.last ?? .zero, zip(starts, starts.dropFirst()).allSatisfy(<) else { return nil }
        self.starts = starts
        end = last
    }

    private static func cuts(of table: MP4SampleTable.Track, target: Duration) -> [Int64] {
        let scale = Int64(table.track.timescale)
        let (seconds, attoseconds) = target.components
        let whole = seconds * scale + attoseconds / 1_000_000_000 * scale / 1_000_000_000
        let distance = max(whole, table.duration / Int64(maximumSegmentCount), 1)
        var cuts: [Int64] = []
        for sample in table.samples where sample.isSync || cuts.isEmpty {
            if let last = cuts.last, sample.pts < last || sample.pts - last < distance { continue }
            // Seeking never needs media outside the edit list.
            if !cuts.isEmpty, let shown = table.track.shownRange,
                sample.pts <= shown.lowerBound || sample.pts >= shown.upperBound
            {
                continue
            }
            cuts.append(sample.pts)
        }
        return cuts
    }

    // MARK: Fragments

    /// Returns the samples of one segment.
    ///
    /// - Parameters:
    ///   - index: The index in ``starts``.
    ///   - maximumGap: Gaps between samples up to this number of bytes are also read.
    package func fragment(_ index: Int, of trackIDs: [Int], maximumGap: Int) -> Fragment? {
        guard starts.indices.contains(index) else { return nil }
        let wanted = lanes.filter { trackIDs.contains($0.id) }
        let samples = wanted.map { $0.samples(ofSegment: index) }
        let ranges = Self.ranges(of: samples, maximumGap: maximumGap)
        var writer = MP4FragmentWriter(ranges: ranges)
        for (lane, samples) in zip(wanted, samples) where !samples.isEmpty {
            writer.add(
                samples, ofTrack: lane.id, editShift: lane.editShift,
                decodingShift: lane.table.samples.decodingShift)
        }
        return Fragment(head: writer.head(sequenceNumber: index + 1), ranges: ranges)
    }

    private static func ranges(of samples: [[MP4SampleTable.Sample]], maximumGap: Int) -> [Range<Int>] {
        var all = samples.flatMap { $0.filter { $0.byteCount > 0 }.map { $0.offset..<$0.offset + $0.byteCount } }
        all.sort { $0.lowerBound < $1.lowerBound }
        var ranges: [Range<Int>] = []
        for range in all {
            if let last = ranges.last, range.lowerBound - last.upperBound <= maximumGap {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }

    private static func duration(_ value: Int64, _ timescale: Int32) -> Duration {
        let (seconds, rest) = value.quotientAndRemainder(dividingBy: Int64(timescale))
        return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / Int64(timescale))
    }
}

extension MP4FileSegments.Lane {
    /// Finds the start and end of each segment.
    ///
    /// - Parameter cuts: The cuts in units of `scale`, the timescale of their track.
    /// - Returns: The first timestamp and the bytes of each segment, or nil if there is no sample.
    fileprivate mutating func walk(
        _ cuts: [Int64], of scale: Int32
    ) -> (first: Int64, byteCount: [Int])? {
        let own = Int128(table.track.timescale)
        let isText = table.track.mediaType == .text
        let isVideo = table.track.mediaType == .video
        func isReached(_ cut: Int, by time: Int64) -> Bool { Int128(time) * Int128(scale) >= Int128(cuts[cut]) * own }
        var iterator = table.samples.makeIterator()
        var before: MP4FileSegments.Start?
        var first = Int64.max
        var byteCounts: [Int] = []
        var index = 0
        while let sample = iterator.next() {
            let (sampleEnd, overflow) = sample.offset.addingReportingOverflow(sample.byteCount)
            guard !overflow, sampleEnd <= MediaTimeLimit.largest else { break }
            first = min(first, sample.pts)
            end = max(end, sample.pts + sample.duration)
            // The first segment contains all samples before the second.
            while starts.isEmpty || starts.count < cuts.count && isReached(starts.count, by: sample.pts) {
                guard starts.isEmpty || !isVideo || sample.isSync else { break }
                if !starts.isEmpty { ends.append(index) }
                let own = MP4FileSegments.Start(index: index, first: sample, rest: iterator)
                // A caption shown across the cut belongs to both segments.
                if isText, let before, isReached(starts.count, by: before.first.pts + before.first.duration - 1) {
                    starts.append(before)
                } else {
                    starts.append(own)
                }
                byteCounts.append(0)
            }
            if isText { before = MP4FileSegments.Start(index: index, first: sample, rest: iterator) }
            byteCounts[byteCounts.count - 1] += sample.byteCount
            index += 1
        }
        guard !starts.isEmpty else { return nil }
        ends.append(index)
        while starts.count < cuts.count {
            starts.append(nil)
            ends.append(index)
        }
        return (first, byteCounts)
    }

    fileprivate func samples(ofSegment segment: Int) -> [MP4SampleTable.Sample] {
        guard let start = starts[segment], start.index < ends[segment] else { return [] }
        var samples = [start.first]
        var rest = start.rest
        samples.reserveCapacity(ends[segment] - start.index)
        while start.index + samples.count < ends[segment], let sample = rest.next() { samples.append(sample) }
        return samples
    }
}
