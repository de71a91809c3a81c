import HLSKitTime
import Testing

@testable import HLSKitLoading
@testable import HLSKitNetwork

@Suite("Digest credentials")
struct DigestChallengeTests {
    private static func login(_ text: String) throws -> DigestChallenge.Login {
        let field = TransportField(name: "Authorization", value: "Basic " + Base64.encoded(Array(text.utf8)))
        return try #require(DigestChallenge.Login(field))
    }

    private static func fields(_ values: [String]) -> [TransportField] {
        values.map { TransportField(name: "www-authenticate", value: $0) }
    }

    /// The example of RFC 7616 §3.9.1.
    private static let example =
        #"realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v""#

    @Test(
        "responses match RFC 7616 and RFC 2069, with the strongest requested algorithm",
        arguments: [
            (["Digest \(example), algorithm=MD5"], "8ca523f5e9506fed4657c9700eebdbec"),
            (
                ["Digest \(example), algorithm=MD5", "Digest \(example), algorithm=SHA-256"],
                "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
            ),
            (["Basic realm=\"x\", Digest \(example)"], "8ca523f5e9506fed4657c9700eebdbec"),
            (
                ["Digest \(example), algorithm=SHA-512-256", "Digest \(example), algorithm=SHA-256"],
                "430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d960d0"
            ),
            (["Digest realm=\"x\", nonce=\"y\", qop=\"auth-int\""], "99962ffd8cad0b2d94118eebeace1e70"),
            (["Digest \(example), algorithm=SHA-512"], nil), (["Digest realm=\"x\""], nil), (["Basic"], nil),
            (["Digest realm=\"x\", nonce=\"y\", qop=\"token\""], nil), (["Digest realm=\"x\\"], nil), ([""], nil),
            ([",=\"\",,Digest"], nil),
        ] as [([String], String?)])
    func answers(_ values: [String], _ response: String?) throws {
        var challenge = DigestChallenge(Self.fields(values))
        let field = challenge?.authorization(
            try Self.login("Mufasa:Circle of Life"), method: "GET", target: "/dir/index.html",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect((field == nil) == (response == nil))
        guard let response, let field else { return }
        #expect(field.value.contains("response=\"\(response)\"") && field.value.contains("nc=00000001"))
        #expect(!field.value.contains("Circle"))
    }

    @Test("each response to a challenge has its own number, or none if the server has no qop")
    func counting() throws {
        let login = try Self.login("Mufasa:Circle Of Life")
        var challenge = try #require(DigestChallenge(Self.fields(["Digest \(Self.example)"])))
        for number in 1...3 {
            let answer = challenge.authorization(login, method: "GET", target: "/")
            let field = try #require(answer)
            #expect(field.value.contains("nc=0000000\(number)"))
        }
        let old = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc""#
        var plain = try #require(DigestChallenge(Self.fields([old])))
        let answer = plain.authorization(login, method: "GET", target: "/dir/index.html")
        let field = try #require(answer)
        #expect(
            field.value == #"Digest username="Mufasa", realm="testrealm@host.com", "#
                + #"nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", uri="/dir/index.html", "#
                + #"response="670fd8c2df070c60b045671b8b24ff02", opaque="5ccc""#)
    }

    @Test("other credentials are not used as a login", arguments: ["Bearer x", "Basic", "Basic !", "Basic eA=="])
    func others(_ value: String) {
        #expect(DigestChallenge.Login(TransportField(name: "Authorization", value: value)) == nil)
    }
}
