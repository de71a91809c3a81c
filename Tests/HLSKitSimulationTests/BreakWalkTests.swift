import Foundation
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitPlayback

/// Random items with random interstitials, servers and users, in a complete player. These rules must always hold:
///
/// - The item does not advance while others replace it.
/// - An event that plays once starts once.
/// - A seek over an event that must not be skipped is refused, or the event plays first.
/// - Each frame of the item follows the previous one, unless a seek or a break leads elsewhere and reports it. The same
///   holds for remuxed samples, which then begin with the samples that lead up to the frame.
/// - The item plays to its end on request.
/// - A failed pathway is left at most once in its penalty time. All other moves follow the steering server.
/// - A closed player sends no requests.
///
/// Every third item is on two hosts, of which one may be down, with a mostly useless steering server. A step is 100 ms.
/// `HLSKIT_WALKS` selects tens of walks, as in `0-200`. The default is the first one.
@Suite("P01: Random walks through items with breaks", .ownThread, .timeLimit(.minutes(240)))
struct BreakWalkTests {
    private static let tens: [Int] = {
        let text = ProcessInfo.processInfo.environment["HLSKIT_WALKS"] ?? "0-1"
        let bounds = text.split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return [] }
        return Array(bounds[0]..<bounds[1])
    }()

    @Test("the invariants hold in random walks", arguments: tens)
    func walk(ten: Int) throws {
        var steps = 0
        for seed in ten * 10..<ten * 10 + 10 {
            let walk = try BreakWalk.run(seed: UInt64(seed))
            steps += walk.stepCount
            if !walk.violations.isEmpty {
                let lines = walk.violations.prefix(6).joined(separator: "\n")
                Issue.record("seed \(seed): \(lines)\n\(walk.log.suffix(1000).joined(separator: "\n"))")
            }
        }
        if let path = ProcessInfo.processInfo.environment["HLSKIT_WALK_COUNT"] {
            let line = Data("\(ten) \(steps)\n".utf8)
            if let file = FileHandle(forWritingAtPath: path) {
                try file.seekToEnd()
                try file.write(contentsOf: line)
            } else {
                try line.write(to: URL(fileURLWithPath: path))
            }
        }
        #expect(steps > 1000)
    }

    @Test("the same walk has the same log, byte for byte", arguments: [1, 4] as [UInt64])
    func again(seed: UInt64) throws {
        let (first, second) = (try BreakWalk.run(seed: seed), try BreakWalk.run(seed: seed))
        if let difference = zip(first.log, second.log).first(where: { $0 != $1 }) {
            Issue.record("\(difference.0)\n\(difference.1)")
        }
        #expect(first.log.count == second.log.count && first.log.count > 50)
    }
}

struct BreakWalk: Sendable {
    var log: [String] = []
    var violations: [String] = []
    var stepCount = 0

    private final class Notebook: Sendable {
        struct State {
            var log: [String] = []
            var violations: [String] = []
            var frames: [Duration] = []
            var samples: [Duration] = []
            /// The times at which the item may continue without following the previous frame.
            var landings: [Duration] = []
            var begun: [String: Int] = [:]
            var isInBreak = false
            var held: MediaTime?
            var hasEnded = false
            var requestCount = 0
            var steeringCount = 0
            var moves: [(time: Duration, from: String, reason: PathwayChangeReason)] = []
        }
        let state = Mutex(State())
        func note(_ line: String) { state.withLock { $0.log.append(line) } }
        func fail(_ line: String) {
            state.withLock { state in
                state.violations.append(line)
                state.log.append("VIOLATION " + line)
            }
        }
    }

    private final class FrameNotes: FrameReceiver {
        let binding = OutputBinding()
        let notebook: Notebook
        init(_ notebook: Notebook) { self.notebook = notebook }
        func receive(_ frame: VideoFrame, at clock: OutputClock) {
            let time = frame.itemTime?.duration ?? .seconds(-1)
            notebook.state.withLock { $0.frames.append(time) }
        }
        func flush(generation: Int) {}
        func finish(_ type: MediaKind, at clock: OutputClock) {}
        func end() {}
    }

