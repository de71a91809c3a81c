/// Packets that precede the tables describing them.
///
/// RFC 8216 §3.2 requires the tables in each segment, but their position at its start is only a SHOULD.
struct EarlyPackets: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var offsets: [Int] = []
    private(set) var lostCount = 0

    /// Encoders send the tables at least every few hundred milliseconds. 4 MiB is a third of a second at 100 Mbit/s.
    static let maxByteCount = 4 << 20

    var isEmpty: Bool { offsets.isEmpty }

    mutating func append(_ packet: Span<UInt8>, at offset: Int) {
        guard bytes.count < Self.maxByteCount else {
            lostCount += 1
            return
        }
        packet.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        offsets.append(offset)
    }
}
