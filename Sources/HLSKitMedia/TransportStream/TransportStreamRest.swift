/// The state that a segment of a transport stream leaves to the next one: its tables, frames of audio of which it has
/// only the beginning, and how its packets were counted.
///
/// Segments are cut where the pictures allow it, often in the middle of a packet of audio, and their tables may come
/// behind their first packets, or not at all. It holds no more than one frame of each stream.
package struct TransportStreamRest: Sendable {
    private var streams: [PacketizedStream]
    /// Times continue from those of the segment before, so that it is one clock for both.
    let unwrapper: TimestampUnwrapper
    let tables: TransportStreamTables

    /// - Parameter streams: those that have something left.
    init?(_ streams: [PacketizedStream], unwrapper: TimestampUnwrapper, tables: TransportStreamTables) {
        guard tables.map != nil else { return nil }
        self.tables = tables
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

    /// The stream to continue with, once.
    mutating func takeStream(like other: PacketizedStream) -> PacketizedStream? {
        streams.firstIndex { $0.isSame(as: other) }.map { streams.remove(at: $0) }
    }
}
