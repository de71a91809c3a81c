/// A sample with known position and times, whose bytes may not have arrived yet.
struct PendingSample {
    var trackIndex: Int
    var descriptionIndex: Int
    var offset: Int
    var byteCount: Int
    var pts: Int64
    var dts: Int64
    var duration: Int64
    var isSync: Bool
    var encryption: SampleEncryption?

    /// Only for a sample whose ``byteCount`` has been checked against the limit.
    var endOffset: Int { offset + byteCount }
}

/// The samples of one track run (`trun`), created one by one from the bytes of the box.
///
/// Samples are not allocated in advance, so a count of 2^32 costs nothing until its media arrives.
///
/// Source: ISO/IEC 14496-12 §8.8.8.
struct SampleRun {
    struct Fields: OptionSet {
        let rawValue: UInt32
        static let dataOffset = Fields(rawValue: 0x1)
        static let firstSampleFlags = Fields(rawValue: 0x4)
        static let duration = Fields(rawValue: 0x100)
        static let size = Fields(rawValue: 0x200)
        static let flags = Fields(rawValue: 0x400)
        static let compositionOffset = Fields(rawValue: 0x800)

        var entrySize: Int { (rawValue >> 8 & 0xF).nonzeroBitCount * 4 }
    }

    let trackIndex: Int
    let descriptionIndex: Int
    let isVideo: Bool
    private let fields: Fields
    private let defaults: FragmentDefaults
    private var firstSampleFlags: UInt32?
    private let table: ArraySlice<UInt8>
    private let tableOffset: Int
    private var index: Int
    private(set) var remaining: UInt32
    /// The decoding time, including the shift of the edit list.
    private var dts: Int64
    var decodingShift: Int64 = 0
    var pcmFrameByteCount: Int?
    private var encryption: SampleEncryptionCursor?
    private(set) var offset: Int

    struct Extent {
        var byteCount: Int
        var duration: Int64
        /// The smallest composition offset, at most 0.
        var leastCompositionOffset: Int32 = 0
    }

    /// Reads the head of a run. Call ``place(at:dts:encryption:)`` before reading samples.
    ///
    /// - Returns: In `dataOffset`, the offset of the run relative to its fragment's base.
    init(
        parsing payload: BoxReader, trackIndex: Int, descriptionIndex: Int, isVideo: Bool, defaults: FragmentDefaults,
        dataOffset: inout Int?
    ) throws(MediaError) {
        var reader = payload
        fields = Fields(rawValue: try reader.readVersionAndFlags().flags)
        self.trackIndex = trackIndex
        self.descriptionIndex = descriptionIndex
        self.isVideo = isVideo
        self.defaults = defaults
        remaining = try reader.readUInt32()
        dataOffset = nil
        if fields.contains(.dataOffset) { dataOffset = Int(Int32(bitPattern: try reader.readUInt32())) }
        if fields.contains(.firstSampleFlags) { firstSampleFlags = try reader.readUInt32() }
        let (byteCount, overflow) = Int(remaining).multipliedReportingOverflow(by: fields.entrySize)
        guard !overflow, byteCount <= reader.remaining else {
            throw MediaError(
                code: .malformed, byteOffset: payload.offset,
                text: "a 'trun' of \(remaining) samples in \(reader.remaining) bytes")
        }
        tableOffset = reader.offset
        table = try reader.readBytes(byteCount)
        index = table.startIndex
        dts = 0
        offset = 0
    }

