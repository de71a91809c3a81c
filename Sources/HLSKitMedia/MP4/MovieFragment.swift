/// The sample runs that a `moof` box describes.
///
/// Source: ISO/IEC 14496-12 §8.8.4 to §8.8.8, §8.8.12 (`tfdt`).
struct MovieFragment {
    /// The largest number of runs in one fragment, each of which takes more memory than its box. Ten minutes that are
    /// interleaved once per frame need as many.
    static let maximumRunCount = 1 << 16

    private(set) var runs: [SampleRun] = []
    private(set) var notes: [String] = []
    private(set) var untimedTracks: Set<Int> = []
    /// The first base data offset that counts from the start of a file instead of this fragment.
    private(set) var absoluteBase: Int?

    private let moof: Box
    private let tracks: [MP4Track]
    private let media: [HeldMedia]
    /// The end of the previous run's data, which is the base of a run that declares none.
    private var implicitOffset: Int

    /// - Parameter decodeTimes: The end of the previous fragment by track identifier, in media time without the edit
    ///   list. It is updated to the end of this fragment.
    /// - Parameter decodingShifts: The shifts of the decoding times by track identifier. They only grow.
    /// - Parameter media: The media so far, which may contain the decryption data of samples.
    /// - Parameter lacksMedia: Set before an error if reading can succeed once more media has arrived.
    init(
        parsing moof: Box, tracks: [MP4Track], decodeTimes: inout [Int: Int64], decodingShifts: inout [Int: Int64],
        media: [HeldMedia] = [], lacksMedia: inout Bool
    ) throws(MediaError) {
        self.media = media
        self.moof = moof
        self.tracks = tracks
        implicitOffset = moof.offset
        var reader = moof.payload
        var unknownTracks: [Int] = []
        var hasKnownTrack = false
        while let child = try reader.nextBox() {
            guard child.type == "traf" else { continue }
            let boxes = try TrackFragmentBoxes(parsing: child)
            guard let trackIndex = tracks.firstIndex(where: { $0.id == boxes.trackID }) else {
                unknownTracks.append(boxes.trackID)
                continue
            }
            hasKnownTrack = true
            let firstRun = runs.count
            let least = try append(
                boxes, trackIndex: trackIndex, decodeTimes: &decodeTimes, lacksMedia: &lacksMedia)
            let id = boxes.trackID
            let shift = DecodingShift.needed(
                forOffset: least, timescale: tracks[trackIndex].descriptions[0].timescale)
            if shift > 0 { decodingShifts[id] = max(decodingShifts[id] ?? 0, shift) }
            guard let shift = decodingShifts[id] else { continue }
            for index in firstRun..<runs.count { runs[index].decodingShift = shift }
        }
        guard !unknownTracks.isEmpty else { return }
        let text = "fragment of tracks \(unknownTracks.prefix(8)), which the initialization section does not have"
        guard hasKnownTrack else { throw MediaError(code: .malformed, byteOffset: moof.offset, text: text) }
        notes.append(text)
    }

