/// The sample tables of a track (`stbl`) as slices of the file. Only their sizes are checked.
///
/// Source: ISO/IEC 14496-12 §8.6.1, §8.6.2, §8.7.
struct SampleTableBoxes: Sendable {
    enum Sizes: Sendable {
        case constant(Int)
        /// Big-endian numbers of 32, 16, 8 or 4 bits.
        case table(ArraySlice<UInt8>, bits: Int)
    }

    let sampleCount: Int
    let sizes: Sizes
    /// Entries: sample count, duration of each.
    let durations: ArraySlice<UInt8>
    /// Entries: sample count, composition offset of each.
    let compositionOffsets: ArraySlice<UInt8>
    /// The numbers of the sync samples, from 1. nil means that all samples are sync samples.
    let syncSamples: ArraySlice<UInt8>?
    /// Entries: first chunk, samples in each chunk, sample description. Chunks and descriptions count from 1.
    let chunkRuns: ArraySlice<UInt8>
    let chunkOffsets: ArraySlice<UInt8>
    let chunkOffsetSize: Int
    /// In units of the track's timescale.
    let duration: Int64
    /// The smallest of the composition offsets, at most 0.
    let leastCompositionOffset: Int32
    /// The bytes of a PCM frame for each sample entry, or nil if it is not PCM. Empty if no entry is.
    var pcmFrameByteCounts: [Int?] = []

    /// Returns nil if there are no samples, as in an initialization section.
    /// - Parameter descriptionOffset: The offset of the track's boxes, for errors.
    init?(_ boxes: [FourCharacterCode: BoxReader], descriptionOffset: Int) throws(MediaError) {
        if var box = boxes["stsz"] {
            _ = try box.readVersionAndFlags()
            let constant = try box.readUInt32()
            sampleCount = Int(try box.readUInt32())
            sizes =
                constant > 0 ? .constant(Int(constant)) : .table(try box.readEntries(sampleCount, size: 4), bits: 32)
        } else if var box = boxes["stz2"] {
            _ = try box.readVersionAndFlags()
            let bits = Int(try box.readUInt32() & 0xFF)
            guard [4, 8, 16].contains(bits) else { throw box.malformed("'stz2' with fields of \(bits) bits") }
            sampleCount = Int(try box.readUInt32())
            sizes = .table(try box.readBytes((sampleCount * bits + 7) / 8), bits: bits)
        } else {
            return nil
        }
        guard sampleCount > 0 else { return nil }
        guard var durationBox = boxes["stts"], var chunkBox = boxes["stsc"],
            var offsetBox = boxes["stco"] ?? boxes["co64"]
        else {
            throw MediaError(
                code: .malformed, byteOffset: descriptionOffset, text: "samples without one of 'stts', 'stsc', 'stco'")
        }
        durations = try durationBox.readTable(entrySize: 8)
        chunkRuns = try chunkBox.readTable(entrySize: 12)
        chunkOffsetSize = boxes["stco"] == nil ? 8 : 4
        chunkOffsets = try offsetBox.readTable(entrySize: chunkOffsetSize)
        if var box = boxes["ctts"] {
            compositionOffsets = try box.readTable(entrySize: 8)
        } else {
            compositionOffsets = []
        }
        var least: Int32 = 0
        for index in stride(from: compositionOffsets.startIndex, to: compositionOffsets.endIndex, by: 8) {
            least = min(least, Int32(bitPattern: compositionOffsets.bigEndianUInt32(at: index + 4)))
        }
        leastCompositionOffset = least
        if var box = boxes["stss"] { syncSamples = try box.readTable(entrySize: 4) } else { syncSamples = nil }

        var total: UInt64 = 0
        for index in stride(from: durations.startIndex, to: durations.endIndex, by: 8) {
            let product =
                UInt64(durations.bigEndianUInt32(at: index)) * UInt64(durations.bigEndianUInt32(at: index + 4))
            let (sum, overflow) = total.addingReportingOverflow(product)
            guard !overflow, sum <= UInt64(MediaTimeLimit.largest) else {
                throw durationBox.malformed("'stts' adds up to more than 2^61")
            }
            total = sum
        }
        duration = Int64(total)
    }
}

extension SampleTableBoxes {
    func pcmFrameByteCount(ofDescription index: Int) -> Int? {
        pcmFrameByteCounts.indices.contains(index) ? pcmFrameByteCounts[index] : nil
    }

    /// The minimum number of steps in which all tables are read. For PCM, a step covers many samples.
    var stepCount: Int {
        guard let frameByteCount = pcmFrameByteCounts.compactMap(\.self).max() else { return sampleCount }
        guard let size = constantSize(ofFrame: frameByteCount), compositionOffsets.isEmpty else { return sampleCount }
        return sampleCount / Self.pcmCount(size: size, frameByteCount: frameByteCount)
            + chunkOffsets.count / chunkOffsetSize + durations.count / 8
    }

    /// The size of each PCM sample, or nil if a table contains it.
    ///
    /// A sample with a duration of one unit is one PCM frame, regardless of `stsz`, as in libavformat. QuickTime writes
    /// 1, or the bytes of one channel.
    func constantSize(ofFrame frameByteCount: Int) -> Int? {
        if durations.count == 8, durations.bigEndianUInt32(at: durations.startIndex + 4) == 1 { return frameByteCount }
        guard case .constant(let size) = sizes else { return nil }
        return max(size, frameByteCount)
    }

    static func pcmCount(size: Int, frameByteCount: Int) -> Int {
        max(1, PCMDescription.maximumFrameCount * frameByteCount / max(1, size))
    }
}

extension BoxReader {
    /// Reads `count` entries of `size` bytes, which must exist.
    fileprivate mutating func readEntries(_ count: Int, size: Int) throws(MediaError) -> ArraySlice<UInt8> {
        // A count is a 32-bit field: the product fits.
        try readBytes(count * size)
    }

    fileprivate mutating func readTable(entrySize: Int) throws(MediaError) -> ArraySlice<UInt8> {
        _ = try readVersionAndFlags()
        return try readEntries(Int(try readUInt32()), size: entrySize)
    }
}
