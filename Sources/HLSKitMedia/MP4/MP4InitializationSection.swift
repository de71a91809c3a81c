/// The header of MP4 media: a media initialization section (`EXT-X-MAP`), or the `moov` box of a whole file.
///
/// Source: ISO/IEC 14496-12; RFC 8216 §3.3.
public struct MP4InitializationSection: Sendable {
    /// The largest number of tracks. A header with more is refused.
    static let maximumTrackCount = 256
    private static let maximumNoteCount = 64

    /// The tracks in file order, each as described by its first sample entry.
    ///
    /// A track's edit list shifts the timestamps of its samples, as in other players: an initial empty edit moves them
    /// later, and the media time of the first real edit moves them earlier. Decoding times move by the same amount, so
    /// they may be negative. In a whole file, samples before the first edit and after the last one are present but not
    /// shown. Edits that are not consecutive in the media are ignored.
    public var tracks: [MediaTrack] { movieTracks.map { $0.descriptions[0] } }
    /// A Boolean value that indicates whether the header announces fragments (`mvex`).
    public let isFragmented: Bool
    package let majorBrand: String
    package let notes: [String]

    /// The tracks with the titles (text) and images (video) of chapters, each once, in the order of the references
    /// (`tref/chap`). Source: QuickTime File Format, "Chapter Lists".
    package var chapterTrackIDs: [Int] {
        var ids: [Int] = []
        for id in movieTracks.flatMap(\.chapterTrackIDs) where !ids.contains(id) { ids.append(id) }
        return ids
    }

    let movieTracks: [MP4Track]

    /// Parses a whole initialization section.
    ///
    /// - Parameter bytes: `ftyp` and `moov`. Other boxes are skipped. Sample tables, if any, are kept as slices without
    ///   copying.
    /// - Throws: ``MediaError/Code/unknownContainer`` if the bytes are not MP4, `truncated` if `moov` is incomplete,
    ///   `malformed` if a box contradicts its parent or lacks a part, or `missingInitializationSection` if there are
    ///   boxes but no `moov`.
    public init(parsing bytes: ArraySlice<UInt8>) throws(MediaError) {
        var reader = BoxReader(bytes.dropFirst(LeadingImage.byteCount(bytes) ?? 0), offset: 0)
        var brand = ""
        var isFirst = true
        while true {
            guard var box = try Self.topLevelBox(&reader, isFirst: isFirst) else { break }
            isFirst = false
            switch box.type {
            case "ftyp": brand = try box.payload.readCode().description
            case "moov":
                try self.init(movie: box, majorBrand: brand)
                return
            default: break
            }
        }
        guard !isFirst else {
            throw MediaError(
                code: bytes.isEmpty ? .truncated : .unknownContainer, byteOffset: 0,
                text: "an initialization section of \(bytes.count) bytes")
        }
        throw MediaError(
            code: .missingInitializationSection, byteOffset: bytes.count, text: "no 'moov' box in \(bytes.count) bytes")
    }

    private static func topLevelBox(_ reader: inout BoxReader, isFirst: Bool) throws(MediaError) -> Box? {
        if isFirst, reader.remaining >= 8 {
            var probe = reader
            try probe.skip(4)
            let type = try probe.readCode()
            guard topLevelTypes.contains(type) else {
                throw MediaError(code: .unknownContainer, byteOffset: 0, text: "the bytes do not look like MP4")
            }
        }
        return try reader.nextBox(overrun: .truncated)
    }

    static let topLevelTypes: Set<FourCharacterCode> = [
        "ftyp", "styp", "moov", "moof", "mdat", "sidx", "ssix", "prft", "emsg", "free", "skip", "wide", "uuid", "pnot",
        "meta", "pdin", "udta", "mfra", "imda", "pssh",
    ]

    /// Marks the header, in a `free` box, as the header of a whole file although its samples come as fragments.
    static let wholeFileMark = Array("HLSKit: a whole file".utf8)

