/// One track of a movie box with all data needed to read its samples.
struct MP4Track: Sendable {
    /// More sample entries than a track has format changes. Later entries are ignored.
    private static let maximumDescriptionCount: UInt32 = 256

    /// One for each sample entry, and at least one. They differ in codec, configuration and encryption.
    var descriptions: [MediaTrack]
    var fragmentDefaults = FragmentDefaults()
    var editShift: Int64 = 0
    var tables: SampleTableBoxes?
    var chapterTrackIDs: [Int] = []
    private let isEnabled: Bool

    var id: Int { descriptions[0].id }
}

struct FragmentDefaults: Sendable {
    var descriptionIndex: UInt32 = 1
    var duration: UInt32 = 0
    var size: UInt32 = 0
    var flags: UInt32 = 0
}

extension MP4Track {
    /// Returns nil, with a note, for a track without playable media: hints, time codes, an empty description.
    ///
    /// Source: ISO/IEC 14496-12 §8.3 to §8.6.
    init?(
        parsing trak: Box, movieTimescale: UInt32, isQuickTime: Bool, notes: inout [String]
    ) throws(MediaError) {
        var boxes = TrackBoxes()
        try boxes.collect(trak)
        guard var header = boxes.trackHeader, var mediaHeader = boxes.mediaHeader, var handler = boxes.handler,
            var descriptions = boxes.descriptions
        else {
            throw trak.payload.malformed("'trak' lacks one of 'tkhd', 'mdhd', 'hdlr', 'stsd'")
        }
        let (version, flags) = try header.readVersionAndFlags()
        let is64Bit = version == 1
        try header.skip(is64Bit ? 16 : 8)
        let id = Int(try header.readUInt32())
        let transform = Self.transform(header, is64Bit: is64Bit)

        try handler.skip(8)
        let handlerType = try handler.readCode()
        guard let mediaType = MediaKind(handler: handlerType) else {
            notes.append("track \(id): a '\(handlerType)' track is skipped")
            return nil
        }

        let mediaVersion = try mediaHeader.readVersionAndFlags().version
        try mediaHeader.skip(mediaVersion == 1 ? 16 : 8)
        guard let timescale = Int32(exactly: try mediaHeader.readUInt32()), timescale > 0 else {
            throw mediaHeader.malformed("track \(id) has a timescale of 0 or above 2^31")
        }
        try mediaHeader.skip(mediaVersion == 1 ? 8 : 4)
        let packedLanguage = try mediaHeader.readUInt16()

        var track = MediaTrack(
            id: id, mediaType: mediaType, codec: MediaCodec(rawValue: ""), timescale: timescale,
            language: boxes.extendedLanguage ?? Self.language(packed: packedLanguage)
                ?? (isQuickTime ? MacintoshLanguage.tag(packedLanguage) : nil))
        if mediaType == .video { (track.rotation, track.preferredTransform) = (transform.rotation, transform) }
        track.isAuxiliary = handlerType == "auxv"
        track.label = boxes.label
        let descriptionVersion = try descriptions.readVersionAndFlags().version
        let count = try descriptions.readUInt32()
        var entries: [MediaTrack] = []
        while entries.count < min(count, Self.maximumDescriptionCount), let entry = try descriptions.nextBox() {
            let parser = try SampleEntryParser(parsing: entry, descriptionVersion: descriptionVersion, track: track)
            notes.append(contentsOf: parser.notes)
            entries.append(parser.track)
        }
        guard !entries.isEmpty else {
            notes.append("track \(id): no sample description, skipped")
            return nil
        }
        self.init(descriptions: entries, isEnabled: flags & 1 != 0)
        chapterTrackIDs = boxes.chapterTrackIDs
        tables = try SampleTableBoxes(boxes.tables, descriptionOffset: trak.offset)
        // Encryption applies to each sample separately.
        let frames = entries.map { $0.encryption == nil ? $0.pcmFrameByteCount : nil }
        if frames.contains(where: { $0 != nil }) { tables?.pcmFrameByteCounts = frames }
        guard let edits = boxes.edits else { return }
        let list = try EditList(parsing: edits, movieTimescale: movieTimescale, track: track, notes: &notes)
        editShift = list.shift
        for index in self.descriptions.indices { self.descriptions[index].shownRange = list.shown }
    }

