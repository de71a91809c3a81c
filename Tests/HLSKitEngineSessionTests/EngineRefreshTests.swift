import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, expiring URLs")
struct EngineRefreshTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var status: Int
        var first: String
        var origin: @Sendable () -> ScriptedOrigin
        var item: String
        var fresh: String
    }

    /// Returns an origin with signed URLs. Those at `old/…` respond with `status` from segment `first` on, and those at
    /// `new/…` continue to work.
    private static func media(_ status: Int, from first: Int = 3) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        for name in ["old", "new"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 10, prefix: "\(name)-", isEnded: true)))
        }
        for index in first..<10 { origin.answer("old-\(index).ts", .status(status)) }
        return origin
    }

    private static func multivariant() -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        for name in ["old", "new"] {
            let lines = [
                "#EXTM3U", #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",DEFAULT=YES,URI="\#(name)-a.m3u8""#,
                #"#EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a""#, "\(name)-v.m3u8",
            ]
            origin.answer("\(name).m3u8", .text(lines.joined(separator: "\n")))
            for lane in ["v", "a"] {
                origin.answer(
                    "\(name)-\(lane).m3u8",
                    .text(.numbered(0, count: 10, prefix: "\(name)-\(lane)", isEnded: true)))
                if name == "old" {
                    for index in 3..<10 { origin.answer("old-\(lane)\(index).ts", .status(403)) }
                }
            }
        }
        return origin
    }

    private static func withKey() -> ScriptedOrigin {
        var origin = media(200)
        for name in ["old", "new"] {
            var text = PlaylistText.numbered(0, count: 10, prefix: "s", isEnded: true)
            text.segments[3].tags = [#"#EXT-X-KEY:METHOD=AES-128,URI="\#(name).key""#]
            origin.answer("\(name).m3u8", .text(text))
        }
        origin.answer("old.key", .status(403))
        return origin
    }

    static let cases = [
        Case(
            testDescription: "403 on a segment", status: 403, first: "old-3.ts", origin: { media(403) },
            item: "old.m3u8", fresh: "new.m3u8"),
        Case(
            testDescription: "410 on a segment", status: 410, first: "old-3.ts", origin: { media(410) },
            item: "old.m3u8", fresh: "new.m3u8"),
        Case(
            testDescription: "403 in two renditions", status: 403, first: "old-", origin: { multivariant() },
            item: "old.m3u8", fresh: "new.m3u8"),
        Case(
            testDescription: "403 on a key", status: 403, first: "old.key", origin: { withKey() }, item: "old.m3u8",
            fresh: "new.m3u8"),
    ]

    @Test(
        "D06: a fresh URL continues at the expired position, without repeated or missing media",
        arguments: cases)
    func refreshed(_ test: Case) throws {
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var harness = EngineHarness(origin: test.origin(), configuration: configuration)
        harness.freshURL = { _ in .success(ScriptedOrigin.root + test.fresh) }
        harness.control(.play)
        harness.open(test.item)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.violations.isEmpty, "\(harness.violations)")
        try #require(harness.expiredURLs.count == 1)
        let expired = harness.expiredURLs[0]
        #expect(expired.itemURLString == ScriptedOrigin.root + test.item)
        #expect(expired.urlString.hasPrefix(ScriptedOrigin.root + test.first))
        #expect(expired.status == test.status)
        #expect(harness.state.statistics.numberOfSkippedSegments == 0)
        #expect(harness.state.statistics.numberOfStalls == 0, "what is buffered goes on playing")
        var delivered: [String: Int] = [:]
        for request in harness.requests where request.resourceClass == .segment && request.outcome == .delivered {
            let name = request.path.split(separator: "-").last.map(String.init) ?? request.path
            delivered[name, default: 0] += 1
        }
        #expect(delivered.values.allSatisfy { $0 == 1 } || test.first == "old.key", "\(delivered)")
        #expect(delivered.count == (test.first == "old-" ? 20 : 10))
    }

    @Test("D06, G11: I-frames at a high rate continue from the fresh URL, followed by the media", arguments: [4, -2])
    func iFrames(rate: Float) {
        var origin = ScriptedOrigin()
        for name in ["old", "new"] {
            let lines = [
                "#EXTM3U", #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="\#(name)-i.m3u8""#,
                "#EXT-X-STREAM-INF:BANDWIDTH=1000000", "\(name)-v.m3u8",
            ]
            origin.answer("\(name).m3u8", .text(lines.joined(separator: "\n")))
            origin.answer(
                "\(name)-v.m3u8", .text(.numbered(0, count: 40, prefix: "\(name)-v", isEnded: true)))
            var frames = PlaylistText.numbered(
                0, count: 80, targetDuration: 2, prefix: "\(name)-i", isEnded: true)
            frames.header = ["#EXT-X-I-FRAMES-ONLY"]
            origin.answer("\(name)-i.m3u8", .text(frames))
        }
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        origin.media = { visit in
            if visit.path.hasPrefix("old-"), visit.time > .seconds(25) { return .status(403) }
            return .media(visit.path.contains("-i") ? 10_000 : 100_000)
        }
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.freshURL = { _ in .success(ScriptedOrigin.root + "new.m3u8") }
        harness.control(.play)
        harness.open("old.m3u8")
        harness.run(until: .seconds(24))
        harness.control(.setRate(rate))
        harness.run(until: .seconds(30))
        #expect(harness.expiredURLs.count == 1)
        #expect(harness.mediaPaths.contains { $0.hasPrefix("new-i") })
        #expect(!harness.mediaPaths.contains { $0.hasPrefix("new-v") })
        #expect(harness.state.timebaseRate == Double(rate))
        let place = harness.state.currentTime.seconds
        harness.control(.setRate(1))
        harness.run(until: .seconds(32))
        #expect(harness.state.timebaseRate == 1)
        #expect(abs(harness.state.currentTime.seconds - place - 2) < 1)
        #expect(harness.mediaPaths.contains { $0.hasPrefix("new-v") })
        #expect(harness.expiredURLs.count == 1)
        #expect(harness.error == nil)
    }

    @Test("D06: a live stream continues by its media sequence number")
    func live() throws {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast(laterCount: 10)
        origin.routes["old.m3u8"] = { visit in
            visit.time < .seconds(14) ? .text(broadcast.text(at: visit.time)) : .status(403)
        }
        origin.broadcast("new.m3u8", broadcast)
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.freshURL = { _ in .success(ScriptedOrigin.root + "new.m3u8") }
        harness.control(.play)
        harness.open("old.m3u8")
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.expiredURLs.count == 1)
        let segments = harness.requests.filter { $0.resourceClass == .segment }.map(\.path)
        #expect(Set(segments).count == segments.count, "nothing twice: \(segments)")
        let numbers = segments.compactMap { Int($0.dropFirst().dropLast(3)) }
        #expect(numbers == Array((numbers.first ?? 0)..<((numbers.first ?? 0) + numbers.count)), "\(numbers)")
    }

    @Test("D06: a live stream whose window moved while the app was asked continues and reports the loss")
    func lateRefresh() {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast()
        origin.routes["old.m3u8"] = { visit in
            visit.time < .seconds(14) || visit.time > .seconds(90)
                ? .text(broadcast.text(at: visit.time)) : .status(403)
        }
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.control(.play)
        harness.open("old.m3u8")
        harness.run(until: .seconds(91))
        harness.answerRefresh(.success(ScriptedOrigin.root + "old.m3u8"))
        harness.run(until: .seconds(150))
        #expect(harness.expiredURLs.count == 1)
        #expect(harness.state.timeControlStatus == .playing, "\(harness.story)")
        let loaded = harness.loadedSegments.compactMap { Int($0.dropFirst().dropLast(3)) }
        let all = (loaded + harness.missedSequences.flatMap { Array($0) }).sorted()
        #expect(all == Array((all.first ?? 0)...(all.last ?? 0)))
        #expect(!harness.missedSequences.isEmpty)
    }

    @Test("D06: a live stream of variants continues at a fresh URL after its media sequence restarted")
    func afterRestart() {
        var origin = ScriptedOrigin()
        for name in ["old", "new"] {
            origin.answer("\(name).m3u8", .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\n\(name)-v.m3u8\n"))
            origin.routes["\(name)-v.m3u8"] = { visit in
                if name == "old", visit.time > .seconds(40) { return .status(403) }
                if visit.time < .seconds(20) { return .text(Broadcast().text(at: visit.time)) }
                let anew = Broadcast(firstSequence: 0, windowCount: 4, laterCount: 15, prefix: "n")
                return .text(anew.text(at: visit.time - .seconds(20)))
            }
        }
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.freshURL = { _ in .success(ScriptedOrigin.root + "new.m3u8") }
        harness.control(.play)
        harness.open("old.m3u8")
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.loadedSegments.suffix(19) == (0..<19).map { "n\($0).ts" })
        #expect(harness.statistics.numberOfStalls <= 1)
    }

    @Test("D06: a URL that is refused at once is refreshed a limited number of times", arguments: [true, false])
    func first(helps: Bool) {
        var origin = ScriptedOrigin()
        origin.answer("old.m3u8", .status(403))
        origin.answer("new.m3u8", .text(.numbered(0, count: 3, isEnded: true)))
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.freshURL = { _ in .success(ScriptedOrigin.root + (helps ? "new.m3u8" : "old.m3u8")) }
        harness.control(.play)
        harness.open("old.m3u8")
        harness.runToEnd()
        #expect(harness.expiredURLs.map(\.urlString) == ["https://host/old.m3u8"])
        #expect(harness.didPlayToEnd == helps)
        #expect(harness.error?.code == (helps ? nil : .notFound))
    }

    @Test(
        "D06: without a fresh URL the buffer is played; the error names the expiry and the failed refresh"
    )
    func refused() {
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var harness = EngineHarness(origin: Self.media(403), configuration: configuration)
        harness.freshURL = { expired in
            .failure(LoadingError(code: .application, url: expired.itemURLString, text: "nobody is logged in"))
        }
        harness.control(.play)
        harness.open("old.m3u8")
        harness.runToEnd()
        #expect(!harness.didPlayToEnd)
        #expect(harness.error?.urlString == "https://host/old-3.ts")
        #expect(harness.error?.detail?.contains("403") == true)
        #expect(harness.error?.detail?.contains("nobody is logged in") == true)
        #expect(harness.now >= .seconds(12), "three segments were there")
    }

    struct Before: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var second: ScriptedOrigin.Reply
        var demuxesLate = false
        var isPlayed = true
    }

    static let before = [
        Before(testDescription: "it has arrived and is not read yet", second: .media(100_000), demuxesLate: true),
        Before(testDescription: "it is on its way", second: .media(100_000).after(.seconds(5))),
        Before(
            testDescription: "it cannot be read",
            second: .spoiled(.media(MediaError(code: .malformed, text: "byte 0: no sync byte"))), demuxesLate: true,
            isPlayed: false),
        Before(
            testDescription: "it is refused as well, later", second: .status(403).after(.seconds(5)), isPlayed: false),
        Before(
            testDescription: "it does not come", second: .failure(.cannotConnect).after(.seconds(5)), isPlayed: false),
    ]

    @Test("D06: without a fresh URL, segments requested before the expiry are played", arguments: before)
    func refusedEarly(_ test: Before) throws {
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        configuration.pacing = .unpaced
        var origin = Self.media(403, from: 2)
        origin.protocolName = "h2"
        origin.answer("old-1.ts", test.second)
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.demuxes = !test.demuxesLate
        harness.control(.play)
        harness.open("old.m3u8")
        harness.run(until: .seconds(30)) { !$0.expiredURLs.isEmpty }
        try #require(harness.expiredURLs.count == 1)
        harness.answerRefresh(
            .failure(LoadingError(code: .application, url: "https://host/old.m3u8", text: "nobody is logged in")))
        #expect(harness.error == nil)
        harness.run(until: harness.now + .seconds(1))
        if test.demuxesLate { harness.demuxLate() }
        harness.runToEnd(by: .seconds(400))
        #expect(harness.isOver && !harness.didPlayToEnd)
        #expect(harness.expiredURLs.count == 1)
        #expect(harness.error?.detail?.contains("nobody is logged in") == true, "\(harness.error as Any)")
        #expect(harness.state.statistics.durationWatched == .seconds(test.isPlayed ? 8 : 4))
    }

    @Test(
        "D06: if playlists are refused before one was loaded, and no fresh URL exists, the item fails at once",
        arguments: [["old-v.m3u8"], ["old-a.m3u8"], ["old-v.m3u8", "old-a.m3u8"]])
    func refusedLists(_ refused: [String]) {
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var origin = Self.multivariant()
        for path in refused { origin.answer(path, .status(403)) }
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.freshURL = { expired in
            .failure(LoadingError(code: .application, url: expired.itemURLString, text: "nobody is logged in"))
        }
        harness.control(.play)
        harness.open("old.m3u8")
        harness.runToEnd(by: .seconds(60))
        #expect(harness.isOver && !harness.didPlayToEnd)
        #expect(harness.error?.detail?.contains("nobody is logged in") == true)
        #expect(harness.now < .seconds(20))
    }

    @Test("D06: a fresh URL that fails is not requested again; a URL of another stream is an error")
    func noLoop() {
        var configuration = EngineConfiguration()
        configuration.refreshesURLs = true
        var harness = EngineHarness(origin: Self.media(403), configuration: configuration)
        harness.freshURL = { .success($0.itemURLString) }
        harness.control(.play)
        harness.open("old.m3u8")
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.expiredURLs.count == 1)

        var origin = Self.multivariant()
        origin.answer("other.m3u8", .text(.numbered(0, count: 10, prefix: "x", isEnded: true)))
        var other = EngineHarness(origin: origin, configuration: configuration)
        other.freshURL = { _ in .success(ScriptedOrigin.root + "other.m3u8") }
        other.control(.play)
        other.open("old.m3u8")
        other.runToEnd()
        #expect(other.error?.code == .badPlaylist)
        #expect(other.error?.urlString == "https://host/other.m3u8")
    }
}
