import HLSKitPlaylist
import Testing

@Suite("JSON writer")
struct JSONValueTests {
    @Test(
        "values are written in order, finite and escaped",
        arguments: [
            (["b": 1, "a": [true, nil, "x"]], #"{"b":1,"a":[true,null,"x"]}"#), (.number(1), "1"),
            (.number(1.5), "1.5"),
            (.number(-0.25), "-0.25"), (.number(.nan), "null"), (.number(.infinity), "null"), (.number(0), "0"),
            (.number(-0.0), "0"), (.number(1.0 / 3), "0.333333"), (.number(0.00001), "0.000010"),
            (.number(-0.00002), "-0.000020"), (.number(1e-9), "0"), (.number(123_456_789.25), "123456789.25"),
            (.number(1e15), "1000000000000000.0"), (.number(1e16), "1e+16"), (.integer(.min), "-9223372036854775808"),
            ([:], "{}"), ([], "[]"),
            ("\"\\/\n\t\r", #""\"\\/\n\t\r""#), ("\u{1b}[0m\u{9b}\u{7f}", #""\u001b[0m\u009b\u007f""#),
            ("a\u{202e}b\u{2028}", #""a\u202eb\u2028""#), ("\u{e0041}", #""\udb40\udc41""#), ("ä🎬", "\"ä🎬\""),
        ] as [(JSONValue, String)])
    func writing(value: JSONValue, text: String) {
        #expect(value.text == text)
    }

    @Test(
        "journals escape only control characters, logs everything invisible",
        arguments: [
            ("a\n\t\u{7f}", #""a\u000a\u0009\u007f""#, #""a\u000a\u0009\u007f""#),
            ("\u{9b}\u{a0}\u{200d}", "\"\u{9b}\u{a0}\u{200d}\"", #""\u009b\u00a0\u200d""#),
            ("\"\\ä", #""\"\\ä""#, #""\"\\ä""#),
        ])
    func escaping(text: String, journal: String, log: String) {
        #expect(JSONValue.string(text).text(.controls) == journal)
        #expect(JSONValue.string(text).text(.log) == log)
    }
}
