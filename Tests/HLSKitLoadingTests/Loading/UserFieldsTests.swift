import Testing

@testable import HLSKitLoading

@Suite("Header fields per origin (R59)")
struct UserFieldsTests {
    private static let own = "https://own.example/a.m3u8"

    private static func request(_ fields: [TransportField], url: String = own) -> TransportRequest {
        TransportRequest(
            urlString: url, resourceClass: .segment, fields: fields,
            credentialOrigins: Set([URLOrigin(of: own)].compactMap(\.self)))
    }

    @Test(
        "another scheme, host or port is another origin",
        arguments: [
            ("https://own.example/b", true), ("https://own.example:443/b", true), ("https://OWN.example/b", true),
            ("http://own.example/b", false), ("https://own.example:8443/b", false), ("https://cdn.own.example/", false),
        ])
    func origins(url: String, isOwn: Bool) throws {
        let origin = try #require(URLOrigin(of: url))
        let sent = UserFields.sent(Self.request([TransportField(name: "X-Token", value: "s")]), to: origin)
        #expect(sent.map(\.name) == (isOwn ? ["X-Token"] : []))
    }

    @Test(
        "fields without secrets go everywhere, a Referer as its origin, and nothing else",
        arguments: [
            ("User-Agent", "u", "u"), ("accept", "*/*", "*/*"), ("Accept-Language", "de", "de"),
            ("CMCD-Request", "bl=1", "bl=1"), ("Origin", "https://site.example", "https://site.example"),
            ("Referer", "https://u:p@site.example:8443/p?token=s", "https://site.example:8443/"),
            ("Referer", "secret", nil), ("X-Api-Key", "s", nil), ("Authorization", "s", nil), ("cookie", "a=b", nil),
            ("Proxy-Authorization", "s", nil), ("X-Forwarded-For", "10.0.0.1", nil),
        ] as [(String, String, String?)])
    func foreign(name: String, value: String, sent: String?) throws {
        let origin = try #require(URLOrigin(of: "https://cdn.example/"))
        let fields = UserFields.sent(Self.request([TransportField(name: name, value: value)]), to: origin)
        #expect(fields.map(\.value) == [sent].compactMap(\.self))
    }

    @Test("an app's fields for one request go to its URL's origin, except credentials")
    func ownFields() throws {
        var request = Self.request([TransportField(name: "X-Token", value: "all")], url: "https://cdn.example/s.ts")
        var changed = request
        changed.fields += [
            TransportField(name: "X-Cdn", value: "1"), TransportField(name: "Authorization", value: "s"),
        ]
        #expect(UserFields.names(addedTo: request, by: changed) == ["x-cdn", "authorization"])
        #expect(UserFields.names(addedTo: request, by: request).isEmpty)
        changed.ownFieldNames = UserFields.names(addedTo: request, by: changed)
        request = changed
        let cdn = try #require(URLOrigin(of: "https://cdn.example/"))
        #expect(UserFields.sent(request, to: cdn).map(\.name) == ["X-Cdn"])
        let elsewhere = try #require(URLOrigin(of: "https://elsewhere.example/"))
        #expect(UserFields.sent(request, to: elsewhere).isEmpty)
    }
}