    /// - Returns: The smallest composition offset, at most 0.
    private mutating func append(
        _ boxes: TrackFragmentBoxes, trackIndex: Int, decodeTimes: inout [Int: Int64], lacksMedia: inout Bool
    ) throws(MediaError) -> Int32 {
        let track = tracks[trackIndex]
        var header = boxes.header
        var defaults = track.fragmentDefaults
        var base = boxes.flags.contains(.defaultBaseIsMoof) ? moof.offset : implicitOffset
        if boxes.flags.contains(.baseDataOffset) {
            guard let absolute = Int(exactly: try header.readUInt64()), absolute <= MediaTimeLimit.largest else {
                throw header.malformed("a base data offset beyond 2^61")
            }
            base = absolute
            if absoluteBase == nil { absoluteBase = absolute }
        }
        if boxes.flags.contains(.descriptionIndex) { defaults.descriptionIndex = try header.readUInt32() }
        if boxes.flags.contains(.duration) { defaults.duration = try header.readUInt32() }
        if boxes.flags.contains(.size) { defaults.size = try header.readUInt32() }
        if boxes.flags.contains(.sampleFlags) { defaults.flags = try header.readUInt32() }
        guard let descriptionIndex = Int(exactly: Int64(defaults.descriptionIndex) - 1),
            track.descriptions.indices.contains(descriptionIndex)
        else {
            throw header.malformed(
                "track \(track.id) has \(track.descriptions.count) sample descriptions, number "
                    + "\(defaults.descriptionIndex) is used")
        }

        var decodeTime = try startTime(boxes, track: track, decodeTimes: decodeTimes)
        var encryption: SampleEncryptionCursor?
        if let trackEncryption = track.descriptions[descriptionIndex].encryption, !boxes.runs.isEmpty {
            encryption = try boxes.encryptionCursor(
                for: trackEncryption, moof: moof, base: base, media: media, lacksMedia: &lacksMedia)
        }
        let frameByteCount = track.descriptions[descriptionIndex].pcmFrameByteCount
        // A PCM sample has at least the size of a frame, even if the box declares less.
        if let frameByteCount, defaults.size > 0 { defaults.size = max(defaults.size, UInt32(frameByteCount)) }
        var position = base
        var least: Int32 = 0
        for payload in boxes.runs {
            var dataOffset: Int?
            var run = try SampleRun(
                parsing: payload, trackIndex: trackIndex, descriptionIndex: descriptionIndex,
                isVideo: track.descriptions[descriptionIndex].mediaType == .video, defaults: defaults,
                dataOffset: &dataOffset)
            if let dataOffset { position = base + dataOffset }
            let extent = try run.extent()
            least = min(least, extent.leastCompositionOffset)
            guard position >= 0, extent.byteCount <= MediaTimeLimit.largest,
                position <= Int(MediaTimeLimit.largest) - extent.byteCount,
                extent.duration <= MediaTimeLimit.largest - max(decodeTime, 0)
            else { throw payload.malformed("a 'trun' whose samples lie before the segment or beyond 2^61") }
            run.place(at: position, dts: decodeTime + track.editShift, encryption: encryption)
            run.pcmFrameByteCount = frameByteCount
            try encryption?.skip(Int(run.remaining))
            if extent.byteCount > 0 { runs.append(run) }
            guard runs.count <= Self.maximumRunCount else {
                throw MediaError(
                    code: .limitExceeded, byteOffset: payload.offset,
                    text: "a fragment of more than \(Self.maximumRunCount) runs")
            }
            position += extent.byteCount
            decodeTime += extent.duration
        }
        implicitOffset = position
        decodeTimes[track.id] = decodeTime
        return least
    }

    private mutating func startTime(
        _ boxes: TrackFragmentBoxes, track: MP4Track, decodeTimes: [Int: Int64]
    ) throws(MediaError) -> Int64 {
        guard var box = boxes.decodeTime else {
            if let time = decodeTimes[track.id] { return time }
            notes.append("track \(track.id): the first fragment has no 'tfdt', its time is assumed to be 0")
            untimedTracks.insert(track.id)
            return 0
        }
        let version = try box.readVersionAndFlags().version
        // Unsigned according to the standard. Writers that place an encoder's delay before time 0 write a negative
        // number.
        var time = Int64(bitPattern: try box.readUInt(is64Bit: version == 1))
        // In 32 bits, only the last second can be such a number.
        if version == 0, time > Int64(UInt32.max) - Int64(track.descriptions[0].timescale) { time -= 1 << 32 }
        guard time.magnitude <= MediaTimeLimit.largest.magnitude else {
            throw box.malformed("a decode time beyond 2^61")
        }
        return time
    }
}

/// The child boxes of a `traf` box, which may have any order.
private struct TrackFragmentBoxes {
    struct Flags: OptionSet {
        let rawValue: UInt32
        static let baseDataOffset = Flags(rawValue: 0x1)
        static let descriptionIndex = Flags(rawValue: 0x2)
        static let duration = Flags(rawValue: 0x8)
        static let size = Flags(rawValue: 0x10)
        static let sampleFlags = Flags(rawValue: 0x20)
        static let defaultBaseIsMoof = Flags(rawValue: 0x20000)
    }

    let trackID: Int
    let flags: Flags
    /// The part of `tfhd` after the track's identifier.
    let header: BoxReader
    private(set) var decodeTime: BoxReader?
    private(set) var runs: [BoxReader] = []
    private var sampleEncryption: BoxReader?
    private var auxiliarySizes: BoxReader?
    private var auxiliaryOffsets: BoxReader?
    /// Whether groups of samples have their own keys (`seig`).
    private var hasKeyGroups = false

    /// The extended type of PIFF 1.1's sample encryption box.
    private static let sampleEncryptionUUID: [UInt8] = [
        0xA2, 0x39, 0x4F, 0x52, 0x5A, 0x9B, 0x4F, 0x14, 0xA2, 0x44, 0x6C, 0x42, 0x7C, 0x64, 0x8D, 0xF4,
    ]