    init(movie: Box, majorBrand: String) throws(MediaError) {
        var notes: [String] = []
        var movieTimescale: UInt32 = 0
        var trackBoxes: [Box] = []
        var defaults: [Int: FragmentDefaults] = [:]
        var isFragmented = false
        var isOfWholeFile = false
        var reader = movie.payload
        while var child = try reader.nextBox() {
            switch child.type {
            case "mvhd":
                let version = try child.payload.readVersionAndFlags().version
                try child.payload.skip(version == 1 ? 16 : 8)
                movieTimescale = try child.payload.readUInt32()
            case "free" where child.payload.rest.elementsEqual(Self.wholeFileMark): isOfWholeFile = true
            case "trak":
                guard trackBoxes.count < Self.maximumTrackCount else {
                    throw MediaError(
                        code: .limitExceeded, byteOffset: child.offset,
                        text: "more than \(Self.maximumTrackCount) tracks")
                }
                trackBoxes.append(child)
            case "mvex":
                isFragmented = true
                while var inner = try child.payload.nextBox() {
                    guard inner.type == "trex" else { continue }
                    _ = try inner.payload.readVersionAndFlags()
                    let id = Int(try inner.payload.readUInt32())
                    defaults[id] = FragmentDefaults(
                        descriptionIndex: try inner.payload.readUInt32(), duration: try inner.payload.readUInt32(),
                        size: try inner.payload.readUInt32(), flags: try inner.payload.readUInt32())
                }
            default: break
            }
        }
        var tracks: [MP4Track] = []
        var failure: MediaError?
        // Without a brand, the number 0 is more likely an unset language than English.
        let isQuickTime = majorBrand == "qt  "
        for box in trackBoxes {
            guard
                var track = Self.track(
                    box, movieTimescale: movieTimescale, isQuickTime: isQuickTime, notes: &notes, failure: &failure)
            else { continue }
            guard !tracks.contains(where: { $0.id == track.id }) else {
                notes.append("track \(track.id) appears twice; the second is skipped")
                continue
            }
            if let trackDefaults = defaults[track.id] {
                track.fragmentDefaults = trackDefaults
            } else if isFragmented {
                notes.append("track \(track.id): no 'trex', its fragments have no defaults")
            }
            tracks.append(track)
        }
        guard !tracks.isEmpty else {
            throw failure ?? movie.payload.malformed("'moov' without a playable track")
        }
        let chapterIDs = Set(tracks.flatMap(\.chapterTrackIDs))
        for track in tracks.indices where chapterIDs.contains(tracks[track].id) {
            for index in tracks[track].descriptions.indices {
                tracks[track].descriptions[index].isAuxiliary = true
                tracks[track].descriptions[index].holdsChapters = true
            }
        }
        MP4Track.noteDefaults(in: &tracks)
        if !isOfWholeFile {
            // The writer of fragments does not know their number in advance.
            for track in tracks.indices where isFragmented || tracks[track].tables == nil {
                for index in tracks[track].descriptions.indices { tracks[track].descriptions[index].shownRange = nil }
            }
        }
        movieTracks = tracks
        self.isFragmented = isFragmented
        self.majorBrand = majorBrand
        self.notes = Array(notes.prefix(Self.maximumNoteCount))
    }

    /// Returns nil, with a note, for a track that cannot be read because the others may be usable without it.
    ///
    /// - Parameter failure: Receives the first error.
    private static func track(
        _ box: Box, movieTimescale: UInt32, isQuickTime: Bool, notes: inout [String], failure: inout MediaError?
    ) -> MP4Track? {
        do throws(MediaError) {
            return try MP4Track(
                parsing: box, movieTimescale: movieTimescale, isQuickTime: isQuickTime, notes: &notes)
        } catch {
            notes.append("a track is skipped: \(error)")
            failure = failure ?? error
            return nil
        }
    }
}
