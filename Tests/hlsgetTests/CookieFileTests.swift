import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HLSGetKit

@Suite("Cookies exported by browsers")
struct CookieFileTests {
    private static let exported = """
        [{"domain":".example.com","name":"a","value":"1","path":"/p","secure":true,"httpOnly":true,"hostOnly":false,
          "expirationDate":1999999999.5,"session":false,"sameSite":"lax","storeId":"0"},
         {"domain":"h.example","name":"b","value":"x y"},
         {"domain":"h","name":"bad\\n","value":"v"}]
        """
    private static let lines = [
        "# Netscape HTTP Cookie File", "#HttpOnly_.example.com\tTRUE\t/p\tTRUE\t1999999999\ta\t1",
        "h.example\tFALSE\t/\tFALSE\t0\tb\tx y",
    ]

    @Test("a JSON list of cookies becomes cookies.txt, also inside an object")
    func lists() throws {
        let text = try CookieFile.netscape(fromJSON: Array(Self.exported.utf8))
        #expect(text.split(separator: "\n").map(String.init) == Self.lines)
        let state =
            #"{"cookies":[{"name":"c","value":"3","domain":"d.example","path":"/","expires":-1,"httpOnly":false,"secure":false}],"origins":[]}"#
        #expect(
            try CookieFile.netscape(fromJSON: Array(state.utf8)).hasSuffix("\nd.example\tFALSE\t/\tFALSE\t0\tc\t3\n"))
    }

    @Test("JSON without cookies is refused", arguments: ["[]", "{}", "[1]", #"{"cookies":[]}"#, "{"])
    func none(text: String) {
        #expect(throws: ArgumentValueError.self) { try CookieFile.netscape(fromJSON: Array(text.utf8)) }
    }

    @Test("other files are refused, and for a cookie itself the error says how to send it")
    func noCookies() throws {
        let folder = try ScratchFolder()
        let path = try folder.write(Array("sid=abc\n".utf8), to: "pasted.txt")
        #expect { try CookieFile.path(path) } throws: { "\($0)".contains("no cookies") }
        #expect { try CookieFile.path("sid=abc") } throws: { "\($0)".contains("-H 'Cookie: sid=…'") }
        let real = try folder.write(Array("h.example\tFALSE\t/\tFALSE\t0\tb\tx\n".utf8), to: "plain.txt")
        #expect(try CookieFile.path(real) == real)
    }

    @Test("the file's format is recognised, and its cookies are sent", .timeLimit(.minutes(10)))
    func sent() async throws {
        let folder = try ScratchFolder()
        let plain = try folder.write(Array("# Netscape HTTP Cookie File\n".utf8), to: "cookies.txt")
        #expect(try CookieFile.path(plain) == plain)
        let json = #"[{"domain":"127.0.0.1","name":"token","value":"secret","path":"/","hostOnly":true}]"#
        _ = try folder.write(Array(json.utf8), to: "cookies.json")
        let origin = FaultyOrigin(try CutStream.files(), [:])
        let seen = Mutex<[String]>([])
        try await withServer(answering: { connection, request in
            seen.withLock { $0 += request }
            origin.answer(connection, request)
        }) { server in
            let result = try await hlsget(
                "inspect", "--cookies-from-file", "cookies.json", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let lines = seen.withLock(\.self)
        #expect(lines.contains { $0.contains("token=secret") }, "\(lines)")
    }
}
