import Foundation
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitSelection

/// Random events, playlists, users and servers. These rules must always hold:
///
/// - An event that plays once starts once, unless the user asks for it.
/// - An event starts at most once between two seeks of the user.
/// - A seek over an event that must not be skipped leads to a break with such an event.
/// - A break ends, plays no event beyond its limit, and leads back to a time of the item.
/// - The next break is ahead of the playhead, and is due when the playhead reaches it.
@Suite("P01: Random walks through schedules", .ownThread) struct InterstitialWalkTests {
    /// The first forty seeds, or those in `HLSKIT_WALKS`, as in `0-1000`. Each walk has a thousand steps.
    private static let seeds: [UInt64] = {
        let text = ProcessInfo.processInfo.environment["HLSKIT_WALKS"] ?? "0-40"
        let bounds = text.split(separator: "-").compactMap { UInt64($0) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return [] }
        return Array(bounds[0]..<bounds[1])
    }()

    @Test("the invariants hold in random walks", arguments: seeds)
    func walk(seed: UInt64) throws {
        var walk = Walk(seed: seed)
        for _ in 0..<1000 { try walk.step() }
        #expect(walk.breakCount > 0)
    }

    @Test("the same walk has the same log", arguments: [3, 17] as [UInt64])
    func again(seed: UInt64) throws {
        var logs: [[String]] = []
        for _ in 0..<2 {
            var walk = Walk(seed: seed)
            for _ in 0..<300 { try walk.step() }
            logs.append(walk.log)
        }
        #expect(logs[0] == logs[1] && !logs[0].isEmpty)
    }
}

