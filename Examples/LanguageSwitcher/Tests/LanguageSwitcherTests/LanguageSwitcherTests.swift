import Foundation
import Testing

@testable import LanguageSwitcher

@Suite("A stream in all its languages", .timeLimit(.minutes(10)))
struct LanguageSwitcherTests {
    @Test("each language is played in turn, without a wait")
    func sample() async throws {
        let sample = URL(fileURLWithPath: #filePath + "/../../../../../Tests/Fixtures/sample").standardized
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: sample, to: folder)
        // The sample has one language, so its audio also serves as the second one.
        let master = folder.appendingPathComponent("master.m3u8")
        let text = try String(contentsOf: master, encoding: .utf8)
        let german =
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"Deutsch\",LANGUAGE=\"de\",CHANNELS=\"2\",URI=\"audio-de.m3u8\""
        try text.replacing("#EXT-X-MEDIA:TYPE=SUBTITLES", with: german + "\n#EXT-X-MEDIA:TYPE=SUBTITLES")
            .write(to: master, atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            at: folder.appendingPathComponent("audio-en.m3u8"), to: folder.appendingPathComponent("audio-de.m3u8"))
        // A busy machine may deliver a time some seconds late, but not after the whole turn of a language.
        var lines: [String] = []
        try await LanguageSwitcher.play(master.absoluteString, secondsEach: 10) { lines.append($0) }
        #expect(lines == ["0 s: English, playing", "10 s: Deutsch, playing", "0 stalls"])
    }
}
