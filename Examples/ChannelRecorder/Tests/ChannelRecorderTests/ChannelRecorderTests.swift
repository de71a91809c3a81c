import Foundation
import HLSKitCore
import HLSKitObservability
import HLSKitSimulation
import ServiceLifecycleTestKit
import Testing

@testable import ChannelRecorder

@Suite("A channel in hourly files", .timeLimit(.minutes(10)))
struct ChannelRecorderTests {
    /// 2026-11-27, 20:58 UTC.
    static let start = Date(timeIntervalSince1970: 1_795_813_080)

    let folder = FileManager.default.temporaryDirectory.path + "/recorder-\(UUID().uuidString)"

    private func files() -> [String] {
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.contains(".ts") }.sorted()
    }

    private func size(_ file: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)"))?[.size] as? Int ?? 0
    }

    private func record(
        for duration: Duration, failing outage: ClosedRange<Int>? = nil,
        during body: @escaping @Sendable () -> Void = {}
    ) throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(
            bitRates: [50_000], segmentDuration: .seconds(4), segmentCount: 10_000, liveWindow: 6)
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 5_000_000, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            outage?.contains(Int(request.time.components.seconds)) == true ? .status(503) : stream.response(to: request)
        }
        var recorder = Recorder(options: try RecorderOptions([folder, "news=\(stream.urlString)"]))
        recorder.configuration = PlayerConfiguration(clock: clock, transport: transport)
        recorder.now = { Self.start.addingTimeInterval(Double(clock.now.offset.components.seconds)) }
        var configuration = PlayerGroup.Configuration()
        configuration.clock = SourceClock(clock)
        let group = PlayerGroup(configuration: configuration)
        try group.add(recorder.member(for: recorder.options.channels[0]))
        try clock.run {
            try await testGracefulShutdown { trigger in
                let task = Task(executorPreference: clock) { try await group.run() }
                try await clock.sleep(for: duration)
                body()
                trigger.triggerGracefulShutdown()
                try await task.value
            }
        }
    }

    @Test("files end on the hour, are named by their start, and are complete when the service ends")
    func hours() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try record(for: .seconds(180)) { [self] in
            let now = self.files()
            #expect(now.count == 2)
            #expect(now.last?.hasSuffix(".part") == true)
        }
        let files = self.files()
        #expect(files.count == 2)
        #expect(files.allSatisfy { $0.hasPrefix("news/2026-11-27/") && $0.hasSuffix(".ts") })
        #expect(files.first == "news/2026-11-27/20-58-00.ts")
        // The second file begins within one segment of the full hour.
        let second = try #require(files.last.flatMap { FileNames.date(ofFile: $0) })
        let late = second.timeIntervalSince(Self.start) - 120
        #expect(late >= 0 && late < 8)
        // At 50 kbit/s, 120 s and about 60 s of media.
        #expect(size(files[0]) > 600_000 && size(files[1]) > 200_000)
    }

    @Test("a channel that fails is recorded in another file when it returns")
    func failure() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try record(for: .seconds(150), failing: 20...80)
        let files = self.files()
        #expect(files.count >= 2)
        #expect(files.allSatisfy { $0.hasSuffix(".ts") })
        #expect(files.allSatisfy { size($0) > 50_000 })
    }

    @Test("an empty file is removed, and a file with media is kept")
    func empty() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in [("a.ts.part", "x"), ("b.ts.part", ""), ("c.ts", "")] {
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
            let begun = BegunFiles()
            begun.removeEmpty()
            begun.note("\(folder)/\(name.prefix(4))")
            begun.removeEmpty()
        }
        #expect(files() == ["a.ts.part", "c.ts"])
    }

    @Test("only old files are removed, by the date in their names")
    func retention() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let old = [
            "news/2026-11-20/10-00-00.ts", "news/2026-11-20/11-00-00.ts", "news/2026-11-26/20-00-00.ts",
            "news/2026-11-20/11-00-00-2.ts", "news/2026-11-19/09-00-00.ts.part",
        ]
        let kept = [
            "news/2026-11-26/21-00-00.ts", "news/2026-11-27/20-00-00.ts", "news/2026-11-26/notes.txt",
            "news/2026-11-18/other.ts", "sports/2026-11-20/10-00-00.ts",
        ]
        for path in old + kept {
            let url = URL(filePath: "\(folder)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: url)
        }
        let now = Self.start
        Retention(folder: folder, channels: ["news"], age: .seconds(86_400), now: { now }).sweep()
        for path in old { #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(path)"), "\(path)") }
        for path in kept { #expect(FileManager.default.fileExists(atPath: "\(folder)/\(path)"), "\(path)") }
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/news/2026-11-20"))
    }

    @Test("the day is split into pieces from midnight on")
    func pieces() {
        func rest(_ minutes: Int, at seconds: Double) -> Duration {
            FileNames.rest(of: .seconds(minutes * 60), at: Date(timeIntervalSince1970: 1_795_737_600 + seconds))
        }
        #expect(rest(60, at: 0) == .seconds(3600))
        #expect(rest(60, at: 3599.5) == .milliseconds(500))
        #expect(rest(15, at: 3601) == .seconds(899))
        #expect(rest(1440, at: 86_000) == .seconds(400))
        #expect(rest(420, at: 80_000) == .seconds(6400))
    }

    @Test("the command line names a folder, channels, an age and a length")
    func options() throws {
        let options = try RecorderOptions([
            "--keep", "7", "--every", "30", "/r", "a=https://x/1", "b-2=https://x/2?c=d",
        ])
        #expect(options.folder == "/r" && options.age == .seconds(7 * 86_400) && options.length == .seconds(1800))
        #expect(options.channels.map(\.name) == ["a", "b-2"])
        #expect(options.channels[1].url == "https://x/2?c=d")
        let mistakes = [
            [], ["/r"], ["/r", "a"], ["/r", "../a=u"], ["/r", "a=1", "a=2"], ["--keep", "x", "/r", "a=u"],
            ["--every", "0", "/r", "a=u"], ["--what", "/r", "a=u"],
        ]
        for mistake in mistakes { #expect(throws: RecorderOptions.Mistake.self) { try RecorderOptions(mistake) } }
    }
}
