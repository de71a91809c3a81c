/// Collects, from libass messages, the characters that no system font contains.
///
/// libass reports them only in messages. Use it only on the thread of its rasterizer.
final class MissingGlyphs {
    private static let maximumCount = 4096
    /// Warnings and more severe messages (`MSGL_WARN`).
    private static let highestLevel = 2

    private(set) var characters: Set<Unicode.Scalar> = []

    /// The callback for `ass_set_message_cb`, whose context is the receiver.
    static let listen: SubtitleLibrary.Message = { level, format, arguments, context in
        guard level <= highestLevel, let format, let context, let write = SubtitleLibrary.format else { return }
        var text = [CChar](repeating: 0, count: 256)
        guard write(&text, text.count, format, arguments) > 0 else { return }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        Unmanaged<MissingGlyphs>.fromOpaque(context).takeUnretainedValue().read(String(decoding: bytes, as: UTF8.self))
    }

    /// Adds the character that a message of libass reports as missing, if it is such a message.
    ///
    /// Examples are "fontselect: failed to find any fallback with glyph 0x65E5 for font: (sans-serif, 400, 0)" and
    /// "Glyph 0x65E5 not found in font for (sans-serif, 400, 0)".
    func read(_ message: String) {
        guard message.contains("failed to find any fallback") || message.contains("not found in font"),
            let mark = message.firstRange(of: "lyph 0x")
        else { return }
        let digits = message[mark.upperBound...].prefix { $0.isHexDigit }
        guard let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number),
            characters.count < Self.maximumCount
        else { return }
        characters.insert(scalar)
    }
}
