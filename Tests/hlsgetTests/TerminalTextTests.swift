import HLSKitCore
import HLSKitMedia
import Testing

@testable import HLSGetKit

@Suite("Text from the network")
struct TerminalTextTests {
    @Test(
        "R64: terminal control characters are escaped, everything else is kept",
        arguments: [
            ("plain ASCII ~!", "plain ASCII ~!"), ("äöü 日本語 🎬", "äöü 日本語 🎬"),
            // A title that would set the window's title, colours, move the cursor, ring.
            ("\u{1b}]0;owned\u{07}", "\\x1b]0;owned\\x07"), ("\u{1b}[31mred\u{1b}[0m", "\\x1b[31mred\\x1b[0m"),
            ("\u{9b}31m", "\\x9b31m"), ("\u{9d}0;x\u{9c}", "\\x9d0;x\\x9c"), ("a\r\nb\tc", "a\\x0d\\x0ab\\x09c"),
            ("\u{0}\u{7f}\u{8}", "\\x00\\x7f\\x08"),
            // Text that would read from right to left, or be hidden.
            ("abc\u{202e}gpj.exe", "abc\\u{202e}gpj.exe"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}"), ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("soft\u{ad}hyphen", "soft\\xadhyphen"),
            ("\u{e0041}", "\\u{e0041}"),
            // Joiners belong to words and to emoji.
            ("می\u{200c}خواهم", "می\u{200c}خواهم"), ("👨\u{200d}👩", "👨\u{200d}👩"),
        ])
    func escaping(text: String, escaped: String) {
        #expect(TerminalText.escaped(text) == escaped)
        #expect(TerminalText.escaped(bytes: Array(text.utf8)) == escaped)
    }

    @Test(
        "invalid UTF-8 becomes visible",
        arguments: [
            ([0x61, 0xFF, 0x62], "a\\xffb"), ([0xC3], "\\xc3"), ([0xC3, 0xA4, 0xC3], "ä\\xc3"),
            ([0xE2, 0x82, 0x28], "\\xe2\\x82("), ([0xC0, 0xAF], "\\xc0\\xaf"), ([0xED, 0xA0, 0x80], "\\xed\\xa0\\x80"),
            ([], ""), ([0x9B], "\\x9b"),
        ] as [([UInt8], String)])
    func invalid(bytes: [UInt8], escaped: String) {
        #expect(TerminalText.escaped(bytes: bytes) == escaped)
    }
}
