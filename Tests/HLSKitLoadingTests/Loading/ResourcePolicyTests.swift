import Foundation
import TestSupport
import Testing

@testable import HLSKitLoading

@Suite("Resources that a playlist may name")
struct ResourcePolicyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var source: String?
        var target: String
        var resourceClass = ResourceClass.segment
        var allowsFilesAnywhere = false
        /// The expected error, or `nil` if the access is allowed.
        var refusal: LoadingError.Code?

        var testDescription: String {
            "\(source ?? "the user") names \(target) (\(resourceClass))\(allowsFilesAnywhere ? ", files anywhere" : "")"
        }
    }

    static let net = "https://a.example/m.m3u8"
    static let file = "file:///home/me/hls/m.m3u8"

    static let cases: [Case] = [
        // URLs that the user names.
        .init(target: "https://a.example/m.m3u8"), .init(target: "HTTP://a.example/"), .init(target: "file:///etc/x"),
        .init(target: "concat:file:///a", refusal: .refused), .init(target: "m.m3u8", refusal: .badURL),
        .init(target: "data:,x", refusal: .refused),
        // R55, R56: URLs in a playlist from the network.
        .init(source: net, target: "http://b.example/s.ts"), .init(source: net, target: "https://b.example/s.ts"),
        .init(source: net, target: "file:///etc/passwd", refusal: .refused),
        .init(source: net, target: "FILE:/etc/passwd", refusal: .refused),
        .init(source: net, target: "file:///home/me/hls/s.ts", allowsFilesAnywhere: true, refusal: .refused),
        .init(source: net, target: "concat:file:///etc/passwd|x", refusal: .refused),
        .init(source: net, target: "subfile:,,start,0,end,9,,:/etc/passwd", refusal: .refused),
        .init(source: net, target: "crypto+file:///etc/passwd", refusal: .refused),
        .init(source: net, target: "rtmp://a.example/x", refusal: .refused),
        .init(source: net, target: "ftp://a.example/x", refusal: .refused),
        .init(source: net, target: "gopher://a.example/x", refusal: .refused),
        .init(source: net, target: "tcp://a.example:1", refusal: .refused),
        .init(source: net, target: "javascript:x", refusal: .refused),
        .init(source: net, target: "http://a\u{0}b/", refusal: .badURL),
        .init(source: net, target: "s.ts", refusal: .badURL),
        // R54.
        .init(source: net, target: "data:;base64,AAAAAAAAAAAAAAAAAAAAAA==", resourceClass: .key),
        .init(source: net, target: "data:,x", resourceClass: .segment, refusal: .refused),
        .init(source: net, target: "data:,x", resourceClass: .mediaPlaylist, refusal: .refused),
        .init(source: net, target: "data:,x", resourceClass: .initializationSection, refusal: .refused),
        // URLs in a playlist from a file.
        .init(source: file, target: "https://a.example/s.ts"),
        .init(source: file, target: "file:///home/me/hls/s.ts"),
        .init(source: file, target: "file://localhost/home/me/hls/sub/s.ts"),
        .init(source: file, target: "file:///home/me/hls/missing.ts", refusal: .fileNotFound),
        .init(source: file, target: "file:///home/me/missing.ts", refusal: .refused),
        .init(source: file, target: "file:///home/me/hls/../missing.ts", refusal: .refused),
        .init(source: file, target: "file:///home/me/hls-other/s.ts", refusal: .refused),
        .init(source: file, target: "file:///etc/passwd", refusal: .refused),
        .init(source: file, target: "file:///home/me/hls/link.ts", refusal: .refused),
        .init(source: file, target: "file:///home/me/hls/%2e%2e/secret", refusal: .refused),
        .init(source: file, target: "file://server/home/me/hls/s.ts", refusal: .refused),
        .init(source: file, target: "file:///etc/passwd", allowsFilesAnywhere: true),
        .init(source: file, target: "rtmp://a/x", allowsFilesAnywhere: true, refusal: .refused),
        .init(source: file, target: "data:,k", resourceClass: .key),
    ]

    static let paths = [
        "/home/me/hls/s.ts": "/home/me/hls/s.ts", "/home/me/hls/sub/s.ts": "/home/me/hls/sub/s.ts",
        "/home/me/hls-other/s.ts": "/home/me/hls-other/s.ts", "/etc/passwd": "/etc/passwd",
        "/home/me/hls/link.ts": "/etc/shadow", "/home/me/hls/../secret": "/home/me/secret",
    ]

    @Test("the rules decide each combination", arguments: cases)
    func rule(_ test: Case) {
        let policy = ResourcePolicy(
            rootFolder: test.source == Self.file ? "/home/me/hls" : nil, allowsFilesAnywhere: test.allowsFilesAnywhere)
        var code: LoadingError.Code?
        do {
            try policy.check(test.target, resourceClass: test.resourceClass, namedBy: test.source) { Self.paths[$0] }
        } catch { code = error.code }
        #expect(code == test.refusal)
    }

    @Test("a network playlist named by a file cannot reference files")
    func chain() {
        let policy = ResourcePolicy(rootFolder: "/home/me/hls", allowsFilesAnywhere: true)
        #expect(throws: LoadingError.self) {
            try policy.check("file:///home/me/hls/s.ts", resourceClass: .segment, namedBy: Self.net) { $0 }
        }
    }

    @Test("symbolic links are resolved on disk before the folder is compared")
    func disk() throws {
        let (inside, outside) = (try ScratchFolder(), try ScratchFolder())
        let playlist = try inside.write([1], to: "m.m3u8")
        try inside.write([1], to: "sub dir/s.ts")
        let secret = try outside.write([1], to: "secret")
        try FileManager.default.createSymbolicLink(atPath: inside.path + "/link", withDestinationPath: secret)
        try FileManager.default.createSymbolicLink(
            atPath: outside.path + "/way-in.m3u8", withDestinationPath: playlist)
        let url = "file://" + outside.path + "/way-in.m3u8"
        let policy = ResourcePolicy.forItem(at: url)
        #expect(policy.rootFolder == inside.path)
        #expect(throws: Never.self) {
            try policy.check("file://\(inside.path)/sub%20dir/s.ts", resourceClass: .segment, namedBy: url)
        }
        #expect(throws: LoadingError.self) {
            try policy.check("file://\(inside.path)/link", resourceClass: .segment, namedBy: url)
        }
        #expect(ResourcePolicy.forItem(at: Self.net).rootFolder == nil)
    }

    @Test("a user's file may name itself, even if deleted, and nothing next to it")
    func itself() throws {
        var policy = ResourcePolicy.forItem(at: "file:///proc/self/fd/987")
        #expect(throws: Never.self) {
            try policy.check(
                "file:///proc/self/fd/987#part", resourceClass: .segment, namedBy: "file:///proc/self/fd/987",
                realPath: { _ in nil })
        }
        #expect(throws: LoadingError.self) {
            try policy.check(
                "file:///proc/self/fd/98", resourceClass: .segment, namedBy: "file:///proc/self/fd/987",
                realPath: { _ in nil })
        }
        policy = ResourcePolicy.forItem(at: "https://a.example/m.m3u8")
        #expect(throws: LoadingError.self) {
            try policy.check("file:///proc/self/fd/987", resourceClass: .segment, namedBy: "https://a.example/m.m3u8")
        }
    }
}