    /// Notes the default tracks of each kind: the enabled ones. Many writers enable all tracks, which says nothing.
    static func noteDefaults(in tracks: inout [MP4Track]) {
        for type in [MediaKind.audio, .text] {
            let own = tracks.indices.filter {
                tracks[$0].descriptions[0].mediaType == type && !tracks[$0].descriptions[0].isAuxiliary
            }
            guard own.contains(where: { !tracks[$0].isEnabled }) else { continue }
            for track in own where tracks[track].isEnabled {
                for index in tracks[track].descriptions.indices {
                    tracks[track].descriptions[index].label.isDefault = true
                }
            }
        }
    }

    /// Reads the matrix after the track's number. Returns the identity if the box ends before it or has only zeros.
    ///
    /// Source: ISO/IEC 14496-12 §8.3.2, §6.2.2.
    private static func transform(_ header: BoxReader, is64Bit: Bool) -> TrackTransform {
        var reader = header
        // Reserved, duration, reserved, layer, group, volume, reserved.
        guard (try? reader.skip(4 + (is64Bit ? 8 : 4) + 8 + 2 + 2 + 2 + 2)) != nil,
            let matrix = try? reader.readBytes(36)
        else { return .identity }
        let transform = TrackTransform(parsing: matrix)
        // A matrix of zeros would show nothing.
        return transform.a == 0 && transform.b == 0 || transform.c == 0 && transform.d == 0 ? .identity : transform
    }

    /// Decodes three letters of five bits each. Returns nil for `und` and for QuickTime's language numbers below 0x400.
    static func language(packed: UInt16) -> String? {
        let letters = [10, 5, 0].map { UInt8(packed >> $0 & 31) }
        guard letters.allSatisfy({ (1...26).contains($0) }) else { return nil }
        let tag = String(decoding: letters.map { $0 + 0x60 }, as: UTF8.self)
        return tag == "und" ? nil : tag
    }
}

/// Larger timestamps are malformed, so that sums of a few of them cannot overflow.
enum MediaTimeLimit {
    static let largest: Int64 = 1 << 61
}

extension MediaKind {
    fileprivate init?(handler: FourCharacterCode) {
        switch handler {
        case "vide", "auxv": self = .video
        case "soun": self = .audio
        case "text", "sbtl", "subt", "clcp", "subp": self = .text
        case "meta": self = .metadata
        default: return nil
        }
    }
}

/// The child boxes of a `trak` box, which may have any order.
private struct TrackBoxes {
    var trackHeader: BoxReader?
    var mediaHeader: BoxReader?
    var extendedLanguage: String?
    var label = MediaTrackLabel()
    var handler: BoxReader?
    var descriptions: BoxReader?
    var edits: BoxReader?
    var chapterTrackIDs: [Int] = []
    var tables: [FourCharacterCode: BoxReader] = [:]

    mutating func collect(_ trak: Box) throws(MediaError) {
        var reader = trak.payload
        while var child = try reader.nextBox() {
            switch child.type {
            case "tkhd": trackHeader = child.payload
            case "edts":
                while let inner = try child.payload.nextBox() {
                    if inner.type == "elst" { edits = inner.payload }
                }
            case "tref": collectReferences(child.payload)
            case "mdia": try collectMedia(child.payload)
            case "udta": label.read(child.payload)
            default: break
            }
        }
    }

    /// Reads the chapter references. The limit exceeds any realistic number of languages, and an invalid reference does
    /// not affect the media.
    private mutating func collectReferences(_ references: BoxReader) {
        var reader = references
        while var child = try? reader.nextBox() {
            guard child.type == "chap" else { continue }
            while chapterTrackIDs.count < 64, let id = try? child.payload.readUInt32() {
                chapterTrackIDs.append(Int(id))
            }
        }
    }

    private mutating func collectMedia(_ media: BoxReader) throws(MediaError) {
        var reader = media
        while var child = try reader.nextBox() {
            switch child.type {
            case "mdhd": mediaHeader = child.payload
            case "hdlr": handler = child.payload
            case "elng":
                _ = try child.payload.readVersionAndFlags()
                let tag = child.payload.readString()
                if !tag.isEmpty, tag != "und" { extendedLanguage = tag }
            case "minf":
                while let inner = try child.payload.nextBox() {
                    if inner.type == "stbl" { try collectTables(inner.payload) }
                }
            default: break
            }
        }
    }

    private mutating func collectTables(_ sampleTable: BoxReader) throws(MediaError) {
        var reader = sampleTable
        while let child = try reader.nextBox() {
            if child.type == "stsd" { descriptions = child.payload } else { tables[child.type] = child.payload }
        }
    }
}