private struct Walk {
    private var random: SplitMix64
    private var schedule = InterstitialSchedule()
    private var lists = AssetLists(primaryID: "walk")
    private var primary = PrimaryTimeline(start: .zero, end: .seconds(300), isLive: false)
    private var words: [String] = []
    private var playhead = Duration.zero
    private var now = Duration.zero
    private var nextID = 0
    private var hasStarted = false
    /// The events that started after the user's last seek. `spent` contains the started events that play once.
    private var begun: Set<String> = []
    private var spent: Set<String> = []
    private(set) var breakCount = 0
    private(set) var log: [String] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        primary.isLive = chance(2)
        arrange()
        for _ in 0..<6 { addEvent() }
        report()
    }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func chance(_ of: Int) -> Bool { number(0..<of) == 0 }

    // MARK: The item

    private mutating func arrange() {
        primary.boundaries = [6, 7].map { length in
            stride(from: primary.start.seconds, through: primary.end.seconds, by: Double(length)).map { .seconds($0) }
        }
    }

    private mutating func addEvent() {
        var text = "e\(nextID)@\(Double(number(0..<Int(primary.end.seconds * 10) + 300)) / 10)"
        nextID += 1
        if !chance(4) { text += " \(number(0..<40))" }
        switch number(0..<4) {
        case 0: text += " r0"
        case 1: text += " r\(number(-30..<60))"
        default: break
        }
        if chance(4) { text += " l\(number(0..<20))" }
        for flag in ["once", "jump", "skip", "out", "in", "list", "range"] where chance(3) { text += " " + flag }
        if chance(8) { text += " pre" } else if chance(8) { text += " post" }
        words.append(text)
    }

    private mutating func report() {
        let events = words.map { EventWords($0).event() }
        schedule.set(events) { _ in nil }
        schedule.update(primary) { _ in nil }
    }

    // MARK: Steps

    mutating func step() throws {
        now += .milliseconds(number(1..<2000))
        if !hasStarted {
            hasStarted = true
            playhead = .seconds(number(Int(primary.start.seconds)..<Int(primary.end.seconds)))
            return try play(schedule.start(at: playhead))
        }
        switch number(0..<10) {
        case 0: try seek()
        case 1: changeEvents()
        case 2 where primary.isLive:
            primary.end += .seconds(number(1..<20))
            if chance(3) { primary.start += .seconds(number(0..<10)) }
            if primary.end > .seconds(2000) { primary.isLive = false }
            arrange()
            report()
            playhead = max(playhead, primary.start)
        case 3:
            let timeline = schedule.timeline()
            for (one, next) in zip(timeline.segments, timeline.segments.dropFirst()) { #expect(one.end == next.start) }
        case 4:
            guard let event = schedule.events.randomElement(using: &random) else { return }
            forget()
            spent.remove(event.id)
            try play(schedule.enter(event.id, at: .seconds(number(0..<10))), isAsked: true)
        default: try proceed()
        }
    }

    private mutating func forget() { begun = [] }

    private mutating func changeEvents() {
        if chance(2) { addEvent() }
        if !words.isEmpty, chance(2) { words.remove(at: number(0..<words.count)) }
        if words.count > 20 { words.removeFirst() }
        report()
    }

    private mutating func seek() throws {
        let target = Duration.seconds(
            Double(number(Int(primary.start.seconds * 10)..<Int(primary.end.seconds * 10) + 1)) / 10)
        let between = schedule.stops.contains { stop in
            stop.time > playhead && stop.time < target
                && stop.events.contains {
                    $0.restrictions.contains(.constrainsSeekingForwardInPrimaryContent)
                        && !($0.willPlayOnce && spent.contains($0.id))
                }
        }
        forget()
        switch schedule.seek(from: playhead, to: target) {
        case .free:
            #expect(!between)
            playhead = target
            try play(schedule.arrive(at: playhead))
        case .first(let first):
            #expect(between)
            #expect(first.events.contains { $0.restrictions.contains(.constrainsSeekingForwardInPrimaryContent) })
            try play(first)
        }
    }

    private mutating func proceed() throws {
        let far = min(playhead + .seconds(number(1..<60)), primary.end)
        if let next = schedule.next(after: playhead), next <= far {
            #expect(next > playhead)
            playhead = next
            let due = schedule.arrive(at: next)
            #expect(due != nil)
            try play(due)
        } else {
            playhead = max(playhead, far)
            guard playhead >= primary.end, !primary.isLive else { return }
            try play(schedule.end())
            forget()
            guard case .free = schedule.seek(from: primary.end, to: primary.start) else {
                Issue.record("a seek back was not free")
                return
            }
            playhead = primary.start
            try play(schedule.arrive(at: playhead))
        }
    }

    // MARK: Breaks

    private mutating func play(_ first: InterstitialBreak?, isAsked: Bool = false) throws {
        var running = first
        for _ in 0..<200 {
            guard let current = running else { return }
            breakCount += 1
            for (index, event) in current.events.enumerated() {
                #expect(begun.insert(event.id).inserted)
                #expect(isAsked && index == 0 || !event.willPlayOnce || !spent.contains(event.id))
                if event.willPlayOnce { spent.insert(event.id) }
            }
            for request in lists.due(current, in: .zero, targetDuration: .seconds(6), now: now) where chance(2) {
                let list = InterstitialAssetList(
                    assets: (0..<number(0..<3)).map { .init(uri: "\($0)", duration: .seconds(number(0..<20))) })
                lists.take(chance(4) ? nil : (list, base: "https://ads.example/"), of: request.id)
            }
            let over = try playThrough(current)
            lists.forget(over)
            let latest = primary.isLive && chance(2) ? primary.end - .seconds(number(0..<30)) : nil
            switch schedule.finish(over, waited: .seconds(number(0..<3)), latest: latest) {
            case .primary(let time):
                #expect(time >= primary.start && time <= max(primary.end, over.place))
                log.append("\(over.place) \(over.events.map(\.id)) \(over.played) \(time)")
                playhead = time
                running = nil
            case .another(let other): running = other
            case .later:
                Issue.record("nothing is skipped")
                running = nil
            case .end:
                playhead = primary.end
                running = nil
            }
        }
        #expect(running == nil)
    }

    private mutating func playThrough(_ first: InterstitialBreak) throws -> InterstitialBreak {
        var running = first
        for _ in 0..<200 {
            let before = running.played
            switch running.step(lists, now: now) {
            case .over:
                #expect(running.current == nil)
                return running
            case .wait(_, let until):
                #expect(until > now && until <= now + InterstitialBreak.listDeadline)
                now = until
            case .play(let asset, let from, let limit):
                #expect(running.step(lists, now: now) == .play(asset, from: from, upTo: limit))
                if let limit { #expect(limit > from) }
                switch number(0..<8) {
                case 0: running.assetFailed(at: chance(2) ? nil : from + .seconds(number(0..<3)))
                case 1: running.skipEvent(at: from)
                case 2: running.cancel(resumptionOffset: chance(2) ? nil : .seconds(number(-20..<40)), at: from)
                case 3:
                    changeEvents()
                    schedule.refresh(&running)
                    let known = Set(first.events.map(\.id))
                    for event in running.events where !known.contains(event.id) {
                        begun.insert(event.id)
                        if event.willPlayOnce { spent.insert(event.id) }
                    }
                default:
                    let end = asset.duration ?? .seconds(number(0..<25))
                    running.assetEnded(at: limit.map { min($0, end) } ?? end)
                }
            }
            #expect(running.played >= before)
        }
        Issue.record("a break that does not end")
        return running
    }
}
