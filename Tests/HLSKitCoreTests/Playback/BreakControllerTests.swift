import HLSKitEngine
import HLSKitLoading
import HLSKitSelection
import HLSKitTime
import Testing

@testable import HLSKitPlayback

@Suite("Order of players in a break")
struct BreakStageTests {
    private struct Theatre {
        var stage: BreakController
        var facts = BreakController.Facts(now: .zero, isToPlay: true)
        var assets: [Int: BreakController.AssetFacts] = [:]
        var last = 0

        init(_ events: InterstitialEvent...) {
            stage = BreakController(primaryID: "p")
            stage.change(
                { schedule in
                    schedule.update(PrimaryTimeline(start: .zero, end: .seconds(60), isLive: false)) { _ in nil }
                    schedule.set(events) { _ in nil }
                }, playhead: .zero)
            _ = stage.arrive(at: .zero)
        }

        mutating func settle() -> [String] {
            var steps: [String] = []
            while steps.count < 50 {
                facts.playing = stage.actor.flatMap { assets[$0.playback] }
                facts.ready = stage.waiting.compactMap { assets[$0] }
                guard let step = stage.next(facts) else { return steps }
                switch step {
                case .ask(let requests): steps.append("ask \(requests.map(\.id).joined())")
                case .make(let turn):
                    last += 1
                    assets[last] = BreakController.AssetFacts()
                    stage.made(turn, as: last)
                    steps.append("make \(last)")
                case .drop(let id): steps.append("drop \(id)")
                case .play(let id, let end, let shift):
                    let until = end.map { " to \($0.seconds)" } ?? ""
                    steps.append("play \(id)\(until) + \(shift.seconds)")
                case .prepareToResume(let time, let next):
                    steps.append("prepare \(time.seconds)\(next == nil ? "" : " next")")
                    facts.playhead = time
                case .resume(let shift, _): steps.append("resume\(shift.map { " + \($0.seconds)" } ?? "")")
                case .report(let content):
                    let range = content.timeRange
                    steps.append("tell \(range.start.seconds)-\(range.end.seconds)")
                case .wake(let time): steps.append("wake \(time.seconds)")
                }
            }
            return steps
        }

        mutating func reach(_ seconds: Double) {
            facts.playhead = .seconds(seconds)
            facts.untilBreak = nil
            stage.reach(at: .seconds(seconds))
        }

        mutating func load(_ id: Int, _ length: Double) {
            assets[id]?.allowsNextLoad = true
            assets[id]?.isComplete = true
            assets[id]?.end = .seconds(length)
        }
    }

    private static func event(_ assets: Int, resumingAfter offset: Double? = nil) -> InterstitialEvent {
        var event = InterstitialEvent(
            id: "e", time: MediaTime(.seconds(20)),
            content: .assets((1...assets).map { InterstitialAsset(urlString: "https://\($0)/") }))
        event.resumptionOffset = offset.map { MediaTime(.seconds($0)) } ?? .indefinite
        return event
    }

    @Test("an asset is prepared near the break, the next one when it is loaded, the item during the last")
    func course() {
        var theatre = Theatre(Self.event(2))
        #expect(theatre.stage.place == .time(.seconds(20)))
        theatre.facts.untilBreak = .seconds(15)
        #expect(theatre.settle() == [])
        theatre.facts.allowsNextLoad = true
        #expect(theatre.settle() == ["make 1"])
        theatre.load(1, 6)
        #expect(theatre.settle() == ["make 2"])
        theatre.reach(20)
        #expect(theatre.settle() == ["play 1 + 20.0"])
        theatre.load(2, 4)
        #expect(theatre.settle() == ["prepare 30.0"])
        theatre.stage.assetEnded(at: .seconds(6), hasFailed: false)
        #expect(theatre.settle() == ["drop 1", "play 2 + 26.0"])
        theatre.stage.assetEnded(at: .seconds(4), hasFailed: false)
        #expect(theatre.settle() == ["drop 2", "resume + 0.0"])
        #expect(!theatre.stage.isRunning)
        #expect(theatre.stage.place == nil)
    }

    @Test("a playlist update at a break's start does not lose the pending break")
    func pending() {
        var theatre = Theatre(Self.event(1))
        let longer = PrimaryTimeline(start: .zero, end: .seconds(70), isLive: false)
        theatre.stage.change({ $0.update(longer) { _ in nil } }, playhead: .seconds(20))
        #expect(theatre.stage.place == .time(.seconds(20)))
        theatre.reach(20)
        #expect(theatre.stage.program?.current?.id == "e")
    }

    @Test("events that an app schedules are known before the item")
    func early() {
        var schedule = InterstitialSchedule()
        schedule.set([Self.event(1)]) { _ in nil }
        #expect(schedule.events.map(\.id) == ["e"])
        schedule.update(PrimaryTimeline(start: .zero, end: .seconds(10), isLive: false)) { _ in nil }
        #expect(schedule.events.isEmpty)
    }