    private final class SampleNotes: SampleReceiver {
        let binding = OutputBinding()
        let sampleTypes: Set<MediaKind> = [.video]
        let notebook: Notebook
        init(_ notebook: Notebook) { self.notebook = notebook }
        func receive(_ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, clock: OutputClock) {
            let time = itemTime.duration ?? .seconds(-1)
            notebook.state.withLock { $0.samples.append(time) }
        }
        func flush(generation: Int) {}
        func finish(_ type: MediaKind, at clock: OutputClock) {}
        func end() {}
    }

    /// Serves an item, the events in its playlist, assets, and asset lists.
    private final class Server: Sendable {
        struct Listed: Sendable {
            var tag: String
            var from: Duration
            var until: Duration
        }
        /// Two pathways: A on one host and B on another.
        struct Steering: Sendable {
            var answers: [SimulatedResponse]
            /// The outages of the hosts in order. They never overlap.
            var outages: [(host: String, time: Range<Duration>)]

            static let playlist = """
                #EXTM3U
                #EXT-X-VERSION:12
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-CONTENT-STEERING:SERVER-URI="https://steer.invalid/s",PATHWAY-ID="A"
                #EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.42C00A",PATHWAY-ID="A",STABLE-VARIANT-ID="v"
                https://main.invalid/0/index.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.42C00A",PATHWAY-ID="B",STABLE-VARIANT-ID="v"
                https://twin.invalid/0/index.m3u8

                """
        }
        let isLive: Bool
        let stream: SyntheticStream
        let listed: [Listed]
        let steering: Steering?
        let lists: [String: SimulatedResponse]
        let delays: [Int]
        let notebook: Notebook

        init(
            isLive: Bool, stream: SyntheticStream, listed: [Listed], lists: [String: SimulatedResponse], delays: [Int],
            steering: Steering?, notebook: Notebook
        ) {
            self.steering = steering
            self.isLive = isLive
            self.stream = stream
            self.listed = listed
            self.lists = lists
            self.delays = delays
            self.notebook = notebook
        }

