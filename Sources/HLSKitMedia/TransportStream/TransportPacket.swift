/// The header of one transport stream packet, checked against the packet's 188 bytes.
///
/// Source: ISO/IEC 13818-1 §2.4.3.2 to §2.4.3.5.
struct TransportPacket {
    static let byteCount = 188
    static let syncByte: UInt8 = 0x47
    static let nullPID = 0x1fff

    let pid: Int
    /// Whether the payload begins with the first byte of a PES packet or with a pointer to a section.
    let startsUnit: Bool
    let isScrambled: Bool
    let hasError: Bool
    let continuityCounter: UInt8
    /// Whether the continuity counter may jump here.
    let hasDiscontinuity: Bool
    let isRandomAccess: Bool
    let payload: Range<Int>?
    /// Whether the adaptation field is longer than its contents, as in the last packet of a unit that does not fill it.
    let isStuffed: Bool
    /// Whether the adaptation field is longer than the packet, or its presence bits are reserved.
    let isMalformed: Bool

    /// - Parameter bytes: ``byteCount`` bytes that begin with the sync byte.
    init(_ bytes: Span<UInt8>) {
        pid = Int(bytes[1] & 0x1f) << 8 | Int(bytes[2])
        hasError = bytes[1] & 0x80 != 0
        startsUnit = bytes[1] & 0x40 != 0
        isScrambled = bytes[3] & 0xc0 != 0
        continuityCounter = bytes[3] & 0x0f
        var start = 4
        var flags: UInt8 = 0
        var isStuffed = false
        if bytes[3] & 0x20 != 0 {
            let length = Int(bytes[4])
            start = 5 + length
            if length > 0 { flags = bytes[5] }
            isStuffed = start <= Self.byteCount && length != Self.adaptationByteCount(flags, in: bytes)
        }
        self.isStuffed = isStuffed
        hasDiscontinuity = flags & 0x80 != 0
        isRandomAccess = flags & 0x40 != 0
        isMalformed = start > Self.byteCount || bytes[3] & 0x30 == 0
        payload = isMalformed || bytes[3] & 0x10 == 0 || start == Self.byteCount ? nil : start..<Self.byteCount
    }

    /// The length of an adaptation field with only the contents that its flags declare.
    private static func adaptationByteCount(_ flags: UInt8, in bytes: Span<UInt8>) -> Int {
        var count = 1
        // Program clock references, and the countdown to a splice.
        if flags & 0x10 != 0 { count += 6 }
        if flags & 0x08 != 0 { count += 6 }
        if flags & 0x04 != 0 { count += 1 }
        // Private data and the extension begin with their own length.
        for flag: UInt8 in [0x02, 0x01] where flags & flag != 0 {
            guard 5 + count < byteCount else { return count }
            count += 1 + Int(bytes[5 + count])
        }
        return count
    }
}