    /// The bytes and duration of all samples. This reads the whole table, if there is one.
    func extent() throws(MediaError) -> Extent {
        let defaultBytes = UInt64(remaining) * UInt64(fields.contains(.size) ? 0 : defaults.size)
        let defaultDuration = UInt64(remaining) * UInt64(fields.contains(.duration) ? 0 : defaults.duration)
        guard defaultBytes <= UInt64(MediaTimeLimit.largest), defaultDuration <= UInt64(MediaTimeLimit.largest) else {
            throw MediaError(
                code: .malformed, byteOffset: tableOffset,
                text: "a 'trun' whose \(remaining) samples add up to more than 2^61")
        }
        var bytes = Int(defaultBytes)
        var duration = Int64(defaultDuration)
        var least: Int32 = 0
        guard fields.contains(.duration) || fields.contains(.size) || fields.contains(.compositionOffset) else {
            return Extent(byteCount: bytes, duration: duration)
        }
        var position = table.startIndex
        let sizeOffset = fields.contains(.duration) ? 4 : 0
        let step = fields.entrySize
        let compositionOffset = fields.contains(.compositionOffset) ? step - 4 : nil
        // No overflow is possible because a table has at most 2^32 entries of less than 2^32 each, and is in memory.
        while position < table.endIndex {
            if fields.contains(.duration) { duration += Int64(table.bigEndianUInt32(at: position)) }
            if fields.contains(.size) { bytes += Int(table.bigEndianUInt32(at: position + sizeOffset)) }
            if let compositionOffset {
                least = min(least, Int32(bitPattern: table.bigEndianUInt32(at: position + compositionOffset)))
            }
            position += step
        }
        return Extent(byteCount: bytes, duration: duration, leastCompositionOffset: least)
    }

    mutating func place(at offset: Int, dts: Int64, encryption: SampleEncryptionCursor?) {
        self.offset = offset
        self.dts = dts
        self.encryption = encryption
    }

    mutating func move(by distance: Int) { offset += distance }

    mutating func next() throws(MediaError) -> PendingSample? {
        while remaining > 0 {
            var sample = try nextEntry()
            if sample.byteCount > 0 {
                if let pcmFrameByteCount { try lengthen(&sample, frameByteCount: pcmFrameByteCount) }
                return sample
            }
            // All samples of such a run are equal and empty, so do not count to 2^32.
            if fields.entrySize == 0 { remaining = 0 }
        }
        return nil
    }

    /// Combines a PCM sample with the following ones, up to a piece of audio. Samples with their own vectors or offsets
    /// are not combined.
    private mutating func lengthen(_ sample: inout PendingSample, frameByteCount: Int) throws(MediaError) {
        guard encryption == nil, !fields.contains(.compositionOffset) else { return }
        let maximum = PCMDescription.maximumFrameCount * frameByteCount
        while remaining > 0, let size = nextSize(), size > 0, sample.byteCount + size <= maximum {
            let next = try nextEntry()
            sample.byteCount += next.byteCount
            sample.duration += next.duration
        }
    }

    private func nextSize() -> Int? {
        guard fields.contains(.size) else { return Int(defaults.size) }
        return Int(table.bigEndianUInt32(at: index + (fields.contains(.duration) ? 4 : 0)))
    }

    private mutating func nextEntry() throws(MediaError) -> PendingSample {
        remaining -= 1
        let duration = Int64(field(.duration) ?? defaults.duration)
        let size = Int(field(.size) ?? defaults.size)
        var flags = field(.flags) ?? defaults.flags
        if let first = firstSampleFlags {
            flags = first
            firstSampleFlags = nil
        }
        // Signed in both versions of the box because writers also put negative offsets into version 0.
        let compositionOffset = Int64(Int32(bitPattern: field(.compositionOffset) ?? 0))
        let sample = PendingSample(
            trackIndex: trackIndex, descriptionIndex: descriptionIndex, offset: offset, byteCount: size,
            pts: dts + compositionOffset, dts: dts - decodingShift, duration: duration,
            isSync: !isVideo || SampleFlags.isSync(flags), encryption: try encryption?.next())
        offset += size
        dts += duration
        return sample
    }

    private mutating func field(_ field: Fields) -> UInt32? {
        guard fields.contains(field) else { return nil }
        defer { index += 4 }
        return table.bigEndianUInt32(at: index)
    }
}

/// The flags of samples in fragments.
///
/// Source: ISO/IEC 14496-12 §8.8.3.1.
enum SampleFlags {
    private static let isNonSync: UInt32 = 0x0001_0000
    /// `sample_depends_on` = 1: not an I picture, even if the sync flag is set.
    private static let dependsOnOthers: UInt32 = 0x0100_0000
    private static let dependsOnMask: UInt32 = 0x0300_0000

    static func isSync(_ flags: UInt32) -> Bool {
        flags & isNonSync == 0 && flags & dependsOnMask != dependsOnOthers
    }
}
