/// The text in a sample of a chapter track.
///
/// Source: QuickTime File Format, "Text Sample Data" and "Chapter Lists"; 3GPP TS 26.245 §5.17 (`tx3g`).
package enum ChapterTitle {
    /// Reads the title: a length of two bytes, then UTF-8, or UTF-16 with a byte order mark. Boxes may follow. A
    /// truncated title is read as far as possible, and invalid bytes are replaced.
    package static func text(ofSample bytes: ArraySlice<UInt8>) -> String {
        guard bytes.count >= 2 else { return "" }
        let length = Int(bytes[bytes.startIndex]) << 8 | Int(bytes[bytes.startIndex + 1])
        let text = bytes.dropFirst(2).prefix(length)
        if text.starts(with: [0xfe, 0xff]) || text.starts(with: [0xff, 0xfe]) {
            return UTF16Text.decode(text.dropFirst(2), isLittleEndian: text.first == 0xff)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