    @Test("an asset that fails before its start is omitted; one that fails later counts as played so far")
    func failures() {
        var theatre = Theatre(Self.event(3))
        (theatre.facts.untilBreak, theatre.facts.allowsNextLoad) = (.seconds(5), true)
        #expect(theatre.settle() == ["make 1"])
        theatre.assets[1]?.hasFailed = true
        #expect(theatre.settle() == ["make 2"])
        theatre.reach(20)
        #expect(theatre.settle() == ["drop 1", "play 2 + 20.0"])
        theatre.stage.assetEnded(at: .seconds(2.5), hasFailed: true)
        #expect(theatre.settle() == ["drop 2", "make 3", "play 3 + 22.5"])
        theatre.stage.assetEnded(at: .seconds(1), hasFailed: false)
        #expect(theatre.settle() == ["drop 3", "prepare 23.5", "resume + 0.0"])
    }

    @Test("each failure of an asset is reported with its reason, and a missing event as such")
    func reasons() {
        func failures(_ theatre: inout Theatre) -> [String] {
            theatre.stage.takeNews().compactMap { news in
                switch news {
                case .eventBegan: "begin"
                case .eventFailed(_, let error): error.cause
                case .eventEnded(let ending): ending.outcome.rawValue
                default: nil
                }
            }
        }
        func error(_ cause: String) -> HLSError { HLSError(code: .network, urlString: nil, cause: cause) }
        var theatre = Theatre(Self.event(3))
        (theatre.facts.untilBreak, theatre.facts.allowsNextLoad) = (.seconds(5), true)
        #expect(theatre.settle() == ["make 1"])
        theatre.assets[1] = BreakController.AssetFacts(hasFailed: true, error: error("one"))
        #expect(theatre.settle() == ["make 2"])
        theatre.reach(20)
        _ = theatre.settle()
        theatre.stage.assetEnded(at: .zero, hasFailed: true, error: error("two"))
        _ = theatre.settle()
        theatre.assets[3]?.isWaiting = true
        _ = theatre.settle()
        theatre.facts.now = .seconds(10)
        _ = theatre.settle()
        #expect(failures(&theatre) == ["begin", "one", "two", "no media arrived for 5 s", "failed"])

        var listed = Self.event(1)
        listed.content = .assetList("https://list/")
        var other = Theatre(listed)
        other.reach(20)
        _ = other.settle()
        other.stage.take(nil, of: "e")
        _ = other.settle()
        #expect(failures(&other) == ["begin", "there is nothing for the interstitial to play", "failed"])
    }

    @Test(
        "a waiting asset is dropped after its deadline, which excludes pauses; the next is prepared"
    )
    func deadline() {
        var theatre = Theatre(Self.event(1, resumingAfter: 10))
        theatre.reach(20)
        theatre.assets[1] = BreakController.AssetFacts(isWaiting: true)
        #expect(theatre.settle() == ["make 1", "play 1 + 20.0"])
        theatre.assets[1]?.isWaiting = true
        #expect(theatre.settle() == ["wake 2.0"])
        theatre.assets[1]?.isWaiting = false
        theatre.facts.now = .seconds(60)
        #expect(theatre.settle() == [])
        theatre.assets[1]?.isWaiting = true
        #expect(theatre.settle() == ["wake 62.0"])
        theatre.facts.now = .seconds(62)
        #expect(theatre.settle() == ["prepare 20.0", "wake 65.0"])
        theatre.facts.now = .seconds(65)
        #expect(theatre.settle() == ["drop 1", "resume + 0.0"])
    }

    @Test("skipping an event or cancelling a break works with and without a playing asset")
    func leaving() {
        var theatre = Theatre(Self.event(2))
        theatre.reach(20)
        #expect(theatre.settle() == ["make 1", "play 1 + 20.0"])
        theatre.stage.cancel(resumptionOffset: .seconds(12), at: .seconds(3))
        #expect(theatre.settle() == ["drop 1", "prepare 32.0", "resume + -9.0"])
        var other = Theatre(Self.event(1, resumingAfter: 0))
        other.reach(20)
        other.stage.skip(at: nil)
        #expect(other.settle() == ["prepare 20.0", "resume + 0.0"])
    }

    @Test("a seek leaves the break, and a played break is repeated afterwards")
    func seek() {
        var theatre = Theatre(Self.event(1, resumingAfter: 0))
        theatre.reach(20)
        #expect(theatre.settle() == ["make 1", "play 1 + 20.0"])
        #expect(theatre.stage.seek(from: .seconds(20), to: .seconds(5)) == false)
        #expect(theatre.stage.playbacks.isEmpty)
        #expect(theatre.stage.arrive(at: .seconds(5)) == false)
        #expect(theatre.stage.place == .time(.seconds(20)))
    }
}
