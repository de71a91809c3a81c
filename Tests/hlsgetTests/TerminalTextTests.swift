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
            // Text with escape sequences that set the window's title, change colors, move the cursor or ring the bell.
            ("\u{1b}]0;owned\u{07}", "\\x1b]0;owned\\x07"), ("\u{1b}[31mred\u{1b}[0m", "\\x1b[31mred\\x1b[0m"),
            ("\u{9b}31m", "\\x9b31m"), ("\u{9d}0;x\u{9c}", "\\x9d0;x\\x9c"), ("a\r\nb\tc", "a\\x0d\\x0ab\\x09c"),
            ("\u{0}\u{7f}\u{8}", "\\x00\\x7f\\x08"),
            // Text with right-to-left overrides or invisible characters.
            ("abc\u{202e}gpj.exe", "abc\\u{202e}gpj.exe"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}"), ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("soft\u{ad}hyphen", "soft\\xadhyphen"),
            ("\u{e0041}", "\\u{e0041}"),
            // Joiners are part of words and emoji.
            ("می\u{200c}خواهم", "می\u{200c}خواهم"), ("👨\u{200d}👩", "👨\u{200d}👩"),
        ])
    func escaping(text: String, escaped: String) {
        #expect(TerminalText.escaped(text) == escaped)
        #expect(TerminalText.escaped(bytes: Array(text.utf8)) == escaped)
    }

    @Test(
        "lines break after phrases, otherwise at spaces, otherwise anywhere",
        arguments: [
            ("", 5, [""]), ("one two", 7, ["one two"]), ("one two", 6, ["one", "two"]),
            ("abcdefgh", 3, ["abc", "def", "gh"]),
            ("m mute, 9 0 volume", 12, ["m mute,", "9 0 volume"]), ("a, b c d", 7, ["a, b c", "d"]),
            ("q quit; f full", 10, ["q quit;", "f full"]), ("ab c", 0, ["a", "b", "c"]),
            ("äöü 日本語", 3, ["äöü", "日本語"]),
            ("a b", .max, ["a b"]),
        ] as [(String, Int, [String])])
    func wrapping(text: String, columns: Int, lines: [String]) {
        #expect(TerminalText.wrapped(text, columns: columns) == lines)
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

@Suite("Readable numbers")
struct DecimalsTests {
    @Test(
        "clocks round down",
        arguments: [
            (0.0, "0:00"), (12.99, "0:12"), (596, "9:56"), (3600, "1:00:00"), (3723.5, "1:02:03"), (-5, "-0:05"),
            (-0.5, "0:00"), (.nan, "-:--"), (.infinity, "-:--"), (360_000, "100:00:00"),
        ])
    func clocks(seconds: Double, text: String) { #expect(Decimals.clock(seconds) == text) }

    @Test(
        "rough lengths have one unit and round down",
        arguments: [
            (0.0, "0 s"), (99.9, "99 s"), (100, "1 min"), (846, "14 min"), (5999, "99 min"), (7300, "2 h"),
            (.nan, "- h"),
        ])
    func roughLengths(seconds: Double, text: String) { #expect(Decimals.roughLength(seconds) == text) }

    @Test(
        "rates have only the digits they need",
        arguments: [(1.0, "1x"), (1.5, "1.5x"), (0.25, "0.25x"), (0, "0x"), (-1, "-1x"), (10, "10x"), (2.001, "2x")])
    func rates(rate: Double, text: String) { #expect(Decimals.rate(rate) == text) }

    @Test(
        "bit rates have a letter and few digits",
        arguments: [
            (0.0, "0"), (532, "532"), (800_000, "800k"), (2_400_000, "2.4M"), (2_000_000, "2M"), (9_960_000, "10M"),
            (12_345_678, "12M"), (999_600, "1M"), (1.5e9, "1.5G"), (.nan, "-"), (-1, "-"), (1234, "1.2k"), (3.4, "3"),
        ])
    func bitRates(value: Double, text: String) { #expect(Decimals.bitRate(value) == text) }

    @Test("bytes have a unit", arguments: [(0, "0 B"), (999, "999 B"), (1200, "1.2 kB"), (5_000_000, "5 MB")])
    func bytes(count: Int, text: String) { #expect(Decimals.bytes(count) == text) }
}

@Suite("Error line")
struct ErrorLineTests {
    @Test(
        "user information and keys are never shown, queries are",
        arguments: [
            ("https://user:pass@a.b/c?d=e@f", "https://a.b/c?d=e@f"), ("https://a.b/c@d?e", "https://a.b/c@d?e"),
            ("http://u@p@h/x", "http://h/x"), ("http://a.b?x=//u:p@q", "http://a.b?x=//u:p@q"),
            ("data:text/plain;base64,a2V5", "data:..."), ("DATA:,key", "data:..."), ("relative/x", "relative/x"),
            ("http://a/\u{1b}[2J", "http://a/\\x1b[2J"), ("https://a\\@b/", "https://b/"), ("", ""),
        ])
    func urls(url: String, printed: String) { #expect(ErrorLine.printable(url: url) == printed) }

    @Test("an endless URL is shortened in the middle")
    func longURL() {
        let url = "http://a/" + String(repeating: "x", count: 5000) + "end"
        #expect(ErrorLine.printable(url: url).count == ErrorLine.maximumURLLength + 3)
        #expect(ErrorLine.printable(url: url).hasSuffix("end"))
    }

    @Test(
        "a failure is one line: cause, URL, detail",
        arguments: [
            (
                HLSError(code: .notFound, urlString: "http://u:p@a/b", cause: "not found", detail: "HTTP 404"),
                "hlsget: error: not found: http://a/b (HTTP 404)"
            ),
            (HLSError(code: .output, cause: "disk full\nx"), "hlsget: error: disk full\\x0ax"),
            (
                LoadingError(code: .nameNotFound, url: "http://x/", text: "curl 6: Could not resolve host: x"),
                "hlsget: error: no such host: http://x/ (curl 6: Could not resolve host: x)"
            ),
            (
                MediaError(code: .truncated, byteOffset: 12, text: "box \u{1b}"),
                "hlsget: error: byte 12: box \\x1b"
            ),
        ] as [(any Error, String)])
    func lines(error: any Error, line: String) { #expect(ErrorLine.text(for: error) == line) }
}

@Suite("Exit status")
struct ExitStatusTests {
    @Test(
        "each player error has its status",
        arguments: [
            (.notFound, 3), (.network, 4), (.badPlaylist, 5), (.noEligibleVariant, 6), (.contentKey, 7), (.badMedia, 8),
            (.output, 9), (.staleLive, 11), (.refused, 12), (.invalidArgument, 64), (.itemInUse, 1), (.internal, 1),
            (HLSError.Code(rawValue: "fromTheFuture"), 1),
        ] as [(HLSError.Code, Int32)])
    func player(code: HLSError.Code, status: Int32) {
        #expect(ExitStatus(HLSError(code: code, cause: "")).rawValue == status)
    }

    @Test(
        "each error of a first playlist has its status",
        arguments: [
            (.httpStatus, 404, 3), (.httpStatus, 401, 3), (.httpStatus, 503, 4), (.httpStatus, nil, 4),
            (.nameNotFound, nil, 4), (.cannotConnect, nil, 4), (.tlsHandshake, nil, 4),
            (.untrustedCertificate, nil, 12),
            (.timedOut, nil, 4), (.connectionLost, nil, 4), (.badContentEncoding, nil, 4), (.tooManyRedirects, nil, 4),
            (.emptyBody, 200, 5), (.tooLarge, 200, 12), (.refused, nil, 12), (.badURL, nil, 64),
            (.fileNotFound, nil, 3),
            (.fileNotReadable, nil, 3), (.transport, nil, 4), (LoadingError.Code(rawValue: "new"), nil, 4),
        ] as [(LoadingError.Code, Int?, Int32)])
    func loading(code: LoadingError.Code, status: Int?, exit: Int32) {
        #expect(ExitStatus(LoadingError(code: code, url: "", status: status, text: "")).rawValue == exit)
    }

    @Test("media, usage, signals and unknown errors have their status")
    func others() {
        #expect(ExitStatus(MediaError(code: .malformed, text: "")).rawValue == 8)
        #expect(ExitStatus(MediaError(code: .limitExceeded, text: "")).rawValue == 12)
        #expect(ExitStatus(ArgumentValueError("")).rawValue == 64)
        #expect(ExitStatus(CancellationError()).rawValue == 1)
        #expect(ExitStatus.interrupted(signal: 2).rawValue == 130)
        #expect(ExitStatus.interrupted(signal: 15).rawValue == 143)
        #expect(ExitStatus.done.rawValue == 0)
        #expect(ExitStatus.incomplete.rawValue == 10)
    }
}
