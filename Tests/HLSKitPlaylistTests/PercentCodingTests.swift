import HLSKitPlaylist
import Testing

@Suite("Percent-encoding")
struct PercentCodingTests {
    @Test(
        "a percent sign without two digits is not changed",
        arguments: [
            ("a%20b", "a b"), ("%C3%a4", "ä"), ("100%", "100%"), ("%2", "%2"), ("%zz%41", "%zzA"), ("%+5%-0", "%+5%-0"),
            ("%%41", "%A"), ("", ""),
        ])
    func decoding(text: String, decoded: String) {
        #expect(PercentCoding.decodedText(text) == decoded)
        #expect(PercentCoding.decoded(text) == Array(decoded.utf8))
    }

    @Test("only unreserved characters are kept by default")
    func encoding() {
        #expect(PercentCoding.encoded("aZ09-._~") == "aZ09-._~")
        #expect(PercentCoding.encoded("a b/ä%\u{7f}[@") == "a%20b%2F%C3%A4%25%7F%5B%40")
        #expect(PercentCoding.encoded("/a b") { $0 != 0x20 } == "/a%20b")
    }
}
