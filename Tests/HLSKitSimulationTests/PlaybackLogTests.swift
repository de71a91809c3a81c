import HLSKitCore
import HLSKitSimulation
import Logging
import Synchronization
import Testing

@Suite("What a player tells the program's logger", .timeLimit(.minutes(1)))
struct PlaybackLogTests {
    /// Keeps what is logged.
    private final class Notebook: Sendable {
        struct Line: Sendable {
            var level: Logger.Level
            var message: String
            var metadata: Logger.Metadata
        }

        private let content = Mutex<[Line]>([])
        var lines: [Line] { content.withLock { $0 } }
        func add(_ line: Line) { content.withLock { $0.append(line) } }

        func logger(_ level: Logger.Level) -> Logger {
            Logger(label: "test", factory: { _ in Handler(notebook: self, logLevel: level) })
        }
    }

    private struct Handler: LogHandler {
        let notebook: Notebook
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            notebook.add(
                Notebook.Line(
                    level: event.level, message: event.message.description,
                    metadata: metadata.merging(event.metadata ?? [:]) { $1 }))
        }
    }

    private static let secret = "SECRET"

    /// Plays an item, whose URL carries secrets, to its end.
    private func play(_ name: String, level: Logger.Level) throws -> Notebook {
        let notebook = Notebook()
        let queue = try VirtualQueue(["a": 8]) { $0.logger = notebook.logger(level) }
        let item = PlayerItem(url: "https://\(name).invalid/index.m3u8?token=\(Self.secret)#x")
        let player = try QueuePlayer(items: [item], configuration: queue.configuration)
        player.play()
        queue.clock.advance(by: .seconds(30))
        withExtendedLifetime(player) {}
        return notebook
    }

    @Test("each level logs what it is for, each line whose it is, and none a secret")
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
        // Nothing at info and above while all goes well.
        #expect(try play("a", level: .info).lines.isEmpty)
        #expect(try play("a", level: .debug).lines.allSatisfy { $0.level == .debug })
    }

    @Test("a failed item is an error, once, with its URL and cause")
    func failure() throws {
        let errors = try play("missing", level: .error).lines
        #expect(errors.count == 1)
        let error = try #require(errors.first)
        #expect(error.message == "the item failed")
        #expect("\(error.metadata["code"] ?? "")" == "notFound")
        #expect("\(error.metadata["url"] ?? "")" == "https://missing.invalid/index.m3u8")
        #expect(!"\(error.metadata)".contains(Self.secret))
    }
}
