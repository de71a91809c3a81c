/// The header of a packet of an elementary stream.
///
/// Source: ISO/IEC 13818-1 §2.4.3.6.
struct PESHeader: Hashable {
    var byteCount: Int
    /// The number of bytes after the header, or nil if the packet does not declare it.
    var payloadByteCount: Int?
    /// 33 bits wide.
    var pts: Int64?
    var dts: Int64?
    var isScrambled: Bool
    /// Whether the declared length is shorter than the header. Some encoders write the length of large packets modulo
    /// 65 536.
    var hasWrappedLength = false

    enum Result {
        case header(PESHeader)
        /// The header needs this number of bytes from the start.
        case needs(Int)
        /// A packet without media, such as padding or a map.
        case noMedia
        case malformed(String)
    }

    /// - Parameter bytes: The packet from its start code.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Result {
        guard bytes.count >= 6 else { return .needs(6) }
        let b = bytes.startIndex
        guard bytes[b] == 0, bytes[b + 1] == 0, bytes[b + 2] == 1 else { return .malformed("no PES start code") }
        switch bytes[b + 3] {
        // program_stream_map, padding, private_2, ECM, EMM, directory, DSM-CC, H.222.1 type E.
        case 0xbc, 0xbe, 0xbf, 0xf0, 0xf1, 0xff, 0xf2, 0xf8: return .noMedia
        default: break
        }
        guard bytes.count >= 9 else { return .needs(9) }
        guard bytes[b + 6] & 0xc0 == 0x80 else { return .malformed("no MPEG-2 PES header") }
        let byteCount = 9 + Int(bytes[b + 8])
        guard bytes.count >= byteCount else { return .needs(byteCount) }
        let length = Int(bytes[b + 4]) << 8 | Int(bytes[b + 5])
        let isWrapped = length > 0 && length < byteCount - 6
        let flags = bytes[b + 7] >> 6
        let hasPTS = flags & 2 != 0 && byteCount >= 14
        let hasDTS = flags == 3 && byteCount >= 19
        return .header(
            PESHeader(
                byteCount: byteCount, payloadByteCount: length == 0 || isWrapped ? nil : length - (byteCount - 6),
                pts: hasPTS ? timestamp(bytes[(b + 9)..<(b + 14)]) : nil,
                dts: hasDTS ? timestamp(bytes[(b + 14)..<(b + 19)]) : nil,
                isScrambled: bytes[b + 6] & 0x30 != 0, hasWrappedLength: isWrapped))
    }

    private static func timestamp(_ field: ArraySlice<UInt8>) -> Int64 {
        let bits = field.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return bits >> 3 & 0x1_c000_0000 | bits >> 2 & 0x3fff_8000 | bits >> 1 & 0x7fff
    }
}

/// Makes 33-bit timestamps continuous.
///
/// The first one does not change. Each later one becomes the number that is equal to it modulo 2³³ and nearest to the
/// previous one. A wrap therefore leads to values above 2³³ − 1. A stream before the first timestamp and across the
/// wrap has negative values.
struct TimestampUnwrapper {
    /// The newest timestamp, continued.
    private(set) var last: Int64?

    func moved(by distance: Int64) -> TimestampUnwrapper {
        TimestampUnwrapper(last: last.map { $0 &+ distance })
    }

    mutating func unwrap(_ timestamp: Int64) -> Int64 {
        let period: Int64 = 1 << 33
        guard let last else {
            self.last = timestamp
            return timestamp
        }
        var distance = (timestamp &- last) & (period - 1)
        if distance >= period / 2 { distance -= period }
        // Each packet changes it by at most 2³², so no segment is large enough for an overflow.
        let value = last &+ distance
        self.last = value
        return value
    }
}
