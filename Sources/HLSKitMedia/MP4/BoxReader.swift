/// A four-character code: the type of a box, of a sample entry, a handler or a scheme.
struct FourCharacterCode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(stringLiteral value: StaticString) {
        precondition(value.utf8CodeUnitCount == 4, "a four-character code has four characters")
        rawValue = value.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private var characters: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) } }

    var description: String {
        String(decoding: characters.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}

struct Box {
    let type: FourCharacterCode
    let offset: Int
    let endOffset: Int
    var payload: BoxReader
}

/// Reads big-endian fields and child boxes from the payload of one box, but never beyond it.
///
/// Errors contain the offset from the start of the segment or section. The reader uses a slice of the input without
/// copying.
struct BoxReader {
    private let bytes: ArraySlice<UInt8>
    private var index: Int
    /// The difference between an offset in the segment and an index of `bytes`.
    private let shift: Int

    init(_ bytes: ArraySlice<UInt8>, offset: Int) {
        self.bytes = bytes
        index = bytes.startIndex
        shift = offset - bytes.startIndex
    }

    var offset: Int { index + shift }
    var remaining: Int { bytes.endIndex - index }
    var rest: ArraySlice<UInt8> { bytes[index...] }

    func malformed(_ text: String) -> MediaError { MediaError(code: .malformed, byteOffset: offset, text: text) }

    private mutating func take(_ count: Int) throws(MediaError) -> Int {
        guard count >= 0, count <= remaining else {
            throw malformed("\(count) bytes are needed and the box has \(remaining) left")
        }
        defer { index += count }
        return index
    }

    mutating func skip(_ count: Int) throws(MediaError) { _ = try take(count) }

    mutating func readUInt8() throws(MediaError) -> UInt8 { bytes[try take(1)] }

    mutating func readUInt16() throws(MediaError) -> UInt16 {
        let start = try take(2)
        return UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
    }

    mutating func readUInt24() throws(MediaError) -> UInt32 {
        let start = try take(3)
        return UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
    }

    mutating func readUInt32() throws(MediaError) -> UInt32 { bytes.bigEndianUInt32(at: try take(4)) }

    mutating func readUInt64() throws(MediaError) -> UInt64 {
        UInt64(try readUInt32()) << 32 | UInt64(try readUInt32())
    }

    mutating func readUInt(is64Bit: Bool) throws(MediaError) -> UInt64 {
        is64Bit ? try readUInt64() : UInt64(try readUInt32())
    }

    mutating func readCode() throws(MediaError) -> FourCharacterCode { FourCharacterCode(rawValue: try readUInt32()) }

    mutating func readBytes(_ count: Int) throws(MediaError) -> ArraySlice<UInt8> {
        let start = try take(count)
        return bytes[start..<start + count]
    }

    mutating func readVersionAndFlags() throws(MediaError) -> (version: UInt8, flags: UInt32) {
        (try readUInt8(), try readUInt24())
    }

    /// Reads a string that ends with a zero byte or with the box. Invalid UTF-8 is replaced.
    mutating func readString() -> String {
        let text = rest.prefix { $0 != 0 }
        index = min(text.endIndex + 1, bytes.endIndex)
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the next child box, or nil at the end of the parent.
    ///
    /// A tail of fewer than eight bytes is ignored (QuickTime ends some atoms with four zero bytes).
    /// - Parameter overrun: The code of the error if the box is longer than its parent.
    mutating func nextBox(overrun: MediaError.Code = .malformed) throws(MediaError) -> Box? {
        guard remaining >= 8 else { return nil }
        let start = offset
        let available = remaining
        let size32 = try readUInt32()
        let type = try readCode()
        let size: Int?
        switch size32 {
        case 0: size = available  // to the end of the parent
        case 1: size = Int(exactly: try readUInt64())
        default: size = Int(size32)
        }
        let headerSize = offset - start
        guard let size, size >= headerSize, size <= available else {
            let claimed = size.map(String.init) ?? "more than 2^63"
            let isOverrun = size.map { $0 > available } ?? true
            throw MediaError(
                code: isOverrun ? overrun : .malformed, byteOffset: start,
                text: "box '\(type)' claims \(claimed) bytes, its parent has \(available)")
        }
        let payload = BoxReader(try readBytes(size - headerSize), offset: start + headerSize)
        return Box(type: type, offset: start, endOffset: start + size, payload: payload)
    }
}

extension ArraySlice<UInt8> {
    /// Reads four bytes as a big-endian number. The caller has checked that they exist.
    func bigEndianUInt32(at index: Int) -> UInt32 {
        UInt32(self[index]) << 24 | UInt32(self[index + 1]) << 16 | UInt32(self[index + 2]) << 8
            | UInt32(self[index + 3])
    }
}
