import HLSKitLoading
import HLSKitPlaylist
import Testing

@Suite("URL references")
struct URLReferenceTests {
    // RFC 3986 §5.4, without fragments, because requests never contain them.
    static let examples: [(reference: String, resolved: String)] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g?a:b", "http://a/b/c/g?a:b"), ("  g ", "http://a/b/c/g"),
    ]

    @Test("references resolve as in the examples of RFC 3986", arguments: examples)
    func resolution(_ example: (reference: String, resolved: String)) throws {
        let base = try #require(URIReference("http://a/b/c/d;p?q"))
        var target = try #require(URIReference(example.reference)).resolved(against: base)
        target.fragment = nil
        #expect(target.description == example.resolved)
    }

    @Test("control characters are refused", arguments: ["a\nb", "a\rb", "\u{0}", "a\u{7F}", "http://a/\t"])
    func controls(_ text: String) { #expect(URIReference(text) == nil) }

    static let normal: [(written: String, sent: String)] = [
        ("HTTP://Example.COM", "http://example.com/"), ("http://a:80/x", "http://a/x"), ("https://a:443", "https://a/"),
        ("https://a:80/", "https://a:80/"), ("http://a?b c", "http://a/?b%20c"), ("http://u:p@a/x", "http://a/x"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("http://a/%zz\\^", "http://a/%zz%5C%5E"),
        ("http://a/é", "http://a/%C3%A9"), ("http://a@b@c/", "http://c/"), ("http://a:/x", "http://a/x"),
    ]

    @Test("references are sent in normal form", arguments: normal)
    func normalForm(_ example: (written: String, sent: String)) throws {
        let url = try HTTPURL(example.written)
        #expect(url.text == example.sent)
        #expect(try HTTPURL(url.text) == HTTPURL(url.text))
    }

    @Test(
        "ambiguous hosts are refused",
        arguments: [
            "http://a b/", "http://a%2fb/", "http://a\\b/", "http:///x", "http:x", "http://a:0/", "http://a:65536/",
            "http://a:8x/", "http://[::1/", "http://[::1]x/", "http://[a/b]/", "http://a<b/", "http://",
        ])
    func badHosts(_ text: String) {
        #expect { try HTTPURL(text) } throws: { ($0 as? LoadingError)?.code == .badURL }
    }

    @Test("the origin consists of scheme, host and port")
    func origins() {
        #expect(URLOrigin(of: "HTTPS://u@A.example:443/x?y") == URLOrigin(of: "https://a.example"))
        #expect(URLOrigin(of: "https://a.example") != URLOrigin(of: "http://a.example"))
        #expect(URLOrigin(of: "http://a.example:8080")?.description == "http://a.example:8080")
        #expect(URLOrigin(of: "file:///x") == nil)
    }
}
