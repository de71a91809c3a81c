/// A complete image before the media of a segment. Some streams have one because image hosts accept no other files.
///
/// Source: PNG §5, ISO/IEC 10918-1 §B, GIF89a, the header of Windows bitmaps, the container of WebP.
enum LeadingImage {
    /// The end of a larger image is not searched for.
    static let maximumByteCount = 4 << 20

    static func begins(_ bytes: ArraySlice<UInt8>) -> Bool { kind(bytes) != nil }

    private enum Kind { case png, jpeg, gif, bitmap, webP }

    private static func kind(_ bytes: ArraySlice<UInt8>) -> Kind? {
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return .png }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return .jpeg }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return .gif }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return .webP }
        if bytes.starts(with: "BM".utf8), bytes.count >= 14, bytes.dropFirst(6).prefix(4).allSatisfy({ $0 == 0 }) {
            return .bitmap
        }
        return nil
    }

    /// Returns the end of the image at the start of the bytes, or nil if its end is not among them or they are not an
    /// image.
    static func byteCount(_ bytes: ArraySlice<UInt8>) -> Int? {
        var scanner = Scanner(bytes: bytes)
        let isWhole =
            switch kind(bytes) {
            case .png: scanner.skipPNG()
            case .jpeg: scanner.skipJPEG()
            case .gif: scanner.skipGIF()
            case .bitmap: scanner.skip(littleEndian(bytes.dropFirst(2).prefix(4)))
            case .webP: scanner.skip(8 + littleEndian(bytes.dropFirst(4).prefix(4)))
            case nil: false
            }
        return isWhole && scanner.at <= bytes.count ? scanner.at : nil
    }

    private static func littleEndian(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private struct Scanner {
        let bytes: ArraySlice<UInt8>
        var at = 0

        subscript(_ offset: Int) -> UInt8? {
            offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
        }

        mutating func skip(_ count: Int) -> Bool {
            at += count
            return true
        }

        private func bigEndian(_ offset: Int, _ count: Int) -> Int? {
            guard offset + count <= bytes.count else { return nil }
            return (0..<count).reduce(0) { $0 << 8 | Int(bytes[bytes.startIndex + offset + $1]) }
        }

        mutating func skipPNG() -> Bool {
            at = 8
            while let length = bigEndian(at, 4), let type = bigEndian(at + 4, 4), length <= maximumByteCount {
                at += 12 + length
                if type == 0x4945_4e44 { return true }  // IEND
            }
            return false
        }

        mutating func skipJPEG() -> Bool {
            at = 2
            while let first = self[at], let marker = self[at + 1] {
                guard first == 0xff else {
                    // Coded data, up to the next marker.
                    at += 1
                    continue
                }
                switch marker {
                case 0xff: at += 1
                case 0x00, 0x01, 0xd0...0xd8: at += 2
                case 0xd9:
                    at += 2
                    return true
                default:
                    guard let length = bigEndian(at + 2, 2) else { return false }
                    at += 2 + length
                }
            }
            return false
        }

        mutating func skipGIF() -> Bool {
            func tableByteCount(_ flags: UInt8) -> Int { flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0 }
            guard let flags = self[10] else { return false }
            at = 13 + tableByteCount(flags)
            while let code = self[at] {
                switch code {
                case 0x3b:
                    at += 1
                    return true
                case 0x21: at += 2
                case 0x2c:
                    guard let flags = self[at + 9] else { return false }
                    at += 11 + tableByteCount(flags)
                default: return false
                }
                // Blocks that begin with their length.
                while let length = self[at], length > 0 { at += 1 + Int(length) }
                at += 1
            }
            return false
        }
    }
}
