/// A demuxer for packed audio: AAC (ADTS or LOAS), MPEG audio, AC-3 or E-AC-3 without a container.
///
/// An ID3 tag with the timestamp of the first frame precedes the frames. The audio is track 0. ID3 tags between frames,
/// and those with more content than the timestamp, are samples of track 1. Timestamps are in units of 1/90 000 s and
/// are not reduced modulo 2³³. Each sample of E-AC-3 includes its dependent substreams. Bytes that do not belong to a
/// frame are skipped with a note. An encoder's table in the first MPEG audio frame ("Xing", "Info", "VBRI") is also
/// skipped, but its time passes.
///
/// Source: RFC 8216 §3.4.
public struct PackedAudioDemuxer: Demuxer {
    /// The bytes within which the first frame must begin.
    package static let maxLeadingByteCount = 64 << 10

    private var sink = EventSink()
    private var pending: [UInt8] = []
    /// The offset of `pending` in the segment.
    private var offset = 0
    private var timestamp: Int64?
    private var tags: [[UInt8]] = []
    /// The number of bytes of `pending` at which no frame begins.
    private var rejectedByteCount = 0
    private var frames: FrameAssembler?

    private static let trackID = 0
    private static let metadataTrackID = 1
    private static let framings: [AudioFraming] = [.adts, .mpegAudio, .ac3, .loas]

    /// Creates a demuxer that expects the start of a segment.
    public init() {}

    /// Reads the next bytes of the segment; see ``Demuxer``.
    ///
    /// - Throws: `unknownContainer` if no frame is found, `limitExceeded` for an ID3 tag above 16 MiB.
    public mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError) {
        swap(&sink.events, &events)
        defer { swap(&sink.events, &events) }
        if frames != nil {
            frames?.append(bytes.span, to: &sink)
        } else {
            pending.append(contentsOf: bytes)
            try begin(isEnd: false)
        }
    }

    /// Ends the segment; see ``Demuxer``.
    ///
    /// - Throws: `unknownContainer` if no frame was found, `truncated` if the last one is incomplete. Its bytes have
    ///   been emitted as a damaged sample.
    public mutating func finish(to events: inout [DemuxerEvent]) throws(MediaError) {
        swap(&sink.events, &events)
        defer { swap(&sink.events, &events) }
        if frames == nil { try begin(isEnd: true) }
        let left = frames?.finish(isDamaged: true, to: &sink) ?? 0
        guard left == 0 else {
            throw MediaError(
                code: .truncated, byteOffset: frames?.endOffset,
                text: "the last \(left) bytes are not a whole audio frame"
            )
        }
    }

    private mutating func begin(isEnd: Bool) throws(MediaError) {
        guard try readTags(isEnd: isEnd), let framing = try identify(isEnd: isEnd) else { return }
        if timestamp == nil { sink.note("packed audio without a timestamp: assumed to begin at 0") }
        var track = MediaTrack(
            id: Self.trackID, mediaType: .audio, codec: framing.codec, timescale: 90_000, wrapsAt33Bits: true)
        track.timestampsAreRelative = timestamp == nil
        var assembler = FrameAssembler(
            framing: framing, track: track,
            options: .init(
                name: "packed audio", metadataTrackID: Self.metadataTrackID, skipsInformationFrame: true),
            offset: offset)
        sink.update(track)
        assembler.beginPacket(pts: timestamp ?? 0)
        for tag in tags { assembler.emitTag(tag[...], to: &sink) }
        tags = []
        let bytes = pending
        pending = []
        assembler.append(bytes.span, to: &sink)
        frames = assembler
    }

    private mutating func readTags(isEnd: Bool) throws(MediaError) -> Bool {
        while "ID3".utf8.starts(with: pending.prefix(3)) {
            guard pending.count >= ID3Tag.headerByteCount else { return isEnd }
            guard let byteCount = ID3Tag.byteCount(ofTagWithHeader: pending.prefix(ID3Tag.headerByteCount)) else {
                return true
            }
            guard byteCount <= TransportStreamDemuxer.maxAccessUnitByteCount else {
                throw MediaError(
                    code: .limitExceeded, byteOffset: offset, text: "an ID3 tag of \(byteCount) bytes")
            }
            guard pending.count >= byteCount else {
                // The length is wrong, so the audio may begin at any position after the header.
                return isEnd
            }
            let tag = try ID3Tag(parsing: pending.prefix(byteCount))
            if timestamp == nil { timestamp = tag.transportStreamTimestamp }
            if tag.hasMetadata { tags.append(Array(pending.prefix(byteCount))) }
            pending.removeFirst(byteCount)
            offset += byteCount
        }
        return true
    }

    /// Returns the format of the first header that a second one after its frame confirms, or nil if not yet known.
    private mutating func identify(isEnd: Bool) throws(MediaError) -> AudioFraming? {
        var isOpen = false
        let last = min(pending.count, Self.maxLeadingByteCount)
        for start in min(rejectedByteCount, last)..<last {
            for framing in Self.framings {
                guard let header = framing.header(at: start, in: pending) else { continue }
                let next = start + header.byteCount
                if framing.header(at: next, in: pending) != nil { return framing }
                if pending.count < next + framing.headerByteCount {
                    // At the end of a short segment, a single frame must suffice.
                    if isEnd && start == 0 { return framing }
                    isOpen = true
                } else if pending[next...].starts(with: "ID3".utf8) {
                    return framing
                }
            }
            if isOpen && !isEnd { return nil }
            // Near the end, a header may be incomplete.
            rejectedByteCount = max(rejectedByteCount, min(start, pending.count - ID3Tag.headerByteCount))
        }
        guard isEnd || last == Self.maxLeadingByteCount else { return nil }
        throw MediaError(
            code: .unknownContainer, byteOffset: offset,
            text: "no frame of AAC, MPEG audio, AC-3 or E-AC-3 in \(last) bytes" + freeFormatHint)
    }

    private var freeFormatHint: String {
        let head = pending.prefix(4)
        guard head.count == 4, head[0] == 0xff, head[1] & 0xe0 == 0xe0, head[1] & 0x06 != 0, head[2] & 0xf0 == 0 else {
            return ""
        }
        return " (MPEG audio in free format is not supported)"
    }
}
