import Foundation
import TestSupport
import Testing

@Suite("hlsget --refresh-cmd", .ownThread, .timeLimit(.minutes(10)))
struct RefreshTests {
    private static let playlist = "video-360p.m3u8"

    /// Serves the sample's files at `/TOKEN/…`. With the token `old`, everything after the first part of a file is
    /// forbidden.
    private static func serve(_ connection: ScriptedServer.Connection, _ request: [String]) {
        let words = request.first?.split(separator: " ") ?? []
        let path = words.count > 1 ? words[1].split(separator: "/").map(String.init) : []
        guard path.count == 2, let bytes = FileManager.default.contents(atPath: SampleMedia.folder + "/" + path[1])
        else { return connection.respond([], status: "404 Not Found") }
        let range = request.first { $0.lowercased().hasPrefix("range: bytes=") }?.dropFirst("range: bytes=".count)
        guard let bounds = range?.split(separator: "-").compactMap({ Int($0) }), bounds.count == 2 else {
            return connection.respond(bytes)
        }
        if path[0] == "old", bounds[0] > bytes.count / 3 {
            return connection.respond(Array("no".utf8), status: "403 Forbidden")
        }
        let end = min(bounds[1], bytes.count - 1)
        connection.respond(
            bytes[bounds[0]...end], status: "206 Partial Content",
            fields: ["Content-Range: bytes \(bounds[0])-\(end)/\(bytes.count)"])
    }

    @Test("D06: with --refresh-cmd every frame arrives as if no URL had expired")
    func refreshed() async throws {
        let folder = try ScratchFolder()
        let name = Self.playlist
        try await withServer(answering: Self.serve) { server in
            let whole = try await hlsget("--fast", "-o", "a.framemd5", "\(server.url)/new/\(name)", in: folder)
            #expect(whole.status == 0, "\(whole.errors)")
            let result = try await hlsget(
                "--fast", "-o", "b.framemd5", "--refresh-cmd", "echo asked >&2; echo \"$HLSGET_URL\" | sed s/old/new/",
                "\(server.url)/old/\(name)", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("asked"), "its standard error is passed on")
            let frames = try ["a", "b"].map {
                try String(contentsOfFile: folder.path + "/\($0).framemd5", encoding: .utf8)
            }
            #expect(frames[0] == frames[1])
        }
    }

    @Test("D06: with --refresh-cmd remuxed files equal an unexpired stream's, to the byte")
    func copied() async throws {
        let folder = try ScratchFolder()
        try await withServer(answering: Self.serve) { server in
            for (name, token) in [("a", "new"), ("b", "old")] {
                let result = try await hlsget(
                    "--fast", "-o", "\(name).ts", "--refresh-cmd", "echo \"$HLSGET_URL\" | sed s/old/new/",
                    "\(server.url)/\(token)/\(Self.playlist)", in: folder)
                #expect(result.status == 0, "\(result.errors)")
            }
            let files = ["a", "b"].map { FileManager.default.contents(atPath: "\(folder.path)/\($0).ts") }
            #expect(files[0]?.isEmpty == false)
            #expect(files[0] == files[1])
        }
    }

    @Test("D06: a failing command ends playback with the original failure", arguments: ["exit 5", "true"])
    func failing(_ command: String) async throws {
        let folder = try ScratchFolder()
        let name = Self.playlist
        try await withServer(answering: Self.serve) { server in
            let result = try await hlsget(
                "--fast", "--no-decode", "--refresh-cmd", command, "\(server.url)/old/\(name)", in: folder)
            #expect(result.status == 10, "\(result.errors)")
            #expect(result.errors.contains("403"))
            #expect(result.errors.contains(command))
        }
    }
}
