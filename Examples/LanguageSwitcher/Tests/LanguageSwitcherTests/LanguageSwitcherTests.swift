import Foundation
import HLSKitCore
import HLSKitSimulation
import Testing

@testable import LanguageSwitcher

@Suite("A stream in all its languages", .timeLimit(.minutes(10)))
struct LanguageSwitcherTests {
    private static let folder = URL(fileURLWithPath: #filePath + "/../../../../../Tests/Fixtures/sample").standardized

    /// Returns a file of the bundled sample. It has one language, so its audio also serves as the second one.
    private static func file(_ name: String) throws -> [UInt8] {
        let german =
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"Deutsch\",LANGUAGE=\"de\",CHANNELS=\"2\",URI=\"audio-de.m3u8\""
        let file = folder.appendingPathComponent(name == "audio-de.m3u8" ? "audio-en.m3u8" : name)
        guard name == "master.m3u8" else { return Array(try Data(contentsOf: file)) }
        let text = try String(contentsOf: file, encoding: .utf8)
        return Array(text.replacing("#EXT-X-MEDIA:TYPE=SUBTITLES", with: german + "\n#EXT-X-MEDIA:TYPE=SUBTITLES").utf8)
    }

    @Test("each language is played in turn, without a wait")
    func sample() throws {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            let name = String(request.urlString.split(separator: "/").last ?? "")
            return (try? Self.file(name)).map { SimulatedResponse(body: $0) } ?? .notFound
        }
        let options = AssetOptions(clock: clock, transport: transport)
        let asset = Asset(urlString: "http://stream/master.m3u8", options: options)
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let lines = try clock.run {
            var lines: [String] = []
            try await LanguageSwitcher.play(asset, in: player, secondsEach: 10) { lines.append($0) }
            return lines
        }
        #expect(lines == ["0 s: English, playing", "10 s: Deutsch, playing", "0 stalls"])
    }
}
