import HLSKitCore
import Testing

@Suite("Redaction of URLs")
struct RedactionTests {
    @Test(
        "only secrets are removed",
        arguments: [
            ("https://a.example/b.m3u8", "https://a.example/b.m3u8"),
            ("https://user:pass@a.example/b", "https://a.example/b"),
            ("https://a@b:c@a.example/b?d=e@f", "https://a.example/b?d=e@f"),
            ("https://a.example/c@d?e", "https://a.example/c@d?e"),
            ("//user@a.example/b", "//a.example/b"),
            ("https://a.example/b?n=1&token=abc&m=2", "https://a.example/b?n=1&token=...&m=2"),
            (
                "https://a.example/b?Policy=a/b~c&Signature=d&Key-Pair-Id=K",
                "https://a.example/b?Policy=...&Signature=...&Key-Pair-Id=K"
            ),
            (
                "https://a.example/b?X-Amz-Signature=1&X-Amz-Credential=2&X-Amz-Date=3",
                "https://a.example/b?X-Amz-Signature=...&X-Amz-Credential=...&X-Amz-Date=3"
            ),
            ("https://a.example/b?hdnts=exp=1~acl=/*~hmac=2#t=3", "https://a.example/b?hdnts=...#t=3"),
            ("https://a.example/hdntl=exp=1~acl=%2f*~hmac=2/b.ts", "https://a.example/hdntl=.../b.ts"),
            ("https://a.example/hdntl=exp=1~acl=/*~hmac=2/b.ts", "https://a.example/hdntl=.../*~hmac=.../b.ts"),
            ("https://a.example/b#access_token=1&x=2", "https://a.example/b#access_token=...&x=2"),
            ("https://a.example/b;sid=1?sig=", "https://a.example/b;sid=...?sig=..."),
            ("https://a.example/b?design=1&signal=2&tokens=3", "https://a.example/b?design=1&signal=2&tokens=3"),
            ("data:text/plain;base64,AAAA", "data:..."), ("", ""), ("=", "="), ("?token", "?token"),
        ])
    func urls(url: String, written: String) {
        #expect(Redaction.url(url) == written)
        #expect(Redaction.url(written) == written, "again")
    }

    @Test("a text keeps the words around its URLs")
    func texts() {
        let text =
            "cannot load \"https://u:p@a.example/b?sig=1&n=2\" (token=3; see https://c.example/?a=b, mail d@e.example)"
        #expect(
            Redaction.text(text)
                == "cannot load \"https://a.example/b?sig=...&n=2\" (token=...; see https://c.example/?a=b, mail d@e.example)"
        )
    }

    @Test("a URL without its query contains no secret either")
    func withoutQuery() {
        #expect(Redaction.urlWithoutQuery("https://u@a.example/hdnts=1/b?c=d#e") == "https://a.example/hdnts=.../b")
    }

    @Test("errors contain no secrets, whoever makes them")
    func errors() {
        let url = "https://u:p@a.example/b?token=t"
        let player = HLSError(code: .network, urlString: url, cause: "no \(url)", detail: "at \(url)")
        #expect(
            player.description
                == "no https://a.example/b?token=...: https://a.example/b?token=... (at https://a.example/b?token=...)")
        let loading = LoadingError(code: .transport, url: url, text: "redirected to \(url)")
        #expect(loading.description == "https://a.example/b?token=...: redirected to https://a.example/b?token=...")
        #expect(loading.url == "https://a.example/b?token=t", "what was asked for")
    }
}
