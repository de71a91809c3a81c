import Foundation
import HLSKitCore
import HLSKitSimulation
import Logging
import TestSupport
import Testing

@Suite("Player logging", .timeLimit(.minutes(10)))
struct PlaybackLogTests {
    private static let secret = "SECRET"

    private func play(_ name: String, level: Logger.Level) throws -> Notebook {
        let notebook = Notebook()
        let queue = try VirtualQueue(["a": 8]) { $0.logger = notebook.logger(level) }
        let item = PlayerItem(urlString: "https://\(name).invalid/index.m3u8?token=\(Self.secret)#x")
        let player = try QueuePlayer(items: [item], configuration: queue.configuration)
        player.play()
        queue.clock.advance(by: .seconds(30))
        withExtendedLifetime(player) {}
        return notebook
    }

    @Test("each level logs its own events, each line names its player, and none contains a secret")
    func levels() throws {
        let all = try play("a", level: .trace).lines
        let messages = Dictionary(grouping: all, by: \.level).mapValues { Set($0.map(\.message)) }
        #expect(messages[.trace]?.isSuperset(of: ["judged whether playback keeps up", "loaded a segment"]) == true)
        #expect(messages[.debug]?.isSuperset(of: ["time control changed", "the variant changed"]) == true)
        #expect(all.allSatisfy { "\($0.metadata["hls.item"] ?? "")" == "https://a.invalid/index.m3u8" })
        #expect(Set(all.map { "\($0.metadata["hls.session"] ?? "")" }).count == 1)
        #expect(!all.contains { "\($0.message) \($0.metadata)".contains(Self.secret) })
        let judged = try #require(all.first { $0.message == "judged whether playback keeps up" })
        for key in ["likely", "forward-seconds", "rate", "safe-bits-per-second", "bits-per-second"] {
            #expect(judged.metadata[key] != nil, "\(key)")
        }
        let reported = try play("a", level: .info).lines
        #expect(reported.isEmpty, "\(reported)")
        #expect(try play("a", level: .debug).lines.allSatisfy { $0.level == .debug })
    }

    @Test("O07: all log metadata is in the documentation's table, and nothing else is")
    func metadata() throws {
        let root = URL(filePath: SampleMedia.fixtures).appending(path: "../..").standardized
        let page = try String(
            contentsOf: root.appending(path: "Sources/HLSKitCore/Documentation.docc/Logging.md"), encoding: .utf8)
        let table = page.split(separator: "\n").drop { $0 != "| Key | Value |" }.dropFirst(2).prefix {
            $0.hasPrefix("| `")
        }
        let documented = Set(
            table.flatMap { row in
                (row.split(separator: "|").first ?? "").split(separator: "`").enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            })
        let source = try String(
            contentsOf: root.appending(path: "Sources/HLSKitPlayback/Logs/PlaybackLog.swift"), encoding: .utf8)
        let keys = source.matches(of: /"([a-z][a-z.\-]*)":|metadata(?:Key: |\[)"([a-z.\-]+)"/)
        let written = Set(keys.compactMap { $0.output.1 ?? $0.output.2 }.map(String.init))
        #expect(written == documented)
        let reported = Set(try play("a", level: .trace).lines.flatMap(\.metadata.keys))
        #expect(reported.count > 15 && reported.isSubset(of: documented))
    }

    @Test("a failed item is logged as an error once, with its URL and cause")
    func failure() throws {
        let errors = try play("missing", level: .error).lines
        #expect(errors.count == 1)
        let error = try #require(errors.first)
        #expect(error.message == "the item failed")
        #expect("\(error.metadata["code"] ?? "")" == "notFound")
        #expect("\(error.metadata["url"] ?? "")" == "https://missing.invalid/index.m3u8")
        #expect(!"\(error.metadata)".contains(Self.secret))
    }

    /// Replaces the samples of a fragmented MP4 file with noise.
    private static func damaged(_ file: [UInt8]) -> [UInt8] {
        var file = file
        var at = 0
        while at + 8 <= file.count {
            let size = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, at + size <= file.count else { break }
            if file[at + 4..<at + 8].elementsEqual("mdat".utf8) {
                for index in at + 8..<at + size { file[index] = UInt8(truncatingIfNeeded: index &* index &* 197 >> 3) }
            }
            at += size
        }
        return file
    }

    @Test("damaged media is logged once per kind of error, in the decoder's words")
    func damage() throws {
        let notebook = Notebook()
        let clock = VirtualClock()
        let network = NetworkTrace(constant: LinkConditions(bitsPerSecond: 10_000_000, latency: .milliseconds(20)))
        let audio = try Data(contentsOf: URL(filePath: "\(SampleMedia.folder)/audio-en.mp4"))
        let damaged = Self.damaged([UInt8](audio))
        let transport = SimulatedTransport(over: network, clock: clock) { request in
            let name = String(request.urlString.split(separator: "/").last ?? "")
            if name == "audio-en.mp4" { return SimulatedResponse(body: damaged) }
            guard let file = FileManager.default.contents(atPath: "\(SampleMedia.folder)/\(name)") else {
                return SimulatedResponse(status: 404)
            }
            return SimulatedResponse(body: [UInt8](file))
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodesWithoutOutput = [.video, .audio]
        configuration.decodingThreadCount = 1
        configuration.logger = notebook.logger(.info)
        let player = Player(configuration: configuration)
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: "https://sample.invalid/master.m3u8"))
        clock.advance(by: .seconds(20))
        let damagedCount = player.state.statistics.numberOfDamagedSamples
        try clock.run { await player.close() }
        let reported = notebook.lines.filter { $0.message == "media is damaged" }
        #expect(damagedCount > 100)
        #expect((1...16).contains(reported.count))
        #expect(Set(reported.map { "\($0.metadata["cause"] ?? "")" }).count == reported.count)
        #expect(reported.allSatisfy { $0.level == .info })
        let causes = reported.map { "\($0.metadata["cause"] ?? "")" }
        #expect(
            causes.filter { !$0.hasPrefix("aac: ") }.allSatisfy { $0.hasSuffix("the decoder was restarted") },
            "\(causes)"
        )
    }
}
