/// Writes the `moof` box for samples in parts of a file, which follow it as its `mdat` box.
///
/// Source: ISO/IEC 14496-12 §8.8.
struct MP4FragmentWriter {
    private struct Run {
        /// The position in the `mdat` box.
        var position: Int
        var samples: ArraySlice<MP4SampleTable.Sample>
    }

    private struct TrackFragment {
        var trackID: Int
        var descriptionIndex: Int
        var decodeTime: Int64
        /// The value to add to decoding times to get the file's own.
        var decodingShift: Int64
        var runs: [Run]
    }

    private let ranges: [Range<Int>]
    private let positions: [Int]
    private let byteCount: Int
    private var fragments: [TrackFragment] = []

    /// - Parameter ranges: Parts of the file, in order. Their bytes form the `mdat` box.
    init(ranges: [Range<Int>]) {
        self.ranges = ranges
        var positions: [Int] = []
        var sum = 0
        for range in ranges {
            positions.append(sum)
            sum += range.count
        }
        self.positions = positions
        byteCount = sum
    }

    /// - Parameters:
    ///   - editShift: The shift that the samples' times include and the media's times do not.
    ///   - decodingShift: The amount by which the samples' decoding times precede the media's.
    mutating func add(
        _ samples: [MP4SampleTable.Sample], ofTrack id: Int, editShift: Int64, decodingShift: Int64 = 0
    ) {
        var start = 0
        for index in samples.indices {
            let isLast = index + 1 == samples.count
            let sample = samples[index]
            guard
                isLast || samples[index + 1].offset != sample.offset + sample.byteCount
                    || samples[index + 1].descriptionIndex != sample.descriptionIndex
            else { continue }
            let run = Run(position: position(of: samples[start].offset), samples: samples[start...index])
            if start > 0, let last = fragments.last, last.descriptionIndex == sample.descriptionIndex {
                fragments[fragments.count - 1].runs.append(run)
            } else {
                fragments.append(
                    TrackFragment(
                        trackID: id, descriptionIndex: sample.descriptionIndex,
                        decodeTime: max(0, samples[start].dts + decodingShift - editShift),
                        decodingShift: decodingShift, runs: [run]))
            }
            start = index + 1
        }
    }

    /// Returns 0 for an offset in no range, which belongs to a sample without bytes.
    private func position(of offset: Int) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < offset { low = middle + 1 } else { high = middle }
        }
        guard low < ranges.count, offset >= ranges[low].lowerBound else { return 0 }
        // A sample that ends where another range begins is empty or belongs to that range.
        if offset == ranges[low].upperBound, low + 1 < ranges.count, ranges[low + 1].lowerBound == offset { low += 1 }
        return positions[low] + offset - ranges[low].lowerBound
    }

    func head(sequenceNumber: Int) -> [UInt8] {
        let boxByteCount = fragments.reduce(8 + 16) { sum, fragment in
            fragment.runs.reduce(sum + 8 + 20 + 20) { $0 + 20 + 16 * $1.samples.count }
        }
        var writer = MP4BoxWriter()
        writer.box("moof") { writer in
            writer.fullBox("mfhd") { $0.write32(UInt32(truncatingIfNeeded: sequenceNumber)) }
            for fragment in fragments {
                writer.box("traf") { writer in
                    // The base is the `moof` box, and the sample description is given.
                    writer.fullBox("tfhd", flags: 0x02_0002) { writer in
                        writer.write32(UInt32(truncatingIfNeeded: fragment.trackID))
                        writer.write32(UInt32(truncatingIfNeeded: fragment.descriptionIndex + 1))
                    }
                    writer.fullBox("tfdt", version: 1) { $0.write64(UInt64(fragment.decodeTime)) }
                    for run in fragment.runs {
                        Self.write(run, fragment.decodingShift, base: boxByteCount + 8, to: &writer)
                    }
                }
            }
        }
        writer.write32(UInt32(truncatingIfNeeded: byteCount + 8))
        writer.write(code: "mdat")
        return writer.bytes
    }

    private static func write(_ run: Run, _ decodingShift: Int64, base: Int, to writer: inout MP4BoxWriter) {
        // Each sample has a duration, size, flags and composition offset.
        writer.fullBox("trun", version: 1, flags: 0xF01) { writer in
            writer.write32(UInt32(run.samples.count))
            writer.write32(UInt32(truncatingIfNeeded: base + run.position))
            for sample in run.samples {
                writer.write32(UInt32(truncatingIfNeeded: sample.duration))
                writer.write32(UInt32(truncatingIfNeeded: sample.byteCount))
                writer.write32(sample.isSync ? 0x0200_0000 : 0x0101_0000)
                writer.write32(UInt32(truncatingIfNeeded: sample.pts - sample.dts - decodingShift))
            }
        }
    }
}
