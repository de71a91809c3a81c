/// The state that a segment of a transport stream leaves to the next one: its tables, pictures and frames of audio of which
/// it has only the beginning, and how its packets were counted.
///
/// Segments are cut where the pictures allow it, often in the middle of a packet of audio, and their tables may come
/// behind their first packets, or not at all. Some are cut at any packet, or at any byte. It holds no more than one picture
/// or frame of each stream, and less than one transport packet.
package struct TransportStreamRest: Sendable {
    private var streams: [PacketizedStream]
    /// Times continue from those of the segment before, so that it is one clock for both.
    let unwrapper: TimestampUnwrapper
    let tables: TransportStreamTables
    /// The beginning of a transport packet; nil where the segment ended with one.
    var divided: TransportPacketReader.Divided?

    /// - Parameter streams: those that have something left.
    init?(
        _ streams: [PacketizedStream], unwrapper: TimestampUnwrapper, tables: TransportStreamTables,
        divided: TransportPacketReader.Divided? = nil
    ) {
        guard tables.map != nil || divided != nil else { return nil }
        self.tables = tables
        self.divided = divided
        guard !streams.isEmpty else {
            self.unwrapper = TimestampUnwrapper()
            self.streams = []
            return
        }
        // The first times of a segment are those of the stream: less than 2³³.
        let distance = -((unwrapper.last ?? 0) & ~((1 << 33) - 1))
        self.unwrapper = unwrapper.moved(by: distance)
        self.streams = streams
        for index in streams.indices { self.streams[index].moveTimes(by: distance) }
    }

    /// Media of the segment is in it that has not been given out.
    package var holdsMedia: Bool { !streams.isEmpty || divided != nil }

    /// The segment ends within a transport packet, whose packets are so far apart.
    package var dividedStride: Int? { divided?.layout.stride }

    /// The stream to continue with, once.
    mutating func takeStream(like other: PacketizedStream) -> PacketizedStream? {
        streams.firstIndex { $0.isSame(as: other) }.map { streams.remove(at: $0) }
    }

    /// No segment continues with it: gives out what was begun, as of the end of the segment before.
    package func finish() -> [DemuxerEvent] {
        var (streams, sink) = (streams, EventSink())
        sink.replaceTracks(streams.map(\.track))
        for index in streams.indices { streams[index].finish(isTruncated: false, sink: &sink) }
        return sink.events.filter { if case .tracks = $0 { false } else { true } }
    }
}
