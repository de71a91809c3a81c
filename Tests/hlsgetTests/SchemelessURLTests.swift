import TestSupport
import Testing

@testable import HLSGetKit

@Suite("URLs without a scheme, and with extra characters")
struct SchemelessURLTests {
    @Test(
        "hosts are recognised by form; http is for this machine, addresses and odd ports",
        arguments: [
            ("example.com/film.m3u8", "https://example.com/film.m3u8"),
            ("localhost/x", "http://localhost/x"), ("localhost:8080/x", "http://localhost:8080/x"),
            ("127.0.0.1:18080/x.m3u8", "http://127.0.0.1:18080/x.m3u8"), ("10.0.0.1/x", "http://10.0.0.1/x"),
            ("[::1]:8080/x", "http://[::1]:8080/x"), ("//host/x", "https://host/x"), ("//host", "https://host"),
            ("host:8080/x", "http://host:8080/x"), ("host:443/x", "https://host:443/x"),
            ("example.com:8443/x", "https://example.com:8443/x"),
            ("Example.COM/a?b=c:d", "https://Example.COM/a?b=c:d"),
        ])
    func hosts(text: String, url: String) {
        #expect(SchemelessURL(text)?.url == url)
    }

    @Test(
        "file names are not hosts",
        arguments: [
            "film.m3u8", "x/y.m3u8", "./a.b/c", "../a.com/b", "a:b.m3u8", "host", "localhost", "a b.com/x", "-", "",
            "host:0/x", "host:99999/x", "host:/x", ".com/x", "a..b/c", "1.2.3/x", "[::1/x", "//", "folder.1/x",
        ])
    func files(text: String) {
        #expect(SchemelessURL(text) == nil)
    }

    @Test(
        "quotes, brackets and prefixes around a copied URL are removed",
        arguments: [
            ("<https://a.example/x>", "https://a.example/x"), ("\"https://a.example/x\"", "https://a.example/x"),
            ("'https://a.example/x'", "https://a.example/x"), ("hls://https://a.example/x", "https://a.example/x"),
            ("hls://a.example/x", "https://a.example/x"), ("hlsvariant://http://a.example/x", "http://a.example/x"),
        ])
    func copied(text: String, url: String) throws {
        #expect(try InputLocation.url(of: text, in: "/") == url)
    }

    @Test(
        "schemes that HLS does not use are refused, and not taken for a file",
        arguments: ["rtmp://a.example/x", "rtsp://a/x", "srt://a:1", "ftp://a/x", "magnet:?xt=urn:btih:0"])
    func otherSchemes(_ text: String) {
        #expect { try InputLocation.url(of: text, in: "/") } throws: { "\($0)".contains("is not supported") }
    }

    @Test(
        "options before the command are accepted",
        arguments: [
            (["-q", "download", "u"], ["download", "-q", "u"]), (["-q", "u"], ["-q", "u"]),
            (["download"], ["download"]),
            (["-v", "-q", "list", "u"], ["list", "-v", "-q", "u"]), (["-q"], ["-q"]),
            (["-o", "list"], ["-o", "list"]), (["-o", "list", "list", "u"], ["list", "-o", "list", "u"]),
            (["-o", "u", "list"], ["list", "-o", "u"]), (["-olist", "list"], ["list", "-olist"]),
            (["--timeout", "5s", "-q", "list", "u"], ["list", "--timeout", "5s", "-q", "u"]),
            (["--timeout=5s", "list", "u"], ["list", "--timeout=5s", "u"]),
            (["--timeout", "list", "u"], ["--timeout", "list", "u"]),
            (["--config", "list", "list"], ["list", "--config", "list"]),
            (["--no-config", "list"], ["list", "--no-config"]), (["--other", "list"], ["--other", "list"]),
            (["-q", "u", "list"], ["-q", "u", "list"]), (["--", "list"], ["--", "list"]),
        ])
    func order(arguments: [String], expected: [String]) {
        var options = CommandOptions(
            name: "download", takesValue: ["quiet": false, "verbose": false, "output": true, "timeout": true])
        options.letters = ["q": "quiet", "v": "verbose", "o": "output"]
        let restored = CommandOrder.restored(arguments, commands: ["download", "list"]) { [options] }
        #expect(restored == expected)
    }

    @Test("an existing file takes precedence, and blanks around a URL are ignored")
    func location() throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "example.com")
        #expect(try InputLocation.url(of: "localhost/x.m3u8", in: folder.path) == "http://localhost/x.m3u8")
        #expect(try InputLocation.url(of: " https://h/a b\n", in: "/") == "https://h/a b")
        #expect(try InputLocation.url(of: "\t/a.m3u8 ", in: "/") == "file:///a.m3u8")
        #expect(throws: ArgumentValueError.self) { try InputLocation.url(of: "  ", in: "/") }
        #expect(try InputLocation.url(of: "\(folder.path)/example.com", in: "/") == "file://\(folder.path)/example.com")
    }
}
