import Foundation
import HLSKitCore
import HLSKitSimulation
import TestSupport
import Testing

@Suite("Recording and replay", .timeLimit(.minutes(10)))
struct RecordingTests {
    private func record(to path: String) throws -> VirtualPlay {
        let clock = VirtualClock()
        let stream = SyntheticStream(segmentCount: 15)
        let base = SimulatedTransport(
            stream, over: try NetworkTrace(parsing: PlayerDeterminismTests.tunnel.utf8), clock: clock)
        let transport = try RecordingTransport(
            base: base, path: path, clock: clock, url: stream.urlString, options: ["--rate", "1"], tool: "test")
        let play = try VirtualPlay(stream.urlString, clock: clock, transport: transport)
        try transport.finish()
        return play
    }

    private func replay(_ recording: NetworkRecording) throws -> VirtualPlay {
        let clock = VirtualClock()
        return try VirtualPlay(recording.urlString, clock: clock, transport: ReplayTransport(recording, clock: clock))
    }

    @Test("a run in virtual time is replayed to the nanosecond")
    func exact() throws {
        let folder = try ScratchFolder()
        let play = try record(to: folder.path + "/r.jsonl")
        let recording = try NetworkRecording(contentsOfFile: folder.path + "/r.jsonl")
        #expect(recording.isComplete)
        #expect(recording.options == ["--rate", "1"])
        #expect(play.log.decisions.contains("stalled") || play.log.decisions.contains { $0.hasPrefix("variant 1") })
        let again = try replay(recording)
        #expect(again.log.text == play.log.text)
        #expect(try replay(recording).log.text == again.log.text)
    }

    @Test("a truncated recording is valid up to its last whole line")
    func cutOff() throws {
        let folder = try ScratchFolder()
        let play = try record(to: folder.path + "/r.jsonl")
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/r.jsonl")))
        let recording = try NetworkRecording(parsing: Array(bytes.prefix(bytes.count * 2 / 3)))
        #expect(!recording.isComplete)
        #expect(recording.duration > .zero)
        let again = try replay(recording)
        let known = again.log.lines.prefix { !$0.contains("recoverable") }
        #expect(known.count > 20)
        #expect(play.log.lines.prefix(known.count) == known)
    }