    init(parsing traf: Box) throws(MediaError) {
        var reader = traf.payload
        var trackHeader: BoxReader?
        while var child = try reader.nextBox() {
            switch child.type {
            case "tfhd": trackHeader = child.payload
            case "tfdt": decodeTime = child.payload
            case "trun": runs.append(child.payload)
            case "senc": sampleEncryption = child.payload
            case "saiz": auxiliarySizes = child.payload
            case "saio": auxiliaryOffsets = child.payload
            case "sbgp":
                _ = try child.payload.readVersionAndFlags()
                if try child.payload.readCode() == "seig" { hasKeyGroups = true }
            case "uuid" where child.payload.remaining >= 16:
                let isSampleEncryption = try child.payload.readBytes(16).elementsEqual(Self.sampleEncryptionUUID)
                if isSampleEncryption, sampleEncryption == nil { sampleEncryption = child.payload }
            default: break
            }
        }
        guard var trackHeader else { throw traf.payload.malformed("'traf' without 'tfhd'") }
        flags = Flags(rawValue: try trackHeader.readVersionAndFlags().flags)
        trackID = Int(try trackHeader.readUInt32())
        header = trackHeader
    }

    /// Returns nil if the samples are clear.
    func encryptionCursor(
        for track: TrackEncryption, moof: Box, base: Int, media: [HeldMedia], lacksMedia: inout Bool
    ) throws(MediaError) -> SampleEncryptionCursor? {
        guard !hasKeyGroups else {
            throw MediaError(
                code: .unsupported, byteOffset: header.offset,
                text: "track \(trackID): sample groups with their own keys ('seig')")
        }
        guard track.isProtected else { return nil }
        if let sampleEncryption {
            let cursor = try SampleEncryptionCursor(parsing: sampleEncryption, track: track)
            if !cursor.isEmpty || track.constantInitializationVector.isEmpty { return cursor }
        }
        if sampleEncryption == nil, let auxiliarySizes, let auxiliaryOffsets {
            return try auxiliaryCursor(
                sizes: auxiliarySizes, offsets: auxiliaryOffsets, track: track, moof: moof, base: base, media: media,
                lacksMedia: &lacksMedia)
        }
        guard !track.constantInitializationVector.isEmpty else {
            throw header.malformed("encrypted samples of track \(trackID) without initialization vectors")
        }
        return SampleEncryptionCursor(constantFor: track)
    }

    /// Returns the encryption data that `saio` points to, without a `senc` box around it.
    ///
    /// Source: ISO/IEC 14496-12 §8.7.8 and §8.7.9.
    private func auxiliaryCursor(
        sizes: BoxReader, offsets: BoxReader, track: TrackEncryption, moof: Box, base: Int, media: [HeldMedia],
        lacksMedia: inout Bool
    ) throws(MediaError) -> SampleEncryptionCursor {
        var sizes = sizes
        if try sizes.readVersionAndFlags().flags & 1 != 0 { try sizes.skip(8) }
        let defaultSize = try sizes.readUInt8()
        let count = try sizes.readUInt32()
        let largest = defaultSize > 0 ? defaultSize : sizes.rest.prefix(Int(count)).max() ?? 0

        var offsets = offsets
        let (version, flags) = try offsets.readVersionAndFlags()
        if flags & 1 != 0 { try offsets.skip(8) }
        let offsetCount = try offsets.readUInt32()
        let offset = Int(exactly: try offsets.readUInt(is64Bit: version == 1))?.addingReportingOverflow(base)
        var entries = moof.payload
        guard offsetCount == 1, let offset, !offset.overflow, offset.partialValue >= entries.offset else {
            throw MediaError(
                code: .unsupported, byteOffset: offsets.offset, text: "encryption data outside of the segment")
        }
        if offset.partialValue > moof.endOffset {
            guard let found = media.first(where: { $0.holds(offset.partialValue) }) else {
                lacksMedia = true
                throw MediaError(
                    code: .unsupported, byteOffset: offsets.offset, text: "encryption data outside of 'moof' and 'mdat'"
                )
            }
            entries = BoxReader(found.bytes[...], offset: found.offset)
        }
        try entries.skip(offset.partialValue - entries.offset)
        return SampleEncryptionCursor(
            auxiliary: entries, hasSubsamples: Int(largest) > track.initializationVectorSize, count: count,
            track: track)
    }
}