        func answer(_ request: SimulatedRequest) -> SimulatedResponse? {
            let count = notebook.state.withLock { state in
                state.requestCount += 1
                return state.requestCount
            }
            let path = request.urlString.prefix { $0 != "?" }
            if path.hasSuffix(".json") {
                return lists[String(path.split(separator: "/").last ?? "")] ?? .notFound
            }
            if path.hasPrefix("https://silent") { return .silence }
            if path.hasPrefix("https://steer.invalid/"), let answers = steering?.answers {
                let number = notebook.state.withLock { state in
                    state.steeringCount += 1
                    return state.steeringCount
                }
                return answers[number % answers.count]
            }
            guard let host = ["main", "twin"].first(where: { path.hasPrefix("https://\($0).invalid/") }) else {
                return nil
            }
            if let steering {
                if path == "https://main.invalid/index.m3u8" { return .playlist(Steering.playlist) }
                if steering.outages.contains(where: { $0.host == host && $0.time.contains(request.time) }) {
                    return .failure(.cannotConnect)
                }
            }
            var inner = request
            inner.urlString = "https://synthetic.invalid/" + path.dropFirst("https://main.invalid/".count)
            var response = stream.response(to: inner)
            response.delay = .milliseconds(delays[count % delays.count])
            guard path.hasSuffix("/0/index.m3u8") else { return response }
            var lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init)
            guard let first = lines.firstIndex(where: { $0.hasPrefix("#EXTINF") }) else { return response }
            let number =
                lines.first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }.flatMap { $0.split(separator: ":").last }
                .flatMap { Int($0) } ?? 0
            let tags = listed.filter { $0.from <= request.time && request.time < $0.until }.map(\.tag)
            lines.insert(contentsOf: ["#EXT-X-PROGRAM-DATE-TIME:\(BreakWalk.date(number * 2))"] + tags, at: first)
            response.body = Array((lines.joined(separator: "\n") + "\n").utf8)
            return response
        }
    }

    static func date(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "2026-01-01T\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60)).000Z"
    }

    private static let assets = ["a": 2, "b": 4, "c": 6, "d": 1, "gone": 0, "silent": 0]

    private struct Plan {
        var random: SplitMix64
        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        mutating func chance(_ of: Int) -> Bool { number(0..<of) == 0 }
        mutating func asset() -> String {
            if chance(12) { return "gone" }
            if chance(24) { return "silent" }
            return ["a", "b", "c", "d"][number(0..<4)]
        }

        mutating func event(_ id: String, in range: Range<Int>) -> InterstitialEvent {
            let time = Double(number(range.lowerBound * 10..<range.upperBound * 10)) / 10
            var event = BreakTests.event(id, at: time, (0..<number(1..<3)).map { _ in asset() })
            switch number(0..<4) {
            case 0: event.resumptionOffset = .indefinite
            case 1: event.resumptionOffset = .seconds(Double(number(-4..<8)))
            default: break
            }
            if chance(5) { event.playoutLimit = .seconds(Double(number(1..<8)) / 2) }
            if chance(4) { event.willPlayOnce = true }
            if chance(6) { event.cue = chance(2) ? .joinCue : .leaveCue }
            if chance(5) { event.restrictions.insert(.constrainsSeekingForwardInPrimaryContent) }
            if chance(5) { event.restrictions.insert(.requiresPlaybackAtPreferredRateForAdvancement) }
            event.alignsStartWithPrimarySegmentBoundary = chance(5)
            event.alignsResumptionWithPrimarySegmentBoundary = chance(5)
            if chance(3) { event.timelineOccupancy = .fill }
            if chance(2) { event.plannedDuration = .seconds(number(1..<8)) }
            return event
        }

        mutating func list() -> SimulatedResponse {
            var response = SimulatedResponse(
                contentType: "application/json", body: [], delay: .milliseconds(number(0..<5000)))
            switch number(0..<8) {
            case 0: return .notFound
            case 1: response.body = Array("<html>".utf8)
            case 2: response.body = Array(#"{"ASSETS":[]}"#.utf8)
            default:
                let entries = (0..<number(1..<3)).map { _ in
                    let name = asset()
                    return #"{"URI":"https://\#(name).invalid/index.m3u8","DURATION":\#(BreakWalk.assets[name] ?? 0)}"#
                }
                response.body = Array("{\"ASSETS\":[\(entries.joined(separator: ","))]}".utf8)
            }
            return response
        }

        /// Returns a steering server's responses, mostly useless, and outages of the hosts.
        mutating func steering(seconds: Int) -> Server.Steering {
            let answers = (0..<12).map { _ in
                let text =
                    switch number(0..<8) {
                    case 0: "<html>"
                    case 1: #"{"VERSION":1,"TTL":1,"PATHWAY-PRIORITY":["X","Y"]}"#
                    case 2, 3: #"{"VERSION":1,"TTL":\#(number(1..<8)),"PATHWAY-PRIORITY":["B","A"]}"#
                    default: #"{"VERSION":1,"TTL":\#(number(1..<8)),"PATHWAY-PRIORITY":["A","B"]}"#
                    }
                var answer = SimulatedResponse(
                    contentType: "application/json", body: Array(text.utf8), delay: .milliseconds(number(0..<2000)))
                if chance(12) { answer = SimulatedResponse(status: chance(2) ? 429 : 410) }
                if chance(20) { answer = .silence }
                return answer
            }
            var (outages, time) = ([(host: String, time: Range<Duration>)](), 3)
            while time < seconds {
                time += number(1..<40)
                let length = number(1..<20)
                if chance(2) {
                    let range = Duration.seconds(time)..<Duration.seconds(time + length)
                    outages.append((chance(2) ? "main" : "twin", range))
                }
                time += length + 15
            }
            return Server.Steering(answers: answers, outages: outages)
        }

        mutating func tag(_ event: InterstitialEvent) -> String {
            guard case .time(let time) = event.start else { return "" }
            let seconds = Int(time.seconds)
            var text =
                "#EXT-X-DATERANGE:ID=\"\(event.id)\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"\(BreakWalk.date(seconds))\""
            if chance(2) {
                text += ",X-ASSET-LIST=\"https://lists.invalid/\(event.id).json\""
            } else {
                text += ",X-ASSET-URI=\"https://\(asset()).invalid/index.m3u8\""
            }
            if let offset = event.resumptionOffset.duration { text += ",X-RESUME-OFFSET=\(offset.seconds)" }
            if let limit = event.playoutLimit?.duration { text += ",X-PLAYOUT-LIMIT=\(limit.seconds)" }
            if let duration = event.plannedDuration { text += ",PLANNED-DURATION=\(duration.seconds)" }
            var restrictions: [String] = []
            if event.restrictions.contains(.constrainsSeekingForwardInPrimaryContent) { restrictions.append("JUMP") }
            if event.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement) {
                restrictions.append("SKIP")
            }
            if !restrictions.isEmpty { text += ",X-RESTRICT=\"\(restrictions.joined(separator: ","))\"" }
            var cues = event.cue == .joinCue ? ["PRE"] : event.cue == .leaveCue ? ["POST"] : []
            if event.willPlayOnce { cues.append("ONCE") }
            if !cues.isEmpty { text += ",CUE=\"\(cues.joined(separator: ","))\"" }
            return text
        }
    }

    static func run(seed: UInt64) throws -> BreakWalk {
        var plan = Plan(random: SplitMix64(seed: seed &* 7919 &+ 1))
        let notebook = Notebook()
        let isLive = plan.chance(2)
        let byProgram = plan.chance(2)
        let count = plan.number(10..<25)
        let stream = SyntheticStream(
            bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: isLive ? count + 12 : count,
            liveWindow: isLive ? 12 : nil)
        let range = isLive ? 10..<(count + 12) * 2 : 0..<count * 2 + 1
        let events = (0..<plan.number(1..<6)).map { plan.event("e\($0)", in: range) }
        var lists: [String: SimulatedResponse] = [:]
        for event in events { lists["\(event.id).json"] = plan.list() }
        let listed = events.map { event in
            Server.Listed(
                tag: plan.tag(event), from: isLive && plan.chance(2) ? .seconds(plan.number(0..<20)) : .zero,
                until: isLive && plan.chance(4) ? .seconds(plan.number(10..<60)) : .seconds(1_000_000))
        }
        let delays = (0..<16).map { _ in plan.chance(8) ? plan.number(0..<1500) : 0 }
        var steeringPlan = Plan(random: SplitMix64(seed: seed &* 104_729 &+ 3))
        let steering = seed % 3 == 2 ? steeringPlan.steering(seconds: 300) : nil
        let server = Server(
            isLive: isLive, stream: stream, listed: byProgram ? [] : listed, lists: lists, delays: delays,
            steering: steering, notebook: notebook)
        let isUnpaced = plan.chance(5) && !isLive
        let queue = try VirtualQueue(
            assets.filter { $0.value > 0 },
            change: { configuration in
                configuration.seed = seed
                configuration.decodingThreadCount = 1
                configuration.sendsPlaybackSessionID = false
                if isUnpaced { configuration.pacing = .unpaced }
            },
            answer: { server.answer($0) })
        let steps = plan.number(300..<900)
        let random = plan.random
        return try queue.clock.run {
            let user = User(
                clock: queue.clock, notebook: notebook, configuration: queue.configuration,
                events: byProgram ? events : nil,
                length: range.upperBound, isUnpaced: isUnpaced, copies: seed % 2 == 1, plan: Plan(random: random))
            let count = try await user.play(steps: steps)
            let state = notebook.state.withLock(\.self)
            return BreakWalk(log: state.log, violations: state.violations, stepCount: count)
        }
    }

    private final class User: @unchecked Sendable {  // used by one task
        let clock: VirtualClock
        let notebook: Notebook
        let player: Player
        let item: PlayerItem
        let controller: InterstitialEventController
        let length: Int
        let isUnpaced: Bool
        /// Whether samples are remuxed in addition to being decoded.
        let copies: Bool
        let events: [InterstitialEvent]?
        var plan: Plan
        var entered: Set<String> = []

        init(
            clock: VirtualClock, notebook: Notebook, configuration: PlayerConfiguration, events: [InterstitialEvent]?,
            length: Int, isUnpaced: Bool, copies: Bool, plan: Plan
        ) {
            self.copies = copies
            self.clock = clock
            self.notebook = notebook
            self.plan = plan
            self.length = length
            self.isUnpaced = isUnpaced
            self.events = events
            player = Player(configuration: configuration)
            item = PlayerItem(urlString: "https://main.invalid/index.m3u8")
            controller = InterstitialEventController(primaryPlayer: player)
        }

        func play(steps: Int) async throws -> Int {
            try item.add(FrameNotes(notebook))
            if copies { try item.add(SampleNotes(notebook)) }
            if let events { controller.setEvents(events, for: item) }
            let follower = Task(executorPreference: clock) {
                [stream = player.events(bufferingNewest: .max), notebook] in
                var log = EventLog()
                for await event in stream {
                    log = EventLog()
                    log.append(event)
                    BreakWalk.take(event, log.lines.first ?? "", notebook)
                }
            }
            player.play()
            try player.replaceCurrentItem(with: item)
            let userSeeks = plan.chance(2)
            var count = 0
            for _ in 0..<steps where !notebook.state.withLock(\.hasEnded) {
                try await clock.sleep(for: .milliseconds(100))
                count += 1
                look()
                if plan.chance(20) { try await act(seeks: userSeeks) }
            }
            await finish()
            await player.close()
            await follower.value
            let before = notebook.state.withLock(\.requestCount)
            try await clock.sleep(for: .seconds(60))
            if notebook.state.withLock(\.requestCount) != before { notebook.fail("a request of a closed player") }
            judgeFrames()
            judgeSamples()
            judgeOnce()
            judgeMoves()
            return count
        }

        func look() {
            let state = player.state
            notebook.state.withLock { notes in
                guard notes.isInBreak, state.interstitial != nil else {
                    notes.held = nil
                    return
                }
                if let held = notes.held, held != state.currentTime {
                    notes.violations.append("the item moved from \(held.seconds) to \(state.currentTime.seconds)")
                }
                notes.held = state.currentTime
                if state.timebaseRate != 0 { notes.violations.append("time runs in a break") }
                if state.rate != 0, state.reasonForWaitingToPlay != .interstitialEvent {
                    notes.violations.append("waits for \(String(describing: state.reasonForWaitingToPlay))")
                }
            }
        }

        func act(seeks: Bool) async throws {
            let choice = plan.number(0..<14)
            switch choice {
            case 0: player.pause()
            case 1, 2, 3: player.play()
            case 4: player.rate = [0.5, 1, 1.5, 2][plan.number(0..<4)]
            case 5: controller.skipCurrentEvent()
            case 6:
                controller.cancelCurrentEvent(
                    withResumptionOffset: plan.chance(2) ? .indefinite : .seconds(Double(plan.number(-3..<6))))
            case 7 where events != nil && plan.chance(2):
                controller.events = (0..<plan.number(0..<5)).map { plan.event("e\($0)", in: 0..<length) }
            case 8 where events != nil && plan.chance(4): controller.resetEvents()
            case 9, 10, 11: if seeks { await seek(to: .seconds(Double(plan.number(0..<length * 10)) / 10)) }
            case 12: if seeks { await seekOnTimeline() }
            default: break
            }
            notebook.note("action \(choice)")
        }

        func seek(to time: MediaTime) async {
            guard let target = time.duration else { return }
            let rule = player.core.state.withLock { state -> (refuses: Bool, first: String?)? in
                guard let stage = state.breaks?.stage, stage.hasStarted else { return nil }
                if stage.refusesSeek(to: target) { return (true, nil) }
                var schedule = stage.schedule
                guard
                    case .first(let program) = schedule.seek(
                        from: state.current.engine.shownTime(at: player.core.clock.now), to: target)
                else { return nil }
                return (false, program.current?.id)
            }
            let before = notebook.state.withLock(\.begun)
            let isDone = Mutex<Bool?>(nil)
            let task = Task(executorPreference: clock) { [player] in
                let result = try? await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
                isDone.withLock { $0 = result }
            }
            try? await clock.sleep(for: .milliseconds(1))
            if let rule {
                let (result, after) = (isDone.withLock(\.self), notebook.state.withLock(\.begun))
                if rule.refuses, result != false { notebook.fail("a seek to \(target) was not refused") }
                if let first = rule.first, after[first, default: 0] <= before[first, default: 0], result == true {
                    notebook.fail("\(first) was jumped over")
                }
            }
            notebook.note("seek to \(time.seconds): \(isDone.withLock { "\(String(describing: $0))" })")
            _ = task
        }

        func seekOnTimeline() async {
            let snapshot = item.integratedTimeline.currentSnapshot
            for (one, next) in zip(snapshot.segments, snapshot.segments.dropFirst())
            where one.timeRange.end != next.timeRange.start {
                notebook.fail("room on the timeline")
            }
            let time = MediaTime.seconds(Double(plan.number(0..<max(1, Int(snapshot.duration.seconds * 10)))) / 10)
            if let id = snapshot.segmentAndOffset(forTimelineTime: time)?.segment.event?.id { entered.insert(id) }
            let task = Task(executorPreference: clock) { [item] in
                _ = try? await item.integratedTimeline.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
            }
            try? await clock.sleep(for: .milliseconds(1))
            notebook.note("timeline to \(time.seconds)")
            _ = task
        }

        func finish() async {
            player.rate = 1
            for _ in 0..<6000 where !notebook.state.withLock(\.hasEnded) {
                try? await clock.sleep(for: .milliseconds(100))
                if player.rate == 0 { player.play() }
                look()
            }
            guard !notebook.state.withLock(\.hasEnded) else { return }
            let state = player.state
            notebook.fail(
                "not at its end: \(state.timeControlStatus) \(state.reasonForWaitingToPlay.map { "\($0)" } ?? "-") "
                    + "at \(state.currentTime.seconds) of \(state.duration.seconds), "
                    + "\(state.interstitial.map { "\($0.event.id) \($0.currentTime.seconds)" } ?? "-")")
        }

        func judgeFrames() {
            let (frames, landings) = notebook.state.withLock { ($0.frames, $0.landings) }
            for (one, next) in zip(frames, frames.dropFirst()) {
                let distance = next - one
                if distance > .milliseconds(39), distance < .milliseconds(41) { continue }
                let isKnown = landings.contains { next >= $0 - .milliseconds(41) && next <= $0 + .milliseconds(41) }
                if !isKnown { notebook.fail("after the frame \(one) comes \(next)") }
            }
        }

        /// Checks that each sample follows the previous one, except where the player reported a jump. After a jump,
        /// samples begin at the start of the segment, with the samples that lead up to the frame. Samples that only
        /// others need are very short.
        func judgeSamples() {
            let (samples, landings) = notebook.state.withLock { ($0.samples, $0.landings) }
            if copies, samples.isEmpty { notebook.fail("no sample was copied") }
            for (one, next) in zip(samples, samples.dropFirst()) {
                let distance = next - one
                if distance >= .zero, distance < .milliseconds(41) { continue }
                let isKnown = landings.contains { next >= $0 - .seconds(2.05) && next <= $0 + .milliseconds(41) }
                if !isKnown { notebook.fail("after the sample \(one) comes \(next)") }
            }
        }

        /// Checks that the player does not move back and forth between pathways.
        func judgeMoves() {
            let (moves, answers) = notebook.state.withLock { ($0.moves, $0.steeringCount) }
            let failures = moves.filter { $0.reason == .failure }
            for (index, move) in failures.enumerated() {
                guard let last = failures[..<index].last(where: { $0.from == move.from }) else { continue }
                if move.time - last.time < RetryPolicies().penalty {
                    notebook.fail("\(move.from) was left for failures at \(last.time) and \(move.time)")
                }
            }
            if moves.count > 2 * failures.count + answers {
                notebook.fail("\(moves.count) moves, with \(failures.count) failures and \(answers) answers")
            }
        }

        func judgeOnce() {
            let begun = notebook.state.withLock(\.begun)
            for event in controller.events.isEmpty ? events ?? [] : controller.events
            where event.willPlayOnce && begun[event.id, default: 0] > 1 && !entered.contains(event.id) && events == nil
            {
                notebook.fail("\(event.id) was played \(begun[event.id] ?? 0) times")
            }
        }
    }

    private static func take(_ event: PlayerEvent, _ line: String, _ notebook: Notebook) {
        notebook.state.withLock { state in
            state.log.append(line)
            switch event.kind {
            case .interstitialBreakBegan: state.isInBreak = true
            case .interstitialBreakEnded(let time):
                state.isInBreak = false
                state.held = nil
                if let time = time?.duration { state.landings.append(time) }
            case .interstitialEventBegan(let event): state.begun[event.id, default: 0] += 1
            case .pathwayChanged(let old, _, let reason): state.moves.append((event.hostTime.offset, old, reason))
            case .timeJumped(let time): if let time = time.duration { state.landings.append(time) }
            case .didPlayToEnd, .failedToPlayToEnd, .itemStatusChanged(.failed): state.hasEnded = true
            default: break
            }
        }
    }
}
