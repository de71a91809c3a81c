/// The BCP 47 language tags of the tracks in a Matroska file.
///
/// Source: RFC 8794 §4, §5; RFC 9559 §5.1.4.
package struct MatroskaLanguages: Sendable {
    private enum ID {
        static let header: UInt32 = 0x1A45_DFA3
        static let segment: UInt32 = 0x1853_8067
        static let tracks: UInt32 = 0x1654_AE6B
        static let cluster: UInt32 = 0x1F43_B675
        static let entry: UInt32 = 0xAE
        static let type: UInt32 = 0x83
        static let codec: UInt32 = 0x86
        static let language: UInt32 = 0x22_B59D
    }

    private struct Element {
        var id: UInt32
        /// The size of the identifier and the size field.
        var headByteCount: Int
        /// Nil if unknown.
        var byteCount: Int?
    }

    private static let headByteCount = 12
    private static let maximumElementCount = 64
    private static let maximumTrackByteCount = 4 << 20
    /// Video, audio, subtitles and metadata. Other types have no media.
    private static let types: Set<UInt64> = [1, 2, 17, 33]

    /// The tag of each track with media, or nil if undeclared. It is empty if the tracks follow the media.
    package private(set) var tags: [String?] = []

    /// - Parameter read: Returns at most `count` bytes at an offset, or nil if reading fails.
    package init(read: (_ offset: Int64, _ count: Int) -> [UInt8]?) {
        var offset = Int64(0)
        for _ in 0..<Self.maximumElementCount {
            guard let head = read(offset, Self.headByteCount), let element = Self.element(head[...]),
                element.id != ID.cluster
            else { return }
            let start = offset + Int64(element.headByteCount)
            if element.id == ID.tracks {
                guard let byteCount = element.byteCount, byteCount <= Self.maximumTrackByteCount else { return }
                readTracks((read(start, byteCount) ?? [])[...])
                return
            }
            // The children of the segment follow its head.
            guard element.id != ID.segment else {
                offset = start
                continue
            }
            guard let byteCount = element.byteCount else { return }
            let (next, overflow) = start.addingReportingOverflow(Int64(byteCount))
            guard !overflow else { return }
            offset = next
        }
    }

    private mutating func readTracks(_ bytes: ArraySlice<UInt8>) {
        Self.forEachElement(in: bytes) { id, payload in
            guard id == ID.entry else { return }
            var (type, hasCodec, tag) = (UInt64(0), false, String?.none)
            Self.forEachElement(in: payload) { id, payload in
                switch id {
                case ID.type: type = payload.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
                case ID.codec: hasCodec = !payload.isEmpty
                case ID.language:
                    let text = String(decoding: payload.prefix { $0 != 0 }, as: UTF8.self)
                    tag = text == "und" ? nil : ExtendedLanguage(text, code: nil)?.tag
                default: break
                }
            }
            if Self.types.contains(type), hasCodec { tags.append(tag) }
        }
    }

    private static func forEachElement(
        in bytes: ArraySlice<UInt8>, _ body: (UInt32, ArraySlice<UInt8>) -> Void
    ) {
        var rest = bytes
        while let element = element(rest) {
            rest = rest.dropFirst(element.headByteCount)
            guard let byteCount = element.byteCount, byteCount <= rest.count else { return }
            body(element.id, rest.prefix(byteCount))
            rest = rest.dropFirst(byteCount)
        }
    }

    /// Reads an identifier, with its length mark, and a size.
    private static func element(_ bytes: ArraySlice<UInt8>) -> Element? {
        guard let first = bytes.first, first.leadingZeroBitCount < 4 else { return nil }
        let idByteCount = first.leadingZeroBitCount + 1
        let rest = bytes.dropFirst(idByteCount)
        guard let mark = rest.first, mark.leadingZeroBitCount < 8, rest.count > mark.leadingZeroBitCount else {
            return nil
        }
        let sizeByteCount = mark.leadingZeroBitCount + 1
        let id = bytes.prefix(idByteCount).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let value = rest.prefix(sizeByteCount).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let mask = UInt64(1) << UInt64(7 * sizeByteCount) - 1
        let byteCount = value & mask == mask ? nil : Int(exactly: value & mask)
        return Element(id: id, headByteCount: idByteCount + sizeByteCount, byteCount: byteCount)
    }
}
