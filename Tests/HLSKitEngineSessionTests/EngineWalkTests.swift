import Foundation
import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, random walks", .ownThread)
struct EngineWalkTests {
    /// The first seeds of ranges of fifty. `HLSKIT_WALKS` overrides the default of eight, as in `0-200`.
    private static let firstSeeds: [Int] = {
        let text = ProcessInfo.processInfo.environment["HLSKIT_WALKS"] ?? "0-8"
        let bounds = text.split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return [] }
        return (bounds[0]..<bounds[1]).map { $0 * 50 }
    }()

    @Test(
        "F20: no server and no user makes a player wait for ever", .timeLimit(.minutes(10)), arguments: firstSeeds,
        [false, true])
    func walk(firstSeed: Int, seeks: Bool) {
        var endCount = 0
        for seed in firstSeed..<firstSeed + 50 {
            var walk = EngineWalk(seed: UInt64(seed), seeks: seeks)
            if let broken = walk.run() {
                Issue.record("seed \(seed): \(broken)\n\(walk.description)")
                continue
            }
            if walk.harness.didPlayToEnd { endCount += 1 }
        }
        #expect(endCount > 20)
    }

    /// Writes logs of the walks of ``firstSeeds``, to compare two versions of the engine. `HLSKIT_WALK_LOG` is the
    /// prefix of the file names.
    @Test(
        "logs of random walks are written for comparison",
        .enabled(if: ProcessInfo.processInfo.environment["HLSKIT_WALK_LOG"] != nil), arguments: firstSeeds,
        [false, true])
    func log(firstSeed: Int, seeks: Bool) throws {
        let prefix = try #require(ProcessInfo.processInfo.environment["HLSKIT_WALK_LOG"])
        for seed in firstSeed..<firstSeed + 50 {
            var walk = EngineWalk(seed: UInt64(seed), seeks: seeks)
            #expect(walk.run() == nil)
            let name = "\(prefix)-\(seed)\(seeks ? "-seeks" : "")"
            try walk.log.write(toFile: name, atomically: true, encoding: .utf8)
        }
    }

    /// Each of these seeds once found a bug that no other walk had found.
    @Test(
        "random walks that once hung reach their end",
        arguments: [1246, 2972, 3078, 5826, 6136, 8853, 11376].map { ($0, true) } + [3762, 9699].map { ($0, false) })
    func known(seed: Int, seeks: Bool) {
        var walk = EngineWalk(seed: UInt64(seed), seeks: seeks)
        if let broken = walk.run() { Issue.record("seed \(seed): \(broken)\n\(walk.description)") }
    }
}

struct EngineWalk: CustomStringConvertible {
    private(set) var harness: EngineHarness
    private var random: SplitMix64
    private let isUnpaced: Bool
    private let seeks: Bool
    private var interstitialRuns = false
    private var lastTime = Duration.zero
    private var controls: [String] = []

    /// - Parameter seeks: Whether the user also seeks, plays interstitials and ties rates to host times.
    init(seed: UInt64, seeks: Bool = false) {
        self.seeks = seeks
        var random = SplitMix64(seed: seed)
        var configuration = EngineConfiguration()
        configuration.seed = seed
        isUnpaced = random.next() % 4 == 0
        if isUnpaced { configuration.pacing = .unpaced }
        configuration.buffering.forwardDuration = .seconds(12)
        configuration.seeksAwaitOutputs = seed % 2 == 1
        harness = EngineHarness(origin: Self.origin(seed: seed, &random), configuration: configuration)
        self.random = random
    }

    var description: String {
        let requests = harness.requests.suffix(12).map { "\($0.began) \($0.path) \($0.outcome) \($0.ended ?? .zero)" }
        return "\(harness.testDescription)\n" + (requests + controls).joined(separator: "\n")
    }

    var log: String {
        let events = harness.events.map { "\($0.time) \($0.kind)\n" }
        let requests = harness.requests.map { request in
            let range = request.byteRange.map { " \($0)" } ?? ""
            return "\(request.began) \(request.path)\(range) \(request.outcome) \(request.ended ?? .zero)\n"
        }
        return (events + requests).joined()
    }

    mutating func run() -> String? {
        control(.play)
        harness.open("main.m3u8")
        for _ in 0..<random.next() % 5 {
            harness.run(until: harness.now + .milliseconds(Int64(random.next() % 12_000)))
            lastTime = harness.engine.playhead
            let controlled = harness.now
            let mayJump = seeks && random.next() % 2 == 0 ? controlMore() : control()
            if !mayJump, harness.now == controlled, harness.engine.playhead < lastTime {
                return "time went back from \(lastTime) to \(harness.engine.playhead)"
            }
            if let broken = broken { return broken }
        }
        if interstitialRuns {
            interstitialRuns = false
            control(.setInterstitialRunning(false))
        }
        control(.setForwardPlaybackEndTime(nil))
        control(.setRate(2))
        harness.runToEnd(by: harness.now + .seconds(600))
        if let broken = broken { return broken }
        guard harness.isOver else { return "not over at \(harness.now)" }
        guard harness.requests.allSatisfy({ $0.outcome != .underWay }) else { return "a request is still under way" }
        return nil
    }

