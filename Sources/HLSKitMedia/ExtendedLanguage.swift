/// The BCP 47 tag of a track's language, which libavformat cannot write.
///
/// libavformat writes a text that contains the tag and has the size of the missing data: the name of the handler in
/// MP4, the language in Matroska. Then the data replaces the text, so all sizes and offsets in the file stay valid.
///
/// Source: ISO/IEC 14496-12 §8.4.6 (`elng`); RFC 9559 §5.1.4.1.20 (`LanguageBCP47`).
package struct ExtendedLanguage: Sendable, Hashable {
    private static let maximumLength = 64
    private static let boxMark = "language = "
    private static let elementMark = " is "
    private static let languageID: [UInt8] = [0x22, 0xB5, 0x9C]
    private static let extendedLanguageID: [UInt8] = [0x22, 0xB5, 0x9D]

    package let tag: String

    /// Returns nil if the tag is invalid or says no more than the code of its language.
    ///
    /// - Parameter code: The ISO 639-2 code, or nil if there is none.
    package init?(_ tag: String, code: String?) {
        let tag = tag.replacing("_", with: "-")
        guard (2...Self.maximumLength).contains(tag.utf8.count), code == nil || tag.contains("-"), tag != "und",
            tag.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || Self.isLetter($0) || $0 == 0x2D })
        else { return nil }
        self.tag = tag
    }

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

    // MARK: MP4

    /// The name of the handler for libavformat to write.
    package func handlerName(_ name: String) -> String { "\(Self.boxMark)\(tag), \(name)" }

    /// Divides the `hdlr` boxes with the tag into `hdlr` and `elng`.
    ///
    /// - Parameter bytes: Part of a file.
    package func addBoxes(to bytes: inout [UInt8]) {
        let mark = Array(handlerName("").utf8)
        var from = 0
        while let at = bytes.firstIndex(of: mark, from: from) {
            from = at + mark.count
            let start = at - 32
            guard start >= 0, bytes[start + 4..<start + 8].elementsEqual("hdlr".utf8) else { continue }
            let end = start + Int(bytes[start...].bigEndianUInt32(at: start))
            guard end > from, end <= bytes.count else { continue }
            var writer = MP4BoxWriter()
            let head = bytes[start + 8..<at]
            let name = bytes[from..<end]
            writer.box("hdlr") { $0.write(head + name) }
            writer.fullBox("elng") { $0.write(Array(tag.utf8) + [0]) }
            guard writer.bytes.count == end - start else { continue }
            bytes.replaceSubrange(start..<end, with: writer.bytes)
        }
    }

    // MARK: Matroska

    /// The language for libavformat to write.
    package func matroskaLanguage(code: String) -> String { "\(code)\(Self.elementMark)\(tag)" }

    /// Divides the `Language` elements with the tag into `Language` and `LanguageBCP47`.
    ///
    /// - Parameters:
    ///   - code: The ISO 639-2 code.
    ///   - bytes: Part of a file.
    package func addElements(code: String, to bytes: inout [UInt8]) {
        func element(_ id: [UInt8], _ text: String) -> [UInt8] {
            id + [0x80 | UInt8(text.utf8.count)] + Array(text.utf8)
        }
        guard code.utf8.count == 3 else { return }
        let written = element(Self.languageID, matroskaLanguage(code: code))
        let wanted = element(Self.languageID, code) + element(Self.extendedLanguageID, tag)
        while let at = bytes.firstIndex(of: written, from: 0) {
            bytes.replaceSubrange(at..<at + written.count, with: wanted)
        }
    }
}

extension [UInt8] {
    fileprivate func firstIndex(of part: [UInt8], from start: Int) -> Int? {
        guard let first = part.first, count >= part.count else { return nil }
        var at = start
        while at <= count - part.count, let next = self[at...].firstIndex(of: first), next <= count - part.count {
            if self[next..<next + part.count].elementsEqual(part) { return next }
            at = next + 1
        }
        return nil
    }
}
