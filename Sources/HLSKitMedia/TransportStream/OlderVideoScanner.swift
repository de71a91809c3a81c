/// Finds the pictures in a byte stream of MPEG-1, MPEG-2 or MPEG-4 part 2.
///
/// Source: ISO/IEC 13818-2 §6.2 (MPEG-2; MPEG-1 is nearly the same), ISO/IEC 14496-2 §6.2 (MPEG-4).
struct OlderVideoScanner {
    enum Element: Hashable {
        /// Units that belong to the next picture.
        case header
        case frame
        case other
    }

    let isMPEG4: Bool

    func element(_ code: UInt8) -> Element {
        if isMPEG4 {
            switch code {
            case 0xb6: return .frame
            // Video objects and layers, the sequence, groups of pictures.
            case 0x00...0x2f, 0xb0, 0xb3, 0xb5: return .header
            default: return .other
            }
        }
        switch code {
        case 0x00: return .frame
        case 0xb3, 0xb8: return .header
        default: return .other
        }
    }

    /// Whether a picture is coded without references. `bytes` are the bytes after its start code.
    func isIntra(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 2 else { return false }
        let first = bytes.startIndex
        return isMPEG4 ? bytes[first] >> 6 == 0 : bytes[first + 1] >> 3 & 7 == 1
    }

    /// Whether a picture is a single field according to its coding extension (0xb5). `bytes` are the bytes after the
    /// code.
    func isField(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !isMPEG4, bytes.count >= 3, bytes[bytes.startIndex] >> 4 == 8 else { return false }
        return bytes[bytes.startIndex + 2] & 3 != 3
    }

    /// The fields of a frame, from a sequence extension (0xb5, ISO/IEC 13818-2 §6.2.2.3), or nil for other data.
    /// `bytes` are the bytes after the code.
    func fieldCount(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard !isMPEG4, bytes.count >= 2, bytes[bytes.startIndex] >> 4 == 1 else { return nil }
        return bytes[bytes.startIndex + 1] & 8 != 0 ? 1 : 2
    }

    struct Format: Hashable {
        var width: Int
        var height: Int
        var frameDuration: VideoUsabilityInfo.FrameDuration?
    }

    /// - Parameter bytes: The bytes after the start code `code`. The result is nil if it is not a header with a format.
    func format(_ code: UInt8, _ bytes: ArraySlice<UInt8>) -> Format? {
        if isMPEG4 { return (0x20...0x2f).contains(code) ? Self.layer(bytes) : nil }
        guard code == 0xb3, bytes.count >= 4 else { return nil }
        let b = bytes.startIndex
        let width = Int(bytes[b]) << 4 | Int(bytes[b + 1] >> 4)
        let height = Int(bytes[b + 1] & 15) << 8 | Int(bytes[b + 2])
        let rates: [(Int64, Int64)] = [
            (1001, 24_000), (1, 24), (1, 25), (1001, 30_000), (1, 30), (1, 50), (1001, 60_000), (1, 60),
        ]
        let code = Int(bytes[b + 3] & 15)
        let rate = (1...8).contains(code) ? rates[code - 1] : nil
        guard width > 0, height > 0 else { return nil }
        return Format(
            width: width, height: height, frameDuration: rate.map { .init(value: $0.0, timescale: $0.1) })
    }

    /// A video object layer of rectangular shape (§6.2.3).
    private static func layer(_ bytes: ArraySlice<UInt8>) -> Format? {
        var reader = BitReader(Array(bytes.prefix(64)))
        reader.skip(1 + 8)
        var version = 1
        if reader.flag() {
            version = reader.bits(4)
            reader.skip(3)
        }
        if reader.bits(4) == 15 { reader.skip(16) }  // pixel aspect ratio
        if reader.flag() {  // control parameters
            reader.skip(3)
            if reader.flag() { reader.skip(79) }
        }
        let shape = reader.bits(2)
        if shape == 3, version != 1 { reader.skip(4) }
        reader.skip(1)
        let resolution = reader.bits(16)
        reader.skip(1)
        var duration: VideoUsabilityInfo.FrameDuration?
        if reader.flag() {
            let bitCount = max(1, Int.bitWidth - max(0, resolution - 1).leadingZeroBitCount)
            let increment = reader.bits(bitCount)
            if increment > 0, resolution > 0 { duration = .init(value: Int64(increment), timescale: Int64(resolution)) }
        }
        guard shape == 0 else { return nil }
        reader.skip(1)
        let width = reader.bits(13)
        reader.skip(1)
        let height = reader.bits(13)
        guard !reader.isExhausted, width > 0, height > 0 else { return nil }
        return Format(width: width, height: height, frameDuration: duration)
    }
}
