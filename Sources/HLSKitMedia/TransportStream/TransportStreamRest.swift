/// The state that a transport stream segment passes to the next one.
///
/// It contains the tables, incomplete pictures and audio frames, and packet counters. Segments are cut where the video
/// allows it, often within an audio packet. Their tables may follow their first packets or be missing. Some segments
/// are cut at any packet or even any byte. The state contains at most one picture or frame of each stream, and less
/// than one transport packet.
package struct TransportStreamRest: Sendable {
    private var streams: [PacketizedStream]
    /// Times continue from the previous segment, so that both have the same clock.
    let unwrapper: TimestampUnwrapper
    let tables: TransportStreamTables
    /// The beginning of a transport packet, or nil if the segment ended with a complete one.
    var divided: TransportPacketReader.Divided?

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
        // The first times of a segment must be the same as in the stream: less than 2³³.
        let distance = -((unwrapper.last ?? 0) & ~((1 << 33) - 1))
        self.unwrapper = unwrapper.moved(by: distance)
        self.streams = streams
        for index in streams.indices { self.streams[index].moveTimes(by: distance) }
    }

    /// Whether it contains media of the segment that has not been emitted.
    package var holdsMedia: Bool { !streams.isEmpty || divided != nil }

    package var dividedStride: Int? { divided?.layout.stride }

    mutating func takeStream(like other: PacketizedStream) -> PacketizedStream? {
        streams.firstIndex { $0.isSame(as: other) }.map { streams.remove(at: $0) }
    }

    /// Emits the remaining data as the end of the segment because no other segment continues it.
    package func finish() -> [DemuxerEvent] {
        var (streams, sink) = (streams, EventSink())
        sink.replaceTracks(streams.map(\.track))
        for index in streams.indices { streams[index].finish(isTruncated: false, sink: &sink) }
        return sink.events.filter { if case .tracks = $0 { false } else { true } }
    }
}
