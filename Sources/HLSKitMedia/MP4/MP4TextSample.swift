/// The text in one sample of a text track: a subtitle (`tx3g`, QuickTime's `text`) or the title of a chapter.
///
/// Truncated samples are read as far as they go. Invalid characters are replaced.
///
/// Source: 3GPP TS 26.245 §5.16, §5.17; QuickTime File Format, "Text Sample Data" and "Chapter Lists".
package struct MP4TextSample: Sendable, Hashable {
    private enum Face {
        static let bold: UInt8 = 1
        static let italic: UInt8 = 2
        static let underline: UInt8 = 4
        static let all = bold | italic | underline
    }

    /// The text with `\n` between lines, without line ends at its end.
    package private(set) var text: String
    /// The style bits of each scalar of ``text``, or empty if no character has a style.
    private var faces: [UInt8] = []

    /// - Parameter track: The track of the sample. Its sample entry contains the default style.
    package init(parsing bytes: ArraySlice<UInt8>, of track: MediaTrack) {
        var reader = BoxReader(bytes, offset: 0)
        let count = Int((try? reader.readUInt16()) ?? 0)
        let coded = (try? reader.readBytes(min(count, reader.remaining))) ?? []
        let scalars = Self.decode(coded, isQuickTime: track.codec == .quickTimeText)
        var faces = [UInt8](repeating: Self.defaultFace(of: track), count: scalars.count)
        while let box = try? reader.nextBox() {
            guard box.type == "styl" else { continue }
            Self.apply(box.payload, to: &faces)
            break
        }
        text = ""
        add(scalars, faces)
    }

    /// Decodes UTF-16 with a byte order mark, UTF-8, or the Macintosh encoding of older QuickTime files.
    private static func decode(_ bytes: ArraySlice<UInt8>, isQuickTime: Bool) -> [Unicode.Scalar] {
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            let text = UTF16Text.decode(bytes.dropFirst(2), isLittleEndian: bytes.first == 0xFF)
            return Array(text.unicodeScalars)
        }
        if isQuickTime, String(validating: bytes, as: UTF8.self) == nil { return bytes.map(MacRoman.scalar) }
        return Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
    }

    /// The style in the sample entry of a `tx3g` track: flags, justification, color and box precede it.
    private static func defaultFace(of track: MediaTrack) -> UInt8 {
        track.codec == .tx3g && track.configuration.count > 24 ? track.configuration[24] & Face.all : 0
    }

    private static func apply(_ payload: BoxReader, to faces: inout [UInt8]) {
        var reader = payload
        guard let count = try? reader.readUInt16() else { return }
        // Records are in order, so the bytes of a sample limit the work.
        var end = 0
        for _ in 0..<count {
            guard let from = try? reader.readUInt16(), let until = try? reader.readUInt16(),
                (try? reader.skip(2)) != nil, let face = try? reader.readUInt8(), (try? reader.skip(5)) != nil
            else { return }
            let start = max(end, Int(from))
            end = max(start, Int(until))
            for index in start..<end where index < faces.count { faces[index] = face & Face.all }
        }
    }

    private mutating func add(_ scalars: [Unicode.Scalar], _ styles: [UInt8]) {
        var view = String.UnicodeScalarView()
        var isReturn = false
        for (scalar, face) in zip(scalars, styles) {
            defer { isReturn = scalar == "\r" }
            // CR LF is one line end.
            if scalar == "\n", isReturn { continue }
            view.append(scalar == "\r" ? "\n" : scalar == "\0" ? "\u{fffd}" : scalar)
            faces.append(face)
        }
        while view.last == "\n" {
            view.removeLast()
            faces.removeLast()
        }
        text = String(view)
        if faces.allSatisfy({ $0 == 0 }) { faces = [] }
    }

    /// The text as the payload of a WebVTT cue, with tags for bold, italic and underlined text.
    package var payload: String {
        var result = ""
        var open: UInt8 = 0
        func change(to face: UInt8) {
            guard face != open else { return }
            for (bit, name) in [(Face.underline, "u"), (Face.italic, "i"), (Face.bold, "b")] where open & bit != 0 {
                result += "</\(name)>"
            }
            for (bit, name) in [(Face.bold, "b"), (Face.italic, "i"), (Face.underline, "u")] where face & bit != 0 {
                result += "<\(name)>"
            }
            open = face
        }
        for (index, scalar) in text.unicodeScalars.enumerated() {
            change(to: index < faces.count ? faces[index] : 0)
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        change(to: 0)
        return result
    }
}

extension MediaTrack {
    package var isReadableText: Bool {
        mediaType == .text && !isAuxiliary
            && [.webVTT, .ttml, .tx3g, .quickTimeText, .subRip, .advancedSubStation].contains(codec)
    }

    /// Whether a `tx3g` track declares that all its samples are forced subtitles.
    ///
    /// Source: QuickTime File Format, "Subtitle Sample Data".
    package var holdsOnlyForcedText: Bool { codec == .tx3g && (configuration.first ?? 0) & 0x80 != 0 }
}
