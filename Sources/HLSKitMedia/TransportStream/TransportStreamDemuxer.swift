/// A demuxer for MPEG-2 transport streams.
///
/// Samples are emitted in the order of their completion. A video access unit is complete when the next packet of its
/// stream begins. If its own packet declares its length, the unit is complete at the end of that packet. An audio frame
/// is complete with its last byte. Video is an Annex B byte stream with all its NAL units. AAC has no ADTS header
/// because the track's configuration contains it.
///
/// Timestamps are in units of 1/90 000 s. The first one of the segment is the same as in the stream. The others
/// continue from it across a wrap of the 33 bits. They may be negative or above 2³³ − 1, and are equal to the stream's
/// modulo 2³³. Access units without a timestamp get one from the frame duration of the parameter sets, and audio frames
/// by counting samples.
///
/// After a loss of packets, the current access unit is emitted with ``MediaSample/isDamaged`` set. The stream continues
/// at its next packet with a header.
///
/// Source: ISO/IEC 13818-1; RFC 8216 §3.2.
public struct TransportStreamDemuxer: Demuxer {
    /// The largest access unit or metadata tag (16 MiB). Larger ones are dropped with a note.
    package static let maxAccessUnitByteCount = 16 << 20

    private var reader = TransportPacketReader()
    private var core: TransportStreamCore

    /// Creates a demuxer.
    ///
    /// - Parameter programNumber: The program to read. The default, `nil`, selects the first program in the program
    ///   association table with a stream that this library supports.
    public init(programNumber: Int? = nil) {
        core = TransportStreamCore(wantedProgram: programNumber)
    }

    /// Creates a demuxer for a segment that follows another one without a gap. Its tables, and pictures and audio
    /// frames that do not end in it, are left to the next one.
    ///
    /// - Parameter rest: The rest of the previous segment, or nil if there is none.
    package init(continuing rest: TransportStreamRest?) {
        reader = TransportPacketReader(continuing: rest?.divided)
        core = TransportStreamCore(wantedProgram: nil, continuing: rest, leavesRest: true)
    }

    /// Whether the tables of a program were read, or came from the previous segment.
    package var hasProgram: Bool { core.hasProgram }

    /// The data that the next segment may continue, available after ``finish(to:)`` of a demuxer created with
    /// ``init(continuing:)``. It is nil if there is none.
    package var rest: TransportStreamRest? { core.rest }

    /// Reads the next bytes of the segment; see ``Demuxer``.
    ///
    /// This method never throws. It skips invalid data with a note, and ``finish(to:)`` reports if nothing was found.
    public mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError) {
        swap(&core.sink.events, &events)
        Self.read(&reader, into: &core, bytes)
        swap(&core.sink.events, &events)
    }

    /// Ends the segment; see ``Demuxer``.
    ///
    /// - Throws: `unknownContainer` without any packet, `malformed` without program tables, `unsupported` if no program
    ///   has a stream that this library supports, `truncated` if the bytes end within a packet.
    public mutating func finish(to events: inout [DemuxerEvent]) throws(MediaError) {
        swap(&core.sink.events, &events)
        defer { swap(&core.sink.events, &events) }
        Self.read(&reader, into: &core, nil)
        let isTruncated = reader.pendingByteCount > 0
        let end = reader.offset + reader.pendingByteCount
        core.finish(divided: reader.divided)
        guard reader.hasFoundPackets else {
            throw MediaError(
                code: .unknownContainer, byteOffset: 0, text: "no transport stream packets in \(end) bytes")
        }
        guard core.hasProgram else {
            throw MediaError(code: .malformed, byteOffset: end, text: "no program map table in \(end) bytes")
        }
        if let names = core.unreadable {
            throw MediaError(code: .unsupported, byteOffset: end, text: "no readable track: \(names)")
        }
        guard !isTruncated else {
            throw MediaError(
                code: .truncated, byteOffset: end,
                text: "the last transport stream packet has only \(reader.pendingByteCount) bytes")
        }
    }

    private static func read(
        _ reader: inout TransportPacketReader, into core: inout TransportStreamCore, _ bytes: ArraySlice<UInt8>?
    ) {
        if let bytes {
            reader.append(
                bytes, process: { packet, offset in core.process(packet, at: offset) },
                skipped: { core.noteSkipped($0) })
        } else {
            reader.finish(
                process: { packet, offset in core.process(packet, at: offset) },
                skipped: { core.noteSkipped($0) })
        }
    }
}
