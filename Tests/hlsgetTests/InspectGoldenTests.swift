import Foundation
import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

@testable import hlsget

/// Compares the output of `inspect` for the playlists in `Tests/Fixtures/playlists` with golden files. If
/// HLSKIT_REWRITE_GOLDEN is set, the test writes the files first.
@Suite("Golden files of inspect") struct InspectGoldenTests {
    static let folder = SampleMedia.fixtures + "/playlists"
    static let names = [
        "film", "film-video", "frames", "live-news", "low-latency", "low-latency-delta", "event-interstitials",
        "steered",
    ]

    private func playlist(_ name: String) throws -> Playlist {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name).m3u8"))
        return try Playlist(parsing: Array(bytes), url: "https://example.com/x/\(name).m3u8")
    }

    private func golden(_ text: String, _ file: String) throws -> String {
        let url = URL(fileURLWithPath: "\(Self.folder)/\(file)")
        if ProcessInfo.processInfo.environment["HLSKIT_REWRITE_GOLDEN"] != nil { try Data(text.utf8).write(to: url) }
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    @Test("the text output equals the checked-in text", arguments: names)
    func table(_ name: String) throws {
        let text = PlaylistTable.text(try playlist(name))
        #expect(try golden(text, name + ".txt") == text)
    }

    @Test("a long playlist has its ends and a summary, unless all segments are wanted")
    func longPlaylist() throws {
        let segments = (0..<1000).map { "#EXT-X-MAP:URI=\"\($0).mp4\"\n#EXTINF:4,\n\($0).m4s\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n"
        let playlist = try Playlist(parsing: Array(text.utf8), url: "https://h/a.m3u8")
        let short = PlaylistTable.text(playlist)
        #expect(short.contains("3600.000 s") && short.contains("900 more segments; --all lists them"))
        #expect(short.contains(" 49.m4s"))
        #expect(!short.contains(" 50.m4s") && short.contains(" 950.m4s") && short.contains("... 900 more"))
        #expect(short.split(separator: "\n").count < 220)
        let all = PlaylistTable.text(playlist, limit: .max)
        #expect(all.contains(" 500.m4s") && all.contains("500.mp4") && !all.contains("..."))
    }

    @Test("the JSON output equals the checked-in JSON", arguments: names)
    func json(_ name: String) throws {
        let text = PlaylistJSON.document(try playlist(name)).text
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any])
        // One member per line keeps changes readable.
        let lines = text.replacing(",{", with: ",\n{") + "\n"
        #expect(try golden(lines, name + ".json") == lines)
    }

    @Test("the playlists have no lint errors, and are written unchanged", arguments: names)
    func clean(_ name: String) throws {
        let playlist = try playlist(name)
        #expect(playlist.issues.isEmpty)
        #expect(!playlist.lint().contains { $0.issue.severity == .error }, "\(playlist.lint())")
        #expect(playlist.text == Array(try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name).m3u8"))))
    }
}
