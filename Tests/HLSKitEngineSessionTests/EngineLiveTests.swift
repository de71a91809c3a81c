import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

/// The live stream of these tests lists six segments of 4 s, at the start 100 to 105.
@Suite("Engine, live", .ownThread)
struct EngineLiveTests {
    private static func sequences(_ harness: EngineHarness) -> [Int] {
        harness.loadedSegments.compactMap { Int($0.dropFirst().prefix { $0 != "." }) }
    }

    private static func isContiguous(_ numbers: [Int]) -> Bool {
        zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 }
    }

    @Test("M01: playback starts three target durations from the edge, and ends with the playlist")
    func startAndEnd() {
        var harness = EngineHarness.playing("live.m3u8", from: .live(Broadcast(laterCount: 8)))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.mediaPaths.first == "s103.ts")
        #expect(Self.sequences(harness) == Array(103...113))
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("M07: an ENDLIST tag is noticed even without a new segment")
    func lateEndTag() {
        var origin = ScriptedOrigin()
        let list = PlaylistText.numbered(0, count: 4)
        var ended = list
        ended.isEnded = true
        origin.answer("live.m3u8", .text(list), .text(list), .text(ended))
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd(by: .seconds(60))
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == [1, 2, 3])
        #expect(harness.requests(of: "live.m3u8").count == 3)
        #expect(harness.state.duration.seconds == 16)
    }

    /// Each reload is a sixteenth of the target duration later, until it comes just after the server's update.
    @Test("the playlist is reloaded each target duration, or each half of one while it does not change")
    func cadence() {
        var harness = EngineHarness.playing(
            "live.m3u8", from: .live(Broadcast(freezes: [.milliseconds(15_900)..<(.milliseconds(24_100))])))
        harness.run(until: .seconds(50))
        let times = harness.requests(of: "live.m3u8").map(\.began)
        let intervals = zip(times, times.dropFirst()).map { ($1 - $0).seconds }
        #expect(intervals.allSatisfy { [4, 4.25, 2].contains($0) })
        #expect(intervals.count { $0 == 2 } >= 3)
    }

    struct Start: CustomTestStringConvertible {
        var name: String
        var header: [String] = []
        var position = StartPosition.automatic
        var offset: Double?
        var first: String
        var testDescription: String { name }
    }

    static let starts: [Start] = [
        Start(name: "hold-back of the server", header: ["#EXT-X-SERVER-CONTROL:HOLD-BACK=18"], first: "s101.ts"),
        Start(name: "configured offset", offset: 5, first: "s104.ts"),
        Start(name: "configured offset beyond the window", offset: 500, first: "s100.ts"),
        Start(name: "oldest", position: .oldest, first: "s100.ts"),
        Start(name: "from the end", position: .time(.seconds(-6)), first: "s104.ts"),
        Start(name: "from the start", position: .time(.seconds(5)), first: "s101.ts"),
        Start(name: "a tag", header: ["#EXT-X-START:TIME-OFFSET=5"], first: "s101.ts"),
        Start(name: "a tag too near the edge", header: ["#EXT-X-START:TIME-OFFSET=-2"], first: "s103.ts"),
    ]

    @Test("M01: playback starts at the position that the item or the playlist sets", arguments: starts)
    func startPosition(_ example: Start) {
        var preferences = PlayerItemPreferences()
        preferences.startPosition = example.position
        preferences.configuredTimeOffsetFromLive = example.offset.map { .seconds($0) }
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            var text = Broadcast().text(at: visit.time)
            text.header = example.header
            return .text(text)
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin, preferences: preferences)
        harness.run(until: .seconds(1)) { !$0.mediaPaths.isEmpty }
        #expect(harness.mediaPaths == [example.first])
        harness.run(until: .seconds(60))
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(Self.isContiguous(Self.sequences(harness)))
        #expect(harness.state.timeControlStatus == .playing)
    }

    @Test("playback waits while a playlist is empty")
    func emptyStart() {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast()
        origin.routes["live.m3u8"] = { visit in
            .text(visit.time < .seconds(9) ? PlaylistText(targetDuration: 4) : broadcast.text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.run(until: .seconds(40))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(Self.isContiguous(Self.sequences(harness)))
        #expect(harness.state.liveOffset.map { $0 > .seconds(8) } == true)
    }

    @Test("if a playlist URL starts a session per load, then refuses, the last session continues")
    func sessions() {
        let broadcast = Broadcast(laterCount: 12)
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            visit.earlierCount < 3
                ? .text(broadcast.text(at: visit.time)).from("session\(visit.earlierCount)/live.m3u8") : .status(403)
        }
        for number in 0..<3 {
            origin.routes["session\(number)/live.m3u8"] = { .text(broadcast.text(at: $0.time)) }
        }
        origin.media = { _ in .media(100_000) }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.statistics.numberOfSkippedSegments == 0)
        #expect(harness.requests(of: "live.m3u8").count == 4)
        #expect(harness.requests(of: "session2/live.m3u8").count > 5)
    }

    @Test("if the last session fails, too, the original URL is used again")
    func lostSession() {
        let broadcast = Broadcast(laterCount: 12)
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            let list = ScriptedOrigin.Reply.text(broadcast.text(at: visit.time))
            return visit.earlierCount == 1 ? .status(429) : list.from("session/live.m3u8")
        }
        origin.routes["session/live.m3u8"] = { visit in
            visit.earlierCount < 2 ? .text(broadcast.text(at: visit.time)) : .status(404)
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.statistics.numberOfSkippedSegments == 0)
        #expect(harness.requests(of: "live.m3u8").count > 4)
    }

    @Test(
        "when a balancer's edge dies, the balancer is asked again, and the stream moves to the new edge"
    )
    func otherEdge() {
        let broadcast = Broadcast(laterCount: 12)
        let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\nlive.m3u8\n"
        var origin = ScriptedOrigin()
        origin.routes["main.m3u8"] = { .text(main).from($0.time < .seconds(8) ? "a/main.m3u8" : "b/main.m3u8") }
        origin.routes["a/live.m3u8"] = { $0.time < .seconds(8) ? .text(broadcast.text(at: $0.time)) : .status(502) }
        origin.routes["b/live.m3u8"] = { .text(broadcast.text(at: $0.time)) }
        origin.media = { $0.path.hasPrefix("a/") && $0.time > .seconds(8) ? .status(502) : .media(100_000) }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.statistics.numberOfSkippedSegments == 0)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.requests(of: "main.m3u8").count == 2)
    }

    @Test("if the balancer names the same edge or none, the stream behaves as without a balancer")
    func sameEdge() {
        let broadcast = Broadcast(laterCount: 12)
        let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\nlive.m3u8\n"
        for answers in [true, false] {
            var origin = ScriptedOrigin()
            origin.routes["main.m3u8"] = { visit in
                answers || visit.time < .seconds(8) ? .text(main).from("a/main.m3u8") : .status(503)
            }
            origin.routes["a/live.m3u8"] = { visit in
                (.seconds(8)..<(.seconds(25))).contains(visit.time)
                    ? .status(502) : .text(broadcast.text(at: visit.time))
            }
            var harness = EngineHarness.playing("main.m3u8", from: origin)
            harness.runToEnd()
            #expect(harness.didPlayToEnd, "\(harness.story)")
            let count = harness.requests(of: "main.m3u8").count
            #expect(count > 1 && count < 6, "\(count)")
        }
    }

    @Test(
        "separate audio that stalls or ends delays the video only briefly",
        arguments: [false, true])
    func standingAudio(ends: Bool) {
        let extra = [#"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="en",DEFAULT=YES,URI="c.m3u8""#]
        var origin = ScriptedOrigin.multivariant(["a": 1_000_000], extra: extra, audio: "x")
        origin.broadcast("a.m3u8", Broadcast(prefix: "a"))
        origin.broadcast(
            "c.m3u8",
            Broadcast(laterCount: ends ? 3 : nil, prefix: "c", freezes: ends ? [] : [.seconds(12)..<(.seconds(9000))]))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(150))
        let video = harness.loadedSegments.filter { $0.hasPrefix("a") }.compactMap { Int($0.dropFirst().prefix(3)) }
        #expect(harness.error == nil, "\(harness.story)")
        #expect((video.max() ?? 0) >= 136, "\(video)")
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.state.currentTime.seconds > 80)
    }

    // MARK: Playlist failures

    @Test("R41: a playlist that stops updating for a while and continues loses no media")
    func frozenForAWhile() {
        var harness = EngineHarness.playing(
            "live.m3u8", from: .live(Broadcast(laterCount: 12, freezes: [.seconds(10)..<(.seconds(35))])))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...117))
        #expect(harness.statistics.numberOfStalls >= 1)
    }

    @Test("M07, R42: a playlist that stops updating for good fails the item after its media played", arguments: [4, 1])
    func frozenForEver(target: Int) throws {
        var harness = EngineHarness.playing(
            "live.m3u8",
            from: .live(Broadcast(targetDuration: target, laterCount: 4, endsWithTag: false)))
        harness.runToEnd(by: .seconds(200))
        #expect(harness.error?.code == .staleLive)
        #expect(Self.sequences(harness) == Array(103...109))
        #expect(harness.state.currentTime.seconds == Double(10 * target))
        let lastChange = Double(target * 4)
        let limit = max(60, 10.5 * Double(target))
        #expect((lastChange + limit - 0.1...lastChange + limit + Double(target) + 0.5).contains(harness.now.seconds))
        let notices = harness.events.filter { if case .recoverableError = $0.kind { true } else { false } }
        #expect(!notices.isEmpty)
    }

    @Test("M07, R42: with the policy to end, a playlist that stops updating is a regular end")
    func staleEnds() {
        var preferences = PlayerItemPreferences()
        preferences.stalePolicy = .end
        var harness = EngineHarness.playing(
            "live.m3u8", from: .live(Broadcast(laterCount: 4, endsWithTag: false)), preferences: preferences)
        harness.runToEnd(by: .seconds(200))
        #expect(harness.didPlayToEnd)
        #expect(harness.error == nil)
        #expect(Self.sequences(harness) == Array(103...109))
    }

    @Test("R43: edges that are out of step never repeat a segment")
    func edgesOutOfStep() {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast(laterCount: 10)
        origin.routes["live.m3u8"] = { visit in
            let isBehind = visit.earlierCount % 2 == 1 && visit.time < .seconds(40)
            return .text(broadcast.text(at: isBehind ? max(.zero, visit.time - .seconds(8)) : visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...115))
    }

    @Test("R44: a window that jumps past unseen segments is reported with their number, and playback continues")
    func jumpingWindow() {
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            let text = Broadcast(firstSequence: visit.time < .seconds(15) ? 100 : 120, laterCount: 10)
            return .text(text.text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.missedSequences.count == 1)
        let lost = harness.missedSequences.first
        #expect(
            Self.sequences(harness) == Array(103..<(lost?.lowerBound ?? 0)) + Array((lost?.upperBound ?? 0) + 1...135))
        #expect(harness.statistics.numberOfSkippedSegments == lost?.count)
    }

    @Test("R45: a stream whose media sequence restarts is played on")
    func countsAgain() {
        var origin = ScriptedOrigin()
        let first = Broadcast()
        origin.routes["live.m3u8"] = { visit in
            guard visit.time >= .seconds(20) else { return .text(first.text(at: visit.time)) }
            let second = Broadcast(firstSequence: 0, windowCount: 3, laterCount: 5, prefix: "n")
            return .text(second.text(at: visit.time - .seconds(20)))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd(by: .seconds(120))
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments.suffix(8) == (0..<8).map { "n\($0).ts" })
        #expect(harness.statistics.numberOfStalls <= 1)
    }

    @Test("if the window moves during a pause, playback catches up without a gap in the timeline")
    func pausedTooLong() {
        var harness = EngineHarness.playing("live.m3u8", from: .live(Broadcast(laterCount: 100)))
        harness.run(until: .seconds(6))
        harness.control(.pause)
        harness.run(until: .seconds(200))
        harness.control(.play)
        let resumed = harness.now
        harness.run(until: .seconds(260))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(!harness.missedSequences.isEmpty)
        #expect(harness.statistics.numberOfStalls == 0)
        // The buffer lasts for 30 s, then the oldest listed segment follows at once.
        #expect((harness.now - resumed).seconds == 60)
        #expect(harness.state.liveOffset.map { $0 < .seconds(54) } == true)
        let lost = harness.missedSequences.map(\.count).reduce(0, +)
        let loaded = Self.sequences(harness)
        #expect(loaded.count + lost == (loaded.last ?? 0) - 102)
    }

    @Test("R39: a playlist that fails for seconds does not affect playback", arguments: [503, 404])
    func failingReloads(status: Int) {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast(laterCount: 12)
        origin.routes["live.m3u8"] = { visit in
            (.seconds(9)..<(.seconds(20))).contains(visit.time)
                ? .status(status) : .text(broadcast.text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...117))
    }

    /// The limit is the longer of 60 s and ten target durations, here of 2 and 8 s.
    @Test(
        "R39: a stream whose playlist cannot be loaded is retried for 60 s, or ten target durations",
        arguments: [(2, 55, true), (2, 75, false), (8, 75, true), (8, 100, false)])
    func longOutage(target: Int, seconds: Int, continues: Bool) {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast(targetDuration: target, laterCount: 240 / target)
        let outage = Duration.seconds(40)..<Duration.seconds(40 + seconds)
        origin.routes["live.m3u8"] = { visit in
            outage.contains(visit.time) ? .status(503) : .text(broadcast.text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd == continues)
        #expect(harness.error?.code == (continues ? nil : .network))
    }

    /// The window is 12 s long, the outage 10 s.
    @Test(
        "R39: an outage shorter than the window loses no media, at any start time and server cadence",
        arguments: 0..<16, [0, 500, 1000, 1500, 1900])
    func outage(phase: Int, age: Int) {
        var origin = ScriptedOrigin()
        // `age` is the age of the first loaded playlist in milliseconds.
        let broadcast = Broadcast(targetDuration: 2, laterCount: 60)
        let begin = Duration.seconds(50) + .milliseconds(125 * phase)
        origin.routes["live.m3u8"] = { visit in
            (begin..<(begin + .seconds(10))).contains(visit.time)
                ? .status(503) : .text(broadcast.text(at: visit.time + .milliseconds(age)))
        }
        var configuration = EngineConfiguration()
        configuration.seed = UInt64(phase)
        var harness = EngineHarness.playing("live.m3u8", from: origin) { $0 = configuration }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.missedSequences.isEmpty)
        #expect(Self.sequences(harness) == Array(103...165))
    }

    @Test(
        "R40: a reload times out after two target durations, but not before six seconds", arguments: [(2, 6), (4, 8)])
    func hangingReload(target: Int, limit: Int) {
        var harness = EngineHarness.playing("live.m3u8", from: .live(Broadcast(targetDuration: target)))
        harness.run(until: .seconds(10))
        let reloads = harness.requests(of: "live.m3u8").dropFirst()
        #expect(!reloads.isEmpty)
        #expect(reloads.allSatisfy { $0.timeouts.total == .seconds(limit) })
    }

    @Test("R47, R48: a playlist that is invalid once is dropped; the previous one is kept", arguments: [true, false])
    func brokenOnce(isMultivariant: Bool) {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast(laterCount: 10)
        let broken =
            isMultivariant ? .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n") : ScriptedOrigin.Reply.html
        origin.routes["live.m3u8"] = { visit in
            visit.earlierCount == 2 ? broken : .text(broadcast.text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...115))
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("R48: a playlist that stays invalid ends the item as late as one that cannot be loaded")
    func brokenForGood() {
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            visit.earlierCount >= 2 ? .html : .text(Broadcast().text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd(by: .seconds(120))
        #expect(harness.error?.code == .badPlaylist)
        #expect((.seconds(60)...Duration.seconds(80)).contains(harness.now))
        #expect(!harness.loadedSegments.isEmpty)
        #expect(harness.story.suffix(2) == ["failedToPlayToEnd", "paused"])
    }

    @Test("R48: the configured number of consecutive invalid reloads ends the item")
    func brokenReloadLimit() {
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            visit.earlierCount >= 2 ? .html : .text(Broadcast().text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin) { $0.retryPolicies.badReloadLimit = 3 }
        harness.runToEnd(by: .seconds(60))
        #expect(harness.error?.code == .badPlaylist)
        #expect(harness.requests(of: "live.m3u8").count == 5)
    }

    @Test("an error page with status 200 is survived like an error status", arguments: [6, 20])
    func errorPage(seconds: Int) {
        var origin = ScriptedOrigin()
        let broadcast = Broadcast(laterCount: 12)
        origin.routes["live.m3u8"] = { visit in
            (.seconds(9)..<(.seconds(9 + seconds))).contains(visit.time) ? .html : .text(broadcast.text(at: visit.time))
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...117))
    }

    @Test("R39: playlists of all variants failing for seconds do not affect playback", arguments: [404, 503, 200])
    func allVariantsFail(status: Int) {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 1_000_000])
        for name in ["a", "b"] {
            let broadcast = Broadcast(laterCount: 12, prefix: name)
            origin.routes["\(name).m3u8"] = { visit in
                guard (.seconds(9)..<(.seconds(20))).contains(visit.time) else {
                    return .text(broadcast.text(at: visit.time))
                }
                return status == 200 ? .html : .status(status)
            }
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.error.map(String.init(describing:)) ?? "")")
        #expect(Self.sequences(harness) == Array(103...117))
    }

    @Test(
        "if windows move while no playlist loads, the lost segments are reported and playback continues")
    func windowGoneMeanwhile() {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 1_000_000])
        for name in ["a", "b"] {
            let broadcast = Broadcast(prefix: name)
            origin.routes["\(name).m3u8"] = { visit in
                (.seconds(9)..<(.seconds(60))).contains(visit.time)
                    ? .status(503) : .text(broadcast.text(at: visit.time))
            }
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(120))
        #expect(harness.state.timeControlStatus == .playing, "\(harness.story)")
        let loaded = Self.sequences(harness)
        let all = (loaded + harness.missedSequences.flatMap { Array($0) }).sorted()
        #expect(all == Array(103...(loaded.last ?? 0)))
        #expect(!harness.missedSequences.isEmpty)
    }

    @Test("a listed segment that is missing for seconds is requested again")
    func forgottenSegment() {
        var origin = ScriptedOrigin.live(Broadcast(laterCount: 12))
        origin.media = { visit in
            (.seconds(1)..<(.seconds(6))).contains(visit.time) ? .status(404) : .media(100_000)
        }
        var preferences = PlayerItemPreferences()
        preferences.startPosition = .oldest
        var harness = EngineHarness.playing("live.m3u8", from: origin, preferences: preferences) {
            $0.parallelLoading = .sequential
            $0.buffering.forwardDuration = .seconds(8)
        }
        harness.runToEnd()
        #expect(harness.skippedSequences.isEmpty)
        #expect(Self.sequences(harness) == Array(100...117))
    }

    // MARK: Stopped process

    @Test("after the process was stopped, the playlist is reloaded before it is stale", arguments: [70, 600])
    func stopped(seconds: Int) {
        var harness = EngineHarness.playing("live.m3u8", from: .live())
        harness.run(until: .seconds(20))
        harness.stop(for: .seconds(seconds))
        harness.run(until: .seconds(seconds + 60))
        #expect(harness.error == nil)
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.state.liveOffset.map { $0 < .seconds(40) } == true)
    }

    // MARK: Configured patience

    @Test(
        "a playlist that stops updating is waited for as long as configured",
        arguments: [(.wait, nil, 900, true), (.fail, 300, 280, true), (.fail, 300, 320, false), (.fail, 20, 30, false)]
            as [(StalePolicy, Int?, Int, Bool)])
    func patience(policy: StalePolicy, limit: Int?, seconds: Int, continues: Bool) {
        var preferences = PlayerItemPreferences()
        preferences.stalePolicy = policy
        preferences.staleLimit = limit.map { .seconds($0) }
        for fails in [false, true] where limit != 20 || !fails {
            var origin = ScriptedOrigin()
            let pause = Duration.seconds(20)..<Duration.seconds(20 + seconds)
            let broadcast = Broadcast(targetDuration: 2, laterCount: 30, freezes: [pause])
            origin.routes["live.m3u8"] = { visit in
                fails && pause.contains(visit.time) ? .status(404) : .text(broadcast.text(at: visit.time))
            }
            var harness = EngineHarness.playing("live.m3u8", from: origin, preferences: preferences)
            harness.runToEnd(by: .seconds(2000))
            #expect(harness.didPlayToEnd == continues, "\(harness.error.map(String.init(describing:)) ?? "")")
            if continues { #expect(Self.sequences(harness) == Array(103...135)) }
            let times = harness.requests(of: "live.m3u8").map(\.began)
            #expect(times.count < 2 * (seconds + 120))
        }
    }

    // MARK: Segments

    @Test("R46: a segment that is listed before it exists is waited for")
    func notYetThere() {
        var origin = ScriptedOrigin.live(Broadcast(laterCount: 10))
        origin.media = { visit in
            let number = Int(visit.path.dropFirst().prefix { $0 != "." }) ?? 0
            let listed = Duration.seconds(4) * (number - 105)
            return visit.time < listed + .milliseconds(1_500) ? .status(404) : .media(100_000)
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...115))
        #expect(harness.skippedSequences.isEmpty)
        for path in Set(harness.mediaPaths) {
            let tries = harness.requests(of: path).map(\.began)
            #expect(zip(tries, tries.dropFirst()).allSatisfy { (0.5...1.1).contains(($1 - $0).seconds) })
        }
    }

    @Test("a segment that never exists is skipped")
    func neverThere() {
        var origin = ScriptedOrigin.live(Broadcast(laterCount: 10))
        origin.answer("s106.ts", .status(404))
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.skippedSequences == [106...106])
        #expect(Self.sequences(harness) == Array(103...105) + Array(107...115))
    }

    @Test("an end time is honoured in a live stream")
    func endPosition() {
        var preferences = PlayerItemPreferences()
        preferences.endPosition = .duration(.seconds(18))
        var harness = EngineHarness.playing("live.m3u8", from: .live(), preferences: preferences)
        harness.runToEnd(by: .seconds(60))
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...107))
        #expect(harness.state.currentTime.seconds == 30)
    }

    @Test("an end time past a segment is honoured, whether already listed or not", arguments: [104, 109])
    func endSegment(_ number: Int) {
        var preferences = PlayerItemPreferences()
        preferences.endPosition = .segment(number)
        var harness = EngineHarness.playing("live.m3u8", from: .live(), preferences: preferences)
        harness.runToEnd(by: .seconds(90))
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...number))
        #expect(harness.state.currentTime.seconds == Double(number - 99) * 4)
    }

    @Test("unpaced, a live stream is consumed as it arrives")
    func unpaced() {
        var harness = EngineHarness.playing("live.m3u8", from: .live(Broadcast(laterCount: 8))) {
            $0.pacing = .unpaced
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...113))
        #expect(harness.now < .seconds(34))
    }

    @Test("a live variant switch neither loses nor repeats media")
    func liveSwitch() {
        var origin = ScriptedOrigin.multivariant(["b": 1_000_000, "a": 3_000_000])
        for name in ["a", "b"] {
            origin.broadcast("\(name).m3u8", Broadcast(laterCount: 10, prefix: name))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...115))
        #expect(harness.variantSequence == [0, 1])
        #expect(harness.loadedSegments.last == "a115.ts")
        #expect(harness.requests(of: "b.m3u8").count == 1)
    }

    @Test("a live variant whose playlist disappears is replaced by another one")
    func lostVariant() {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 1_000_000])
        let broadcast = Broadcast(laterCount: 12, prefix: "a")
        origin.routes["a.m3u8"] = { visit in
            visit.time > .seconds(10) ? .status(404) : .text(broadcast.text(at: visit.time))
        }
        origin.broadcast("b.m3u8", Broadcast(laterCount: 12, prefix: "b"))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.sequences(harness) == Array(103...117))
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("separate audio of a live stream keeps up with the video")
    func liveAudio() {
        var origin = ScriptedOrigin.multivariant(
            ["a": 3_000_000],
            extra: [#"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="en",DEFAULT=YES,URI="en.m3u8""#], audio: "aac")
        for name in ["a", "en"] { origin.broadcast("\(name).m3u8", Broadcast(laterCount: 10, prefix: name)) }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        for name in ["a", "en"] {
            #expect(harness.loadedSegments.filter { $0.hasPrefix(name) } == (103...115).map { "\(name)\($0).ts" })
        }
        #expect(harness.statistics.numberOfStalls == 0)
    }

    // MARK: Separate lanes

    @Test("lanes that miss different parts of a window stay in sync", arguments: [118, 120, 121, 123])
    func differentWindows(audioSequence: Int) {
        let audio = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="en",DEFAULT=YES,URI="c.m3u8""#
        var origin = ScriptedOrigin.multivariant(["a": 1_000_000], extra: [audio], audio: "x")
        for (name, sequence) in [("a", 120), ("c", audioSequence)] {
            origin.routes["\(name).m3u8"] = { visit in
                let first = visit.time < .seconds(15) ? 100 : sequence
                return .text(Broadcast(firstSequence: first, laterCount: 20, prefix: name).text(at: visit.time))
            }
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        var times: [String: Double] = [:]
        for (_, kind) in harness.events {
            guard case .segmentLoaded(let load) = kind else { continue }
            times[ScriptedOrigin.path(of: load.urlString)] = load.itemTime.seconds
        }
        let common = (100..<150).filter { times["a\($0).ts"] != nil && times["c\($0).ts"] != nil }
        #expect(common.count > 10)
        #expect(common.contains { $0 > 120 })
        for number in common { #expect(times["a\(number).ts"] == times["c\(number).ts"], "segment \(number)") }
    }

    // MARK: Stale playlists

    private static let standstill = Duration.seconds(8)..<Duration.seconds(2000)

    @Test("a playlist without updates for 3.5 target durations causes a variant switch")
    func stuckVariant() {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 1_000_000])
        origin.broadcast("a.m3u8", Broadcast(laterCount: 20, prefix: "a", freezes: [Self.standstill]))
        origin.broadcast("b.m3u8", Broadcast(laterCount: 20, prefix: "b"))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments.last == "b125.ts")
        #expect(harness.missedSequences.isEmpty)
    }

    @Test("if no variant's playlist updates, the stream is stale as soon as a single one would be")
    func allStuck() {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 2_000_000, "c": 1_000_000])
        for name in ["a", "b", "c"] {
            origin.broadcast(
                "\(name).m3u8", Broadcast(laterCount: 20, prefix: name, freezes: [Self.standstill]))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .staleLive)
        // The last segment is listed at 8 s, and a reload may see it one target duration later.
        #expect(harness.now <= .seconds(8 + 4 + 60 + 4))
    }

    @Test("R74: playlists that neither end nor change fail the item")
    func unchangedForEver() {
        var origin = ScriptedOrigin()
        origin.broadcast("live.m3u8", Broadcast(targetDuration: 1, laterCount: 0, endsWithTag: false))
        var harness = EngineHarness.playing("live.m3u8", from: origin) {
            $0.retryPolicies.unsuccessfulRequestTotal = 20
        }
        harness.runToEnd()
        #expect(harness.error?.code == .network)
        #expect(harness.requests(of: "live.m3u8").count <= 22)
    }
}
