import Foundation
import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

@testable import hlsget

/// What `inspect` prints of the playlists in `Tests/Fixtures/playlists`, as it is checked in. With HLSKIT_REWRITE_GOLDEN
/// in the environment it is written first.
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

    @Test("the JSON output equals the checked-in JSON", arguments: names)
    func json(_ name: String) throws {
        let text = PlaylistJSON.document(try playlist(name)).text
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any])
        // A member a line, so that changes can be read.
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
