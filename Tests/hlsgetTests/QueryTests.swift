import HLSKitCore
import Synchronization
import TestSupport
import Testing

@testable import HLSGetKit

@Suite("hlsget --query", .ownThread, .timeLimit(.minutes(10)))
struct QueryTests {
    @Test(
        "a parameter is encoded, and one without a name is refused",
        arguments: [
            ("a=b", "a=b"), ("token=a b&c=d/é", "token=a%20b%26c%3Dd%2F%C3%A9"), ("a=", "a="), ("a", nil), ("=b", nil),
        ] as [(String, String?)])
    func encoding(text: String, expected: String?) {
        #expect((try? QueryArgument.encoded(text)) == expected)
    }

    @Test(
        "parameters come before the URL's own, and before its fragment",
        arguments: [
            ("http://a/b", "http://a/b?x=1&y=2"), ("http://a/b?c=d", "http://a/b?x=1&y=2&c=d"),
            ("http://a/b?c=d#e?f", "http://a/b?x=1&y=2&c=d#e?f"), ("http://a/b?#e", "http://a/b?x=1&y=2#e"),
        ])
    func url(_ url: String, expected: String) {
        #expect(QueryTransport.url(url, with: ["x=1", "y=2"]) == expected)
    }

    @Test("D02: requests of every class have them in play, download and inspect, except other hosts")
    func requests() async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        let foreign = FaultyOrigin(files)
        try await withServer(answering: foreign.answer) { elsewhere in
            var own = files
            let list = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self)
            own["v.m3u8"] = Array(list.replacing("v0.m4s", with: "\(elsewhere.url)/v0.m4s").utf8)
            let origin = FaultyOrigin(own)
            try await withServer(answering: origin.answer) { server in
                let url = "\(server.url)/master.m3u8"
                for arguments in [["--fast", "--no-decode"], ["download", "-o", "a.mp4"], ["inspect"]] {
                    let count = server.requests.count
                    let result = try await hlsget(arguments + ["--query", "token=S3CRET", url], in: folder)
                    #expect(result.status == 0, "\(result.errors)")
                    let paths = server.requests.dropFirst(count).compactMap(Self.path)
                    #expect(!paths.isEmpty && paths.allSatisfy { $0.contains("?token=S3CRET") }, "\(paths)")
                    #expect(!result.errors.contains("S3CRET"), "\(result.errors)")
                }
            }
            let paths = elsewhere.requests.compactMap(Self.path)
            #expect(!paths.isEmpty && paths.allSatisfy { !$0.contains("token") }, "\(paths)")
        }
    }

    private static func path(_ request: [String]) -> String? {
        request.first?.split(separator: " ").dropFirst().first.map(String.init)
    }
}
