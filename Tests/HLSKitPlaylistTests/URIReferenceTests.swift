import HLSKitPlaylist
import Testing

@Suite struct URIReferenceTests {
    @Test(
        "the examples of RFC 3986 §5.4 resolve",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("http:g", "http:g"),
        ])
    func resolution(_ reference: String, _ target: String) {
        #expect(URIReference.resolve(reference, against: "http://a/b/c/d;p?q") == target)
    }

    @Test(
        "the fast path for simple references resolves as RFC 3986 §5.2.2",
        arguments: ["g", "g.ts", "17", "_-", "a..b", "-", ".", "..", ".g", "g:h", "g/h", "g?y", "", " g", "g ", "ü"])
    func glance(_ reference: String) {
        let bases = [
            "http://a/b/c/d", "https://a.b/", "https://a.b", "http://a:80/b/c", "http://a:080/b/c", "http://a:/b/c",
            "http://a/./b/../c/d", "http://a/b.c/.d", "http://a//b//c", "file:///a/b", "file:/a/b", "a/b/c", "/a/b/c",
            "a:b/c", "a://b/c/d?e/f", "a://b/c#d/e", "http://u@a/b/c", "http://[::1]/b/c", "h2://a/b/c", "://a/b/c",
            "a:://b/c/d", "http:///b", "http://a/b c/d", "http://a/b/c ", "", "data:x",
        ]
        for base in bases {
            let target = URIReference(reference).flatMap { reference in
                URIReference(base).map { reference.resolved(against: $0).description }
            }
            #expect(URIReference.resolve(reference, against: base) == target, "\(base)")
        }
    }

    @Test("all components are found, and joined again")
    func parts() throws {
        let text = "HTTPS://u:p@[::1]:8443/a%20b/c?x=1?y#f#g"
        let reference = try #require(URIReference(text))
        #expect(reference.scheme == "HTTPS" && reference.userInfo == "u:p" && reference.host == "[::1]")
        #expect(reference.port == 8443 && reference.path == "/a%20b/c" && reference.query == "x=1?y")
        #expect(reference.fragment == "f#g" && reference.description == text)
        #expect(reference.origin == "https://[::1]:8443")
    }

    @Test("origins are lower-cased and have the default port")
    func origins() {
        #expect(URIReference("HTTP://Example.COM/x")?.origin == "http://example.com:80")
        #expect(URIReference("https://example.com:443")?.origin == "https://example.com:443")
        #expect(URIReference("https://example.com:")?.origin == "https://example.com:443")
        #expect(URIReference("/x")?.origin == nil && URIReference("data:x")?.origin == nil)
    }

    @Test("control characters and impossible ports are refused; surrounding white space is dropped")
    func bounds() {
        #expect(URIReference("http://h/a\nb") == nil && URIReference("http://h/\u{0}") == nil)
        #expect(URIReference("http://h:99999/") == nil && URIReference("http://h:x/") == nil)
        #expect(URIReference("  http://h/  ")?.description == "http://h/")
    }
}
