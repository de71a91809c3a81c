/// Reads an MPEG-2 transport stream.
///
/// Samples come in the order in which they become whole. A video access unit is whole when the next packet of its
/// stream begins, or when its own packet, which declared its length, ends; an audio frame when its last byte is there.
/// Video is given as an Annex B byte stream with all its NAL units; AAC without its ADTS header, which is in the
/// track's configuration.
///
/// Timestamps are in units of 1/90 000 s. The first one of the segment is as in the stream; the others are continued
/// from it across a wrap of the 33 bits, so they may be negative or above 2³³ − 1, and are equal to the stream's
/// modulo 2³³. Access units without a timestamp of their own get one from the frame duration of the parameter sets,
/// audio frames by counting samples.
///
/// After a loss of packets the access unit in progress is given out with ``MediaSample/isDamaged`` set, and the stream
/// continues at its next packet with a header.
///
/// Source: ISO/IEC 13818-1; RFC 8216 §3.2.
public struct TransportStreamDemuxer: Demuxer {
    /// The largest access unit or metadata tag that is kept; larger ones are left out with a note. 16 MiB.
    package static let maxAccessUnitByteCount = 16 << 20

    private var reader = TransportPacketReader()
    private var core: TransportStreamCore

    /// - Parameter programNumber: the program to read; nil (the default) for the first one in the order of the
    ///   program association table that has a stream this library knows.
    public init(programNumber: Int? = nil) {
        core = TransportStreamCore(wantedProgram: programNumber)
    }

    /// Reads a segment that follows another one without a gap, and leaves to the next one its tables and the pictures and
    /// frames of audio that do not end in it.
    ///
    /// - Parameter rest: what the segment before has left; nil if there was none.
    package init(continuing rest: TransportStreamRest?) {
        reader = TransportPacketReader(continuing: rest?.divided)
        core = TransportStreamCore(wantedProgram: nil, continuing: rest, leavesRest: true)
    }

    /// The tables of a program were read, or came from the segment before.
    package var hasProgram: Bool { core.hasProgram }

    /// After ``finish(to:)`` of a demuxer made with ``init(continuing:)``: what the next segment may continue with. nil
    /// where nothing was found.
    package var rest: TransportStreamRest? { core.rest }

    /// Never throws: what is odd is skipped with a note, and ``finish(to:)`` reports if nothing was found.
    public mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError) {
        swap(&core.sink.events, &events)
        Self.read(&reader, into: &core, bytes)
        swap(&core.sink.events, &events)
    }

    /// - Throws: `unknownContainer` without any packet, `malformed` without program tables, `unsupported` if no program
    ///   has a stream that this library knows, `truncated` where the bytes end within a packet.
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

    /// - Parameter bytes: nil at the end.
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
