import Foundation
import TestSupport
import Testing

@Suite("hlsget download --refresh-cmd", .ownThread, .timeLimit(.minutes(10)))
struct DownloadRefreshTests {
    /// Returns a server with three segments at `/TOKEN/…`. With the token `old`, all but the first one are forbidden.
    private static func origin() throws -> ScriptedServer {
        let files = try OddOrigin.cutSample()
        return try ScriptedServer(answering: { connection, request in
            let words = request.first?.split(separator: " ") ?? []
            let path = words.count > 1 ? words[1].split(separator: "/").map(String.init) : []
            guard path.count == 2, let bytes = files[path[1]] else {
                return connection.respond([], status: "404 Not Found")
            }
            let isGone = path[0] == "old" && ["1.m4s", "2.m4s"].contains(path[1])
            connection.respond(isGone ? Array("no".utf8) : bytes, status: isGone ? "403 Forbidden" : "200 OK")
        })
    }

    @Test("expired URLs are refreshed and continued, and stored media is not loaded again")
    func refreshed() async throws {
        let folder = try ScratchFolder()
        let server = try Self.origin()
        defer { server.stop() }
        let whole = try await hlsget("download", "-o", "a.ts", "\(server.url)/new/v.m3u8", in: folder)
        #expect(whole.status == 0, "\(whole.errors)")
        let count = server.requests.count
        let result = try await hlsget(
            "download", "--connections", "1", "-o", "b.ts", "--refresh-cmd",
            "echo asked >&2; echo \"$HLSGET_URL\" | sed s/old/new/", "\(server.url)/old/v.m3u8", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("asked") && !result.errors.contains("from an earlier run"), "\(result.errors)")
        let paths = server.requests.dropFirst(count).compactMap { $0.first?.split(separator: " ").dropFirst().first }
        #expect(paths.filter { $0.hasSuffix("/0.m4s") } == ["/old/0.m4s"])
        #expect(paths.contains("/new/1.m4s"))
        let bytes = ["a.ts", "b.ts"].map { FileManager.default.contents(atPath: "\(folder.path)/\($0)") }
        #expect(bytes[0] != nil && bytes[0] == bytes[1])
    }

    @Test(
        "if the command fails, or its URL has expired, too, the download ends with the refusal",
        arguments: ["exit 5", "echo \"$HLSGET_URL\""])
    func failing(command: String) async throws {
        let folder = try ScratchFolder()
        let server = try Self.origin()
        defer { server.stop() }
        let result = try await hlsget(
            "download", "-o", "b.ts", "--refresh-cmd", command, "\(server.url)/old/v.m3u8", in: folder)
        #expect(result.status == 3, "\(result.errors)")
        #expect(
            result.errors.contains("the server denied access") && result.errors.contains("403"), "\(result.errors)")
    }
}
