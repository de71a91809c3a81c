/// Finds the positions in a part of a transport stream at which media of one track begins, without demuxing it.
package struct TransportStreamScanner: Sendable {
    package struct Point: Sendable, Hashable {
        package var offset: Int
        /// The timestamp of 33 bits.
        package var pts: Int64
        package var isRandomAccess: Bool
    }

    private let pid: Int
    private let prefix: Int
    private let start: Int
    private let takesAll: Bool
    private var reader = TransportPacketReader()

    /// - Parameters:
    ///   - start: The position of the bytes in the file, which may be anywhere.
    ///   - stride: The distance of packets.
    ///   - takesAll: Whether decoding can start everywhere, as with audio.
    package init(pid: Int, start: Int, stride: Int, takesAll: Bool) {
        self.pid = pid
        self.start = start
        prefix = stride == 192 ? 4 : 0
        self.takesAll = takesAll
    }

    package mutating func append(_ bytes: [UInt8]) -> [Point] {
        var points: [Point] = []
        let (pid, prefix, start, takesAll) = (pid, prefix, start, takesAll)
        reader.append(bytes[...]) { packet, position in
            let header = TransportPacket(packet)
            guard header.pid == pid, header.startsUnit, !header.hasError, let payload = header.payload else { return }
            // A PES header is within its first packet.
            let bytes = [UInt8](copying: packet, payload)
            guard case .header(let pes) = PESHeader.parse(bytes[...]), let pts = pes.pts else { return }
            points.append(
                Point(
                    offset: start + position - prefix, pts: pts, isRandomAccess: takesAll || header.isRandomAccess))
        } skipped: { _ in
        }
        return points
    }
}

extension [UInt8] {
    init(copying bytes: Span<UInt8>, _ range: Range<Int>) {
        self = []
        reserveCapacity(range.count)
        for index in range { append(bytes[index]) }
    }
}
