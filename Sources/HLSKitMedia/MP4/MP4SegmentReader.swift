/// Reads MP4 boxes from bytes in pieces of any size, and cuts samples out of the media between them.
///
/// Descriptive boxes are collected completely, but media is not. A sample within one piece is copied once. For a sample
/// in several pieces, the pieces are kept and copied once when its last byte arrives. Unneeded data is skipped.
struct MP4SegmentReader: Sendable {
    /// The largest accepted sample. An 8K intra frame of ProRes has half of it.
    static let maximumSampleByteCount = 64 << 20
    /// The largest `moov` box. The header of a 24-hour file has a quarter of it.
    static let maximumMovieByteCount = 64 << 20
    /// The largest other box. One fragment of an hour has a quarter of it.
    static let maximumBoxByteCount = 16 << 20
    static let maximumHeldByteCount = 64 << 20
    private static let maximumHeldCount = 64
    /// The largest number of fragments whose media may be missing.
    ///
    /// The limit exists because sorting the runs of such fragments together must not take quadratic time.
    private static let maximumOpenFragmentCount = 64
    /// Smaller pieces of a sample are combined immediately, so that many of them cost no more than their bytes.
    private static let smallPieceByteCount = 1024

    private enum State: Sendable {
        case header
        case collecting(BoxHeader)
        /// Skips a box. nil means to the end of the segment.
        case skipping(end: Int?)
        /// Reads an `mdat` box. nil means to the end of the segment.
        case media(end: Int?)
    }

    private struct BoxHeader: Sendable {
        var type: FourCharacterCode
        var offset: Int
        var payloadOffset: Int
        var endOffset: Int
    }

    private(set) var initialization: MP4InitializationSection?
    private(set) var segmentIndexes: [SegmentIndex] = []
    private let mediaBeforeHeader: MediaError

    private var state = State.header
    private var isFirstBox = true
    /// Offset of the next byte from the start of the segment.
    private var position = 0
    private var collected: [UInt8] = []

    private var announcedTracks: [MediaTrack]?
    private var descriptionIndexes: [Int] = []
    /// For each track that has begun, whether its first sample is the first of the media.
    private var beginsMedia: [Int: Bool] = [:]
    private var decodeTimes: [Int: Int64] = [:]
    private var decodingShifts: [Int: Int64] = [:]
    private var untimedTracks: Set<Int> = []

    private var queue = SampleQueue()
    private var current: PendingSample?
    private var openFragmentCount = 0
    private var hasTablesOfMap = false
    /// Runs whose offsets count from the start of an unknown file. They are placed when the media begins.
    private var unplacedRuns: [SampleRun] = []
    private var pieces: [ArraySlice<UInt8>] = []
    private var piecesByteCount = 0
    private var ownsLastPiece = false
    private var held: [HeldMedia] = []
    private var heldByteCount = 0
    private var isHolding = false
    private var limit = SmallSampleLimit()

    /// A fragment whose decryption data is at the start of its media.
    private var deferred: Box?

    private var failure: MediaError?

    init(initialization: MP4InitializationSection?, mediaBeforeHeader: MediaError) {
        self.initialization = initialization
        self.mediaBeforeHeader = mediaBeforeHeader
        descriptionIndexes = (initialization?.movieTracks ?? []).map { _ in 0 }
    }

    // MARK: Bytes in

    mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError) {
        if let failure { throw failure }
        do {
            if announcedTracks == nil {
                announceTracks(to: &events)
                try useTablesOfMap()
            }
            var rest = bytes
            while !rest.isEmpty { try consume(&rest, to: &events) }
        } catch {
            fail(error)
            throw error
        }
    }

    mutating func finish(to events: inout [DemuxerEvent]) throws(MediaError) {
        if let failure { throw failure }
        if case .media(end: nil) = state { try endMedia(to: &events) }
        if let error = incompleteness() {
            fail(error)
            throw error
        }
        if heldByteCount > 0 { events.append(.note("\(heldByteCount) bytes of media that no box describes")) }
    }

    private mutating func fail(_ error: MediaError) {
        failure = error
        pieces = []
        held = []
        collected = []
        queue = SampleQueue()
    }

    private func incompleteness() -> MediaError? {
        func truncated(_ text: String) -> MediaError {
            MediaError(code: .truncated, byteOffset: position, text: "the segment ends \(text)")
        }
        switch state {
        case .header where isFirstBox && collected.isEmpty: return truncated("before it begins: it is empty")
        case .header where !collected.isEmpty && !isLineEnd(collected): return truncated("in the header of a box")
        case .collecting(let header):
            return truncated("in box '\(header.type)', \(header.endOffset - position) bytes early")
        case .skipping(let end?): return truncated("in a box, \(end - position) bytes early")
        case .media(let end?): return truncated("in 'mdat', \(end - position) bytes early")
        default: break
        }
        if let current { return truncated("before the sample at byte \(current.offset)") }
        if !unplacedRuns.isEmpty { return truncated("before the media of its last fragment") }
        return nil
    }

    /// Whether the bytes are white space, which some servers append.
    private func isLineEnd(_ bytes: [UInt8]) -> Bool { bytes.allSatisfy { [0x09, 0x0a, 0x0d, 0x20].contains($0) } }

    /// Consumes at least one byte at the front of `rest`, which is not empty.
    private mutating func consume(
        _ rest: inout ArraySlice<UInt8>, to events: inout [DemuxerEvent]
    ) throws(MediaError) {
        switch state {
        case .header:
            try consumeHeader(&rest, to: &events)
        case .collecting(let header):
            let needed = header.endOffset - position
            if collected.isEmpty, rest.count >= needed {
                try read(header, payload: take(needed, from: &rest), to: &events)
            } else {
                collected.append(contentsOf: take(min(needed, rest.count), from: &rest))
                guard position == header.endOffset else { return }
                let payload = collected[...]
                collected = []
                try read(header, payload: payload, to: &events)
            }
        case .skipping(let end):
            _ = take(min(end.map { $0 - position } ?? .max, rest.count), from: &rest)
            if position == end { state = .header }
        case .media(let end):
            try consumeMedia(&rest, end: end, to: &events)
            if position == end { try endMedia(to: &events) }
        }
    }

    private mutating func take(_ count: Int, from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let taken = rest.prefix(count)
        rest = rest[taken.endIndex...]
        position += taken.count
        return taken
    }

    /// If the header of a file without fragments is used as the map, its tables place the samples. Offsets count from
    /// the start of the file, which is the start of the segment.
    private mutating func useTablesOfMap() throws(MediaError) {
        guard let initialization, !initialization.isFragmented else { return }
        queue.add(MP4SampleTable(initialization))
        hasTablesOfMap = true
        try advance()
    }

    // MARK: Boxes

    private mutating func consumeHeader(
        _ rest: inout ArraySlice<UInt8>, to events: inout [DemuxerEvent]
    ) throws(MediaError) {
        // A header with a 64-bit size has eight more bytes.
        let needed = collected.count < 8 ? 8 : 16
        collected.append(contentsOf: take(min(needed - collected.count, rest.count), from: &rest))
        guard collected.count == needed else { return }
        var reader = BoxReader(collected[...], offset: position - collected.count)
        let offset = reader.offset
        let size32 = try reader.readUInt32()
        let type = try reader.readCode()
        if isFirstBox, !MP4InitializationSection.topLevelTypes.contains(type) {
            throw MediaError(code: .unknownContainer, byteOffset: 0, text: "the bytes do not look like MP4")
        }
        var size: Int? = Int(size32)
        if size32 == 1 {
            guard needed == 16 else { return }  // eight bytes more
            size = Int(exactly: try reader.readUInt64())
        }
        collected = []
        isFirstBox = false
        if size32 == 0 { return try begin(type, offset: offset, endOffset: nil, to: &events) }
        let end = size.map { offset.addingReportingOverflow($0) }
        guard let size, size >= needed, let end, !end.overflow else {
            throw MediaError(
                code: .malformed, byteOffset: offset,
                text: "box '\(type)' claims \(size.map(String.init) ?? "more than 2^63") bytes")
        }
        try begin(type, offset: offset, endOffset: end.partialValue, to: &events)
    }

    /// Decides how to handle the payload of a box after its header.
    /// - Parameter endOffset: The end of the box, or nil for the end of the segment.
    private mutating func begin(
        _ type: FourCharacterCode, offset: Int, endOffset: Int?, to events: inout [DemuxerEvent]
    ) throws(MediaError) {
        switch type {
        case "mdat":
            try beginMedia(end: endOffset, to: &events)
            if position == endOffset { try endMedia(to: &events) }
        case "moov", "moof", "sidx", "emsg":
            let limit = type == "moov" ? Self.maximumMovieByteCount : Self.maximumBoxByteCount
            guard let endOffset, endOffset - offset <= limit else {
                throw MediaError(
                    code: .limitExceeded, byteOffset: offset,
                    text: "box '\(type)' of \(endOffset.map { String($0 - offset) } ?? "unlimited") bytes")
            }
            let header = BoxHeader(type: type, offset: offset, payloadOffset: position, endOffset: endOffset)
            state = .collecting(header)
            if position == endOffset { try read(header, payload: [], to: &events) }
        default:
            if type == "free", let endOffset, 1...UnreadTrackMark.maximumByteCount ~= endOffset - position {
                state = .collecting(
                    BoxHeader(type: type, offset: offset, payloadOffset: position, endOffset: endOffset))
            } else {
                state = position == endOffset ? .header : .skipping(end: endOffset)
            }
        }
    }

    private mutating func read(
        _ header: BoxHeader, payload: ArraySlice<UInt8>, to events: inout [DemuxerEvent]
    ) throws(MediaError) {
        state = .header
        let box = Box(
            type: header.type, offset: header.offset, endOffset: header.endOffset,
            payload: BoxReader(payload, offset: header.payloadOffset))
        switch header.type {
        case "moov": try readMovie(box, to: &events)
        case "moof": try readFragment(box, to: &events)
        case "free": if let event = UnreadTrackMark.event(payload) { events.append(event) }
        case "sidx":
            // Playback does not depend on the index, so an invalid one must not fail the media.
            do { segmentIndexes.append(try SegmentIndex(parsing: box)) } catch { events.append(.note("\(error)")) }
        default:
            do {
                if let message = try EventMessage(parsing: box.payload) { events.append(.eventMessage(message)) }
            } catch {
                events.append(.note("\(error)"))
            }
        }
    }

    private mutating func readMovie(_ box: Box, to events: inout [DemuxerEvent]) throws(MediaError) {
        let movie = try MP4InitializationSection(movie: box, majorBrand: "")
        if hasTablesOfMap, piecesByteCount == 0 {
            // The segment has its own header.
            hasTablesOfMap = false
            current = nil
        }
        guard current == nil, unplacedRuns.isEmpty else {
            throw box.payload.malformed("a second 'moov' before the samples of the first arrived")
        }
        initialization = movie
        descriptionIndexes = movie.movieTracks.map { _ in 0 }
        decodeTimes = [:]
        beginsMedia = [:]
        queue = SampleQueue()
        announceTracks(to: &events)
        let table = MP4SampleTable(movie)
        for track in table.tracks { decodeTimes[track.track.id] = track.duration }
        queue.add(table)
        try advance()
        try takeHeldMedia(to: &events)
    }

    private mutating func announceTracks(to events: inout [DemuxerEvent]) {
        guard let initialization else { return }
        let tracks = zip(initialization.movieTracks, descriptionIndexes).enumerated().map { index, entry in
            var track = entry.0.descriptions[entry.1]
            track.timestampsAreRelative = untimedTracks.contains(track.id)
            // Audio added by the encoder is at the start of the media, not of each segment.
            if beginsMedia[index] == false { track.gapless = nil }
            return track
        }
        guard tracks != announcedTracks else { return }
        let isFirst = announcedTracks == nil
        announcedTracks = tracks
        events.append(.tracks(tracks))
        if isFirst { events.append(contentsOf: initialization.notes.map { .note($0) }) }
    }

    /// - Parameter isLast: Whether no more of its media arrives before it is read.
    private mutating func readFragment(
        _ box: Box, isLast: Bool = false, to events: inout [DemuxerEvent]
    ) throws(MediaError) {
        guard let initialization else {
            throw MediaError(
                code: .missingInitializationSection, byteOffset: box.offset,
                text: "a fragment without an initialization section")
        }
        let (times, shifts) = (decodeTimes, decodingShifts)
        var lacksMedia = false
        let fragment: MovieFragment
        do {
            fragment = try MovieFragment(
                parsing: box, tracks: initialization.movieTracks, decodeTimes: &decodeTimes,
                decodingShifts: &decodingShifts, media: held, lacksMedia: &lacksMedia)
        } catch {
            guard lacksMedia, !isLast, deferred == nil, current == nil, unplacedRuns.isEmpty else { throw error }
            (decodeTimes, decodingShifts) = (times, shifts)
            deferred = box
            return
        }
        events.append(contentsOf: fragment.notes.map { .note($0) })
        if !fragment.untimedTracks.isSubset(of: untimedTracks) {
            untimedTracks.formUnion(fragment.untimedTracks)
            announceTracks(to: &events)
        }
        let isOutOfPlace = fragment.absoluteBase.map { $0 != box.offset } ?? false
        let first = fragment.runs.map(\.offset).min()
        let isHeld = held.contains { media in
            first.map { $0 >= media.offset && $0 < media.offset + media.bytes.count } ?? false
        }
        if isOutOfPlace, !isHeld {
            unplacedRuns.append(contentsOf: fragment.runs)
        } else {
            try add(fragment.runs)
        }
        try takeHeldMedia(to: &events)
    }

    // MARK: Media

    private mutating func add(_ runs: [SampleRun]) throws(MediaError) {
        guard !runs.isEmpty else { return }
        openFragmentCount = current == nil ? 1 : openFragmentCount + 1
        guard openFragmentCount <= Self.maximumOpenFragmentCount else {
            throw MediaError(
                code: .limitExceeded, byteOffset: position,
                text: "more than \(Self.maximumOpenFragmentCount) fragments without their media")
        }
        queue.add(runs)
        // A sample already removed from the queue is still the next one because a later fragment's media comes later.
        if current == nil { try advance() }
    }

    private mutating func advance() throws(MediaError) {
        current = try queue.next()
        guard let sample = current else { return }
        guard sample.byteCount <= Self.maximumSampleByteCount,
            sample.offset <= Int.max - Self.maximumSampleByteCount
        else {
            throw MediaError(
                code: .limitExceeded, byteOffset: sample.offset, text: "a sample of \(sample.byteCount) bytes")
        }
    }

    private mutating func beginMedia(end: Int?, to events: inout [DemuxerEvent]) throws(MediaError) {
        guard initialization != nil else {
            var error = mediaBeforeHeader
            error.byteOffset = position
            throw error
        }
        if let first = unplacedRuns.map(\.offset).min() {
            let distance = position - first
            if distance != 0 {
                events.append(.note("base data offsets count from a file's start; moved by \(distance) bytes"))
            }
            for index in unplacedRuns.indices { unplacedRuns[index].move(by: distance) }
            let runs = unplacedRuns
            unplacedRuns = []
            try add(runs)
        }
        isHolding = current == nil && held.count < Self.maximumHeldCount
        if isHolding { held.append(HeldMedia(offset: position)) }
        state = .media(end: end)
    }

    private mutating func endMedia(to events: inout [DemuxerEvent]) throws(MediaError) {
        state = .header
        isHolding = false
        guard let fragment = deferred else { return }
        deferred = nil
        try readFragment(fragment, isLast: true, to: &events)
    }

    private mutating func consumeMedia(
        _ rest: inout ArraySlice<UInt8>, end: Int?, to events: inout [DemuxerEvent]
    ) throws(MediaError) {
        let available = min(end.map { $0 - position } ?? .max, rest.count)
        let stop = position + available
        if isHolding { return hold(take(available, from: &rest), to: &events) }
        while position < stop {
            guard let sample = current, sample.offset < stop || piecesByteCount > 0 else {
                _ = take(stop - position, from: &rest)
                return
            }
            if piecesByteCount == 0 {
                guard sample.offset >= position else {
                    throw MediaError(
                        code: .malformed, byteOffset: position,
                        text: "the sample at byte \(sample.offset) lies before or within another")
                }
                if let end, sample.endOffset > end {
                    throw MediaError(
                        code: .malformed, byteOffset: sample.offset,
                        text: "a sample of \(sample.byteCount) bytes extends \(sample.endOffset - end) beyond 'mdat'")
                }
                _ = take(sample.offset - position, from: &rest)
            }
            let piece = take(min(sample.endOffset, stop) - position, from: &rest)
            if position < sample.endOffset {
                keep(piece)
            } else {
                let data = piecesByteCount == 0 ? SampleData(copying: piece) : joinedPieces(endingWith: piece)
                emit(sample, data, to: &events)
                try advance()
            }
        }
    }

    private mutating func keep(_ piece: ArraySlice<UInt8>) {
        piecesByteCount += piece.count
        guard piece.count < Self.smallPieceByteCount else {
            ownsLastPiece = false
            return pieces.append(piece)
        }
        if ownsLastPiece, !pieces.isEmpty {
            pieces[pieces.count - 1].append(contentsOf: piece)
        } else {
            pieces.append(Array(piece)[...])
            ownsLastPiece = true
        }
    }

    private mutating func joinedPieces(endingWith last: ArraySlice<UInt8>) -> SampleData {
        let data = SampleData(count: piecesByteCount + last.count) { target in
            var offset = 0
            for piece in pieces {
                target.copyBytes(of: piece, at: offset)
                offset += piece.count
            }
            target.copyBytes(of: last, at: offset)
        }
        pieces.removeAll(keepingCapacity: true)
        piecesByteCount = 0
        ownsLastPiece = false
        return data
    }

    private mutating func emit(_ sample: PendingSample, _ data: SampleData, to events: inout [DemuxerEvent]) {
        guard let tracks = initialization?.movieTracks, tracks.indices.contains(sample.trackIndex) else { return }
        guard limit.admits(data.count) else {
            if limit.omittedCount == 1 { events.append(.note(SmallSampleLimit.note)) }
            return
        }
        let track = tracks[sample.trackIndex]
        if beginsMedia[sample.trackIndex] == nil {
            beginsMedia[sample.trackIndex] = sample.dts == track.editShift
            announceTracks(to: &events)
        }
        if descriptionIndexes[sample.trackIndex] != sample.descriptionIndex,
            track.descriptions.indices.contains(sample.descriptionIndex)
        {
            descriptionIndexes[sample.trackIndex] = sample.descriptionIndex
            announceTracks(to: &events)
        }
        events.append(
            .sample(
                MediaSample(
                    trackID: track.id, pts: sample.pts, dts: sample.dts, duration: sample.duration,
                    isSync: sample.isSync, data: data, encryption: sample.encryption)))
    }

    // MARK: Media before its description

    private mutating func hold(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) {
        guard heldByteCount + bytes.count <= Self.maximumHeldByteCount, !held.isEmpty else {
            events.append(.note("media of more than \(Self.maximumHeldByteCount) bytes that no box describes yet"))
            held = []
            heldByteCount = 0
            isHolding = false
            return
        }
        held[held.count - 1].bytes.append(contentsOf: bytes)
        heldByteCount += bytes.count
    }

    /// A box has described media that has already passed. Media that it did not describe remains unknown.
    private mutating func takeHeldMedia(to events: inout [DemuxerEvent]) throws(MediaError) {
        while let sample = current, sample.offset < position {
            guard let bytes = held.lazy.compactMap({ $0.slice(sample) }).first else {
                throw MediaError(
                    code: .malformed, byteOffset: sample.offset,
                    text: "the sample at this place is not in an 'mdat' box")
            }
            emit(sample, SampleData(copying: bytes), to: &events)
            try advance()
        }
        held = []
        heldByteCount = 0
    }
}

struct HeldMedia: Sendable {
    let offset: Int
    var bytes: [UInt8] = []

    func holds(_ place: Int) -> Bool { place >= offset && place < offset + bytes.count }

    func slice(_ sample: PendingSample) -> ArraySlice<UInt8>? {
        guard sample.offset >= offset, sample.endOffset <= offset + bytes.count else { return nil }
        return bytes[sample.offset - offset..<sample.endOffset - offset]
    }
}

extension SampleData {
    fileprivate convenience init(copying bytes: ArraySlice<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(of: bytes, at: 0) }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies `bytes` to `offset`. The caller has made room for them.
    fileprivate func copyBytes(of bytes: ArraySlice<UInt8>, at offset: Int) {
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: self[offset...]).copyMemory(from: $0) }
    }
}