    struct BadText: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var text: String
        var error: String
        var line: Int?
    }

    private static let first = #"{"type":"recording","version":1,"url":"https://a.test/"}"# + "\n"
    private static let request =
        #"{"type":"request","id":1,"time_ns":0,"url":"https://a.test/","class":"segment"}"# + "\n"

    static let badTexts = [
        BadText(testDescription: "nothing", text: "", error: "no first line", line: 1),
        BadText(testDescription: "a playlist", text: "#EXTM3U\n", error: "not a recording", line: 1),
        BadText(testDescription: "a request first", text: request, error: "not a recording", line: 1),
        BadText(
            testDescription: "another version", text: #"{"type":"recording","version":2,"url":"x"}"# + "\n",
            error: "version 2", line: 1),
        BadText(
            testDescription: "two first lines", text: first + #"{"type":"recording","time_ns":0}"# + "\n",
            error: "second", line: 2),
        BadText(testDescription: "rubbish", text: first + "{}\n", error: "not a line", line: 2),
        BadText(testDescription: "no time", text: first + #"{"type":"close"}"# + "\n", error: "time_ns", line: 2),
        BadText(
            testDescription: "a negative time", text: first + #"{"type":"close","time_ns":-1}"# + "\n",
            error: "time_ns", line: 2),
        BadText(
            testDescription: "data of nobody", text: first + #"{"type":"data","id":1,"time_ns":0,"body":""}"# + "\n",
            error: "no earlier request", line: 2),
        BadText(testDescription: "a request twice", text: first + request + request, error: "unique id", line: 3),
        BadText(
            testDescription: "bad bytes",
            text: first + request + #"{"type":"data","id":1,"time_ns":0,"body":"*"}"# + "\n", error: "not a line",
            line: 3),
        BadText(
            testDescription: "too large a range",
            text: first
                + #"{"type":"request","id":1,"time_ns":0,"url":"x","class":"key","range_start":18446744073709551615,"range_length":2}"#
                + "\n", error: "range", line: 2),
    ]

    @Test("an invalid recording is refused with its line", arguments: badTexts)
    func refuses(_ test: BadText) {
        let error = #expect(throws: HLSError.self) { try NetworkRecording(parsing: Array(test.text.utf8)) }
        #expect(error?.detail == test.line.map { "line \($0)" })
        #expect(error?.text.contains(test.error) == true, "\(String(describing: error))")
    }

    @Test("neither user names, cookies nor header fields of requests are written")
    func secrets() throws {
        let folder = try ScratchFolder()
        let clock = VirtualClock()
        let base = SimulatedTransport(
            over: NetworkTrace(constant: LinkConditions(bitsPerSecond: 1e6)), clock: clock
        ) { _ in
            SimulatedResponse(fields: [TransportField(name: "Set-Cookie", value: "hush")], body: [1])
        }
        let transport = try RecordingTransport(
            base: base, path: folder.path + "/r", clock: clock, url: "https://me:hush@a.test/x")
        let request = TransportRequest(
            urlString: "https://me:hush@a.test/x", resourceClass: .segment,
            fields: [TransportField(name: "Authorization", value: "hush")])
        _ = transport.start(request) { _ in }
        clock.advance(by: .seconds(1))
        try transport.finish()
        let text = try String(contentsOfFile: folder.path + "/r", encoding: .utf8)
        #expect(text.contains("https://a.test/x"))
        #expect(!text.contains("hush"))
        var status = stat()
        #expect(stat(folder.path + "/r", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("an existing file is kept, a missing folder named")
    func files() throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "r")
        let base = SimulatedTransport(
            over: NetworkTrace(constant: LinkConditions(bitsPerSecond: 1e6)), clock: VirtualClock()
        ) { _ in .notFound }
        for path in ["r", "none/r"] {
            #expect(throws: HLSError.self) {
                try RecordingTransport(base: base, path: "\(folder.path)/\(path)", clock: VirtualClock(), url: "x")
            }
        }
    }

    @Test("a request missing in the recording fails with that reason in the log")
    func unknown() throws {
        let play = try replay(NetworkRecording(urlString: "https://a.test/index.m3u8"))
        #expect(play.log.decisions.last?.contains("item failed") == true, "\(play.log.text)")
        #expect(play.log.text.contains("the recording has no such request"))
    }

    @Test("the bandwidth of the link is recovered")
    func bandwidth() throws {
        let folder = try ScratchFolder()
        _ = try record(to: folder.path + "/r.jsonl")
        let text = try #require(try NetworkRecording(contentsOfFile: folder.path + "/r.jsonl").bandwidthTrace())
        let trace = try NetworkTrace(parsing: text.utf8)
        #expect(abs(trace.bitsPerSecond(at: 3000) - 6e6) < 1e6, "\(text)")
        #expect(trace.bitsPerSecond(at: 35_000) < 100_000, "\(text)")
        #expect(abs(trace.latency(at: 1000) - 40) <= 1)
        #expect(try NetworkRecording(parsing: Array(Self.first.utf8)).bandwidthTrace() == nil)
    }

    @Test(
        "a run over a real origin is replayed to the same decisions",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func realOrigin() async throws {
        let origin = try TestOrigin()
        try SampleMedia.copy(to: origin.root, as: "sample")
        let folder = try ScratchFolder()
        let path = folder.path + "/r.jsonl"
        let clock = ContinuousClock()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 2_000_000, latency: .milliseconds(20)))
        let transport = try RecordingTransport(
            base: ConditionedTransport(
                base: CurlTransport(configuration: .init(proxy: .none)), trace: link, clock: clock),
            path: path, clock: clock, url: origin.plain + "/sample/master.m3u8")
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodesWithoutOutput = [.video, .audio]
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: origin.plain + "/sample/master.m3u8")
        item.endPosition = .time(.seconds(4))
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        var log = EventLog()
        for await event in events {
            log.append(event)
            if event.isLast { break }
        }
        await player.close()
        try transport.finish()

        let recording = try NetworkRecording(contentsOfFile: path)
        #expect(!recording.exchanges.isEmpty)
        func replay() throws -> VirtualPlay {
            let clock = VirtualClock()
            return try VirtualPlay(
                recording.urlString, clock: clock, transport: ReplayTransport(recording, clock: clock),
                change: { $0.decodesWithoutOutput = [.video, .audio] },
                prefer: { $0.endPosition = .time(.seconds(4)) })
        }
        let again = try replay()
        // A busy machine adds random delays, so nearly simultaneous decisions may swap.
        #expect(again.log.decisions.sorted() == log.decisions.sorted())
        for kind in ["time control", "variant", "segment", "stalled"] {
            #expect(again.log.decisions.filter { $0.hasPrefix(kind) } == log.decisions.filter { $0.hasPrefix(kind) })
        }
        #expect(again.log.decisions.last == "played to end")
        #expect(try replay().log.text == again.log.text)
    }
}