    private var broken: String? {
        harness.violations.first
            ?? (harness.isStuck && harness.engine.machine.rate != 0 && !interstitialRuns ? "stuck" : nil)
    }

    /// Performs a random action. Returns whether time may go back.
    private mutating func control() -> Bool {
        let choice = random.next() % 8
        switch choice {
        case 0: control(.pause)
        case 1: control(.setRate([0.5, 1, 2][Int(random.next() % 3)]))
        case 2: harness.open("main.m3u8")
        case 3:
            var preferences = PlayerItemPreferences()
            preferences.preferredPeakBitRate = random.next() % 2 == 0 ? 1_500_000 : nil
            control(.setPreferences(preferences))
        case 4: control(.playImmediately(1))
        case 5: control(.setForwardPlaybackEndTime(.seconds(Int64(random.next() % 40))))
        default: control(.play)
        }
        return choice == 2
    }

    private mutating func controlMore() -> Bool {
        switch random.next() % 6 {
        case 0:
            interstitialRuns.toggle()
            control(.setInterstitialRunning(interstitialRuns))
            return false
        case 1:
            control(.cancelSeek)
            return false
        default:
            control(.seek(to: .milliseconds(Int64(random.next() % 40_000))))
            return true
        }
    }

    private mutating func control(_ control: EngineControl) {
        let before = harness.engine.playhead
        harness.control(control)
        let (after, status) = (harness.engine.playhead, harness.engine.machine.status)
        controls.append("\(harness.now) \(control): \(before) to \(after), \(status)")
    }

    // MARK: Server

    private static func origin(seed: UInt64, _ random: inout SplitMix64) -> ScriptedOrigin {
        let hasAudio = random.next() % 3 == 0
        let audio = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="en",DEFAULT=YES,URI="c.m3u8""#
        var origin = ScriptedOrigin.multivariant(
            ["a": 3_000_000, "b": 1_000_000], extra: hasAudio ? [audio] : [], audio: hasAudio ? "x" : nil)
        let isLive = random.next() % 2 == 0
        let faultShare = random.next() % 3 == 0 ? 0 : 6 + random.next() % 20
        let tagSeed = random.next()
        let count = 3 + Int(random.next() % 6)
        for name in ["a", "b", "c"] {
            let tags: @Sendable (Int) -> [String] = { number in
                var dice = SplitMix64(seed: tagSeed &+ UInt64(number))
                var tags: [String] = []
                if dice.next() % 8 == 0 { tags.append("#EXT-X-DISCONTINUITY") }
                if dice.next() % 12 == 0 { tags.append("#EXT-X-GAP") }
                if number % 4 == 1, tagSeed % 3 == 0 {
                    tags += [#"#EXT-X-KEY:METHOD=AES-128,URI="\#(name)key""#, #"#EXT-X-MAP:URI="\#(name)map""#]
                }
                return tags
            }
            if isLive {
                let freeze = Duration.seconds(Int64(random.next() % 30))
                let broadcast = Broadcast(
                    windowCount: 3 + Int(random.next() % 4), laterCount: count, prefix: name,
                    freezes: random.next() % 4 == 0 ? [freeze..<freeze + .seconds(15)] : [],
                    endsWithTag: random.next() % 8 != 0, tags: tags)
                origin.routes["\(name).m3u8"] = { visit in
                    fault(visit, seed, share: faultShare * 2) ?? .text(broadcast.text(at: visit.time))
                }
            } else {
                var text = PlaylistText.numbered(0, count: count, prefix: name, isEnded: true)
                for index in text.segments.indices { text.segments[index].tags = tags(index) }
                origin.routes["\(name).m3u8"] = { [text] visit in
                    fault(visit, seed, share: faultShare * 2) ?? .text(text)
                }
            }
        }
        origin.media = { visit in fault(visit, seed, share: faultShare) ?? .media(60_000) }
        let rates = [30_000.0, 200_000, 1_000_000]
        let rate = rates[Int(random.next() % 3)]
        origin.bytesPerSecond = { time in Int(time / .seconds(7)) % 3 == 0 ? rate / 4 : rate }
        return origin
    }

    /// Returns a fault for one in `share` requests, or none if `share` is 0.
    private static func fault(_ visit: ScriptedOrigin.Visit, _ seed: UInt64, share: UInt64) -> ScriptedOrigin.Reply? {
        guard share > 0 else { return nil }
        var hash = seed &* 31 &+ UInt64(visit.earlierCount)
        for byte in visit.path.utf8 { hash = hash &* 131 &+ UInt64(byte) }
        var dice = SplitMix64(seed: hash)
        guard dice.next() % share == 0 else { return nil }
        let delay = Duration.milliseconds(Int64(dice.next() % 3_000))
        switch dice.next() % 7 {
        case 0: return .status(404).after(delay)
        case 1: return .status(503).after(delay)
        case 2: return .failure(.connectionLost).after(delay)
        case 3: return .failure(.cannotConnect).after(delay)
        case 4: return .html.after(delay)
        case 5: return .status(429, retryAfter: .seconds(2))
        default: return .failure(.timedOut).after(.seconds(8))
        }
    }
}
