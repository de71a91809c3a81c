import HLSKitPlaylist
import HLSKitTime
import Testing

@testable import HLSKitSelection

@Suite("P01: Contents of a break") struct InterstitialBreakTests {
    private static func list(_ durations: [Double?], skip: InterstitialSkipControl? = nil) -> InterstitialAssetList {
        let assets = durations.enumerated().map {
            InterstitialAssetList.Asset(uri: "\($0.offset)", duration: $0.element.map { .seconds($0) })
        }
        return InterstitialAssetList(assets: assets, skipControl: skip)
    }

    private static func asset(_ number: Int, _ duration: Double?) -> InterstitialAsset {
        InterstitialAsset(urlString: "https://ads.example/\(number)", duration: duration.map { .seconds($0) })
    }

    private static func lists(_ known: [String: InterstitialAssetList]) -> AssetLists {
        var lists = AssetLists(primaryID: "p")
        for (id, list) in known {
            _ = lists.due(makeBreak("\(id) list"), in: .zero, targetDuration: .seconds(6), now: .zero)
            lists.take((list, base: "https://ads.example/list"), of: id)
        }
        return lists
    }

    private static func makeBreak(
        _ text: String, passed: Double = 0, startOffset: Double = 0, arrival: Double? = nil
    ) -> InterstitialBreak {
        InterstitialBreak(
            place: .seconds(100), kind: .inside, events: EventWords.all(text).map { $0.event() },
            passed: .seconds(passed), startOffset: .seconds(startOffset), arrival: arrival.map { .seconds($0) })
    }

    // MARK: Assets

    @Test("the assets of a list play one after the other, and their durations add up")
    func assets() {
        let lists = Self.lists(["a": Self.list([10, 12.5])])
        var running = Self.makeBreak("a list")
        #expect(running.step(lists, now: .zero) == .play(Self.asset(0, 10), from: .zero, upTo: nil))
        #expect(running.step(lists, now: .seconds(1)) == .play(Self.asset(0, 10), from: .zero, upTo: nil))
        running.assetEnded(at: .seconds(10))
        #expect(running.step(lists, now: .zero) == .play(Self.asset(1, 12.5), from: .zero, upTo: nil))
        running.assetEnded(at: .seconds(12.25))
        #expect(running.step(lists, now: .zero) == .over)
        #expect(running.step(lists, now: .zero) == .over)
        #expect(running.resumptionOffset == .seconds(22.25))
        #expect(running.played == .seconds(22.25))
        #expect(running.current == nil)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var event: String
        var durations: [Double?]
        var startOffset = 0.0
        var ends: [Double?]
        var expected: String
        var offset: Double
        var testDescription: String { "\(event) \(durations) from \(startOffset)" }
    }

    @Test(
        "limits, offsets and failures determine the played assets and the counted duration",
        arguments: [
            Row(event: "a list l15", durations: [10, 10], ends: [10, 5], expected: "0:0-15 1:0-5", offset: 15),
            Row(event: "a list l10", durations: [10, 10], ends: [10], expected: "0:0-10", offset: 10),
            Row(event: "a list l0", durations: [10, 10], ends: [], expected: "", offset: 0),
            Row(event: "a list", durations: [], ends: [], expected: "", offset: 0),
            Row(event: "a list r30", durations: [], ends: [], expected: "", offset: 0),
            Row(event: "a list", durations: [10, 10], ends: [nil, 10], expected: "0:0- 1:0-", offset: 10),
            Row(event: "a list", durations: [10, 10], ends: [nil, nil], expected: "0:0- 1:0-", offset: 0),
            Row(event: "a list r30", durations: [10, 10], ends: [nil, nil], expected: "0:0- 1:0-", offset: 0),
            Row(event: "a list r30", durations: [10, 10], ends: [nil, 1], expected: "0:0- 1:0-", offset: 30),
            Row(
                event: "a list", durations: [10, 10], startOffset: 4, ends: [10, 10], expected: "0:4- 1:0-", offset: 20),
            Row(event: "a list", durations: [10, 10], startOffset: 10, ends: [10], expected: "1:0-", offset: 20),
            Row(event: "a list", durations: [10, 10], startOffset: 14, ends: [10], expected: "1:4-", offset: 20),
            Row(event: "a list", durations: [10, 10], startOffset: 30, ends: [], expected: "", offset: 30),
            Row(
                event: "a list l15", durations: [10, 10], startOffset: 4, ends: [10, 5], expected: "0:4-15 1:0-5",
                offset: 15),
            Row(
                event: "a list l15", durations: [10, 10], startOffset: 14, ends: [5], expected: "1:4-5", offset: 15),
            Row(event: "a list l15", durations: [10, 10], startOffset: 20, ends: [], expected: "", offset: 20),
            Row(
                event: "a list", durations: [nil, 10], startOffset: 14, ends: [10, 10], expected: "0:14- 1:4-",
                offset: 20),
            Row(
                event: "a list r50", durations: [10, 10], startOffset: 4, ends: [10, 10], expected: "0:4- 1:0-",
                offset: 50),
        ])
    func course(_ row: Row) {
        let lists = Self.lists(["a": Self.list(row.durations)])
        var running = Self.makeBreak(
            row.event, startOffset: row.startOffset, arrival: row.startOffset > 0 ? 100 + row.startOffset : nil)
        var (words, ends) = ([String](), row.ends[...])
        while case .play(let asset, let from, let limit) = running.step(lists, now: .zero), words.count < 9 {
            let last = limit.map { ScheduledItem.text($0) } ?? ""
            words.append("\(asset.urlString.suffix(1)):\(ScheduledItem.text(from))-\(last)")
            if let end = ends.popFirst(), let end {
                running.assetEnded(at: .seconds(end))
            } else {
                running.assetFailed(at: nil)
            }
        }
        #expect(words.joined(separator: " ") == row.expected)
        #expect(ends.isEmpty)
        #expect(running.resumptionOffset == .seconds(row.offset))
    }

    @Test("an asset that fails in its middle counts up to the failure")
    func failsInside() {
        let lists = Self.lists(["a": Self.list([10, 10])])
        var running = Self.makeBreak("a list")
        _ = running.step(lists, now: .zero)
        running.assetFailed(at: .seconds(4))
        #expect(running.step(lists, now: .zero) == .play(Self.asset(1, 10), from: .zero, upTo: nil))
        running.assetEnded(at: .seconds(10))
        #expect(running.step(lists, now: .zero) == .over)
        #expect(running.resumptionOffset == .seconds(14))
    }

    @Test("asset events change nothing while nothing plays")
    func untimely() {
        var running = Self.makeBreak("a list;b 10")
        running.assetEnded(at: .seconds(5))
        running.assetFailed(at: .seconds(5))
        #expect(running.played == .zero)
        #expect(running.current?.id == "a")
        running.cancel(resumptionOffset: nil)
        running.skipEvent()
        running.cancel(resumptionOffset: .seconds(5))
        running.assetEnded(at: .seconds(5))
        #expect(running.resumptionOffset == .zero)
        #expect(running.step(AssetLists(primaryID: ""), now: .zero) == .over)
    }

    // MARK: Asset lists

    @Test("a missing list is waited for until its deadline, counted from when it is needed")
    func deadline() {
        let lists = AssetLists(primaryID: "p")
        var running = Self.makeBreak("a list;b 10")
        let until = Duration.seconds(50) + InterstitialBreak.listDeadline
        #expect(running.step(lists, now: .seconds(50)) == .wait(for: "a", until: until))
        #expect(running.step(lists, now: .seconds(52)) == .wait(for: "a", until: until))
        let b = InterstitialAsset(urlString: "https://ads.example/b")
        #expect(running.step(lists, now: until) == .play(b, from: .zero, upTo: nil))
    }

    @Test("a list that arrives during the wait plays, and a failed one is not waited for")
    func awaited() {
        var lists = AssetLists(primaryID: "p")
        var running = Self.makeBreak("a list;b list")
        _ = lists.due(running, in: .zero, targetDuration: .seconds(6), now: .zero)
        lists.take(nil, of: "a")
        #expect(running.step(lists, now: .zero) == .wait(for: "b", until: InterstitialBreak.listDeadline))
        lists.take((Self.list([7]), base: "https://ads.example/list"), of: "b")
        #expect(running.step(lists, now: .seconds(1)) == .play(Self.asset(0, 7), from: .zero, upTo: nil))
    }

    // MARK: Skipped events

    @Test("a skipped event counts as played, and the next one plays")
    func skipped() {
        let lists = Self.lists(["a": Self.list([10, 10]), "b": Self.list([5])])
        for (text, offset) in [("a list;b list", 25.0), ("a list r3;b list", 8), ("a list l12;b list", 17)] {
            var running = Self.makeBreak(text)
            _ = running.step(lists, now: .zero)
            running.skipEvent(at: .seconds(4))
            #expect(running.current?.id == "b")
            _ = running.step(lists, now: .zero)
            running.assetEnded(at: .seconds(5))
            #expect(running.step(lists, now: .zero) == .over)
            #expect(running.resumptionOffset == .seconds(offset))
        }
    }

    @Test("cancelling ends a break; the item continues at the given offset, or after played media")
    func cancelled() {
        let lists = Self.lists(["a": Self.list([10]), "b": Self.list([5])])
        for (resumption, expected) in [(0.0, 10.0), (3, 13), (-2, 8), (nil, 14)] as [(Double?, Double)] {
            var running = Self.makeBreak("a list;b list;c 10")
            _ = running.step(lists, now: .zero)
            running.assetEnded(at: .seconds(10))
            _ = running.step(lists, now: .zero)
            running.cancel(resumptionOffset: resumption.map { .seconds($0) }, at: .seconds(4))
            #expect(running.step(lists, now: .zero) == .over)
            #expect(running.resumptionOffset == .seconds(expected))
            #expect(running.current == nil && running.remaining.isEmpty)
        }
    }

    // MARK: Restrictions

    @Test("restricted seeks and rates are refused during a break")
    func restrictions() {
        let free = Self.makeBreak("a 10")
        #expect(!free.refusesSeek(to: .seconds(200)) && !free.refusesSeek(to: .seconds(50)))
        #expect(!free.refusesSeek(from: .zero, to: .seconds(5)) && free.maximumRate == nil)
        let skip = Self.makeBreak("a 10 skip")
        #expect(skip.refusesSeek(to: .seconds(200)) && !skip.refusesSeek(to: .seconds(50)))
        #expect(skip.refusesSeek(from: .zero, to: .seconds(5)) && !skip.refusesSeek(from: .seconds(5), to: .zero))
        #expect(skip.maximumRate == 1)
        let jump = Self.makeBreak("a 10;b 10 jump")
        #expect(jump.refusesSeek(to: .seconds(200)) && !jump.refusesSeek(to: .seconds(50)))
        #expect(!jump.refusesSeek(from: .zero, to: .seconds(5)) && jump.maximumRate == nil)
        let join = InterstitialBreak(
            place: .zero, kind: .join, events: EventWords.all("p 10 pre jump").map { $0.event() })
        #expect(join.refusesSeek(to: .zero))
    }

    @Test("an ended event restricts nothing")
    func restrictionsEnd() {
        var running = Self.makeBreak("a 10 skip jump;b 10")
        _ = running.step(AssetLists(primaryID: ""), now: .zero)
        running.assetEnded(at: .seconds(10))
        _ = running.step(AssetLists(primaryID: ""), now: .zero)
        #expect(running.current?.id == "b")
        #expect(!running.refusesSeek(to: .seconds(200)) && running.maximumRate == nil)
    }

    @Test("a skip button is offered by the list, otherwise by the event")
    func skipControl() {
        var event = EventWords("a 60 list").event()
        event.skipControl = InterstitialSkipControl(offset: .seconds(30))
        var running = InterstitialBreak(place: .zero, kind: .inside, events: [event])
        #expect(running.skippableEventState(at: .seconds(40)) == .notSkippable)
        let control = InterstitialSkipControl(offset: .seconds(12), duration: .seconds(5), labelID: "s")
        let lists = Self.lists(["a": Self.list([10, 10], skip: control)])
        _ = running.step(lists, now: .zero)
        #expect(running.skipControl == control)
        running.assetEnded(at: .seconds(10))
        _ = running.step(lists, now: .zero)
        let states = [0, 1.9, 2, 6.9, 7].map { running.skippableEventState(at: .seconds($0)) }
        #expect(states == [.notYetEligible, .notYetEligible, .eligible, .eligible, .noLongerEligible])

        var plain = InterstitialBreak(place: .zero, kind: .inside, events: [event])
        _ = plain.step(Self.lists(["a": Self.list([60])]), now: .zero)
        #expect(plain.skippableEventState(at: .seconds(29)) == .notYetEligible)
        #expect(plain.skippableEventState(at: .seconds(59)) == .eligible)
        var none = Self.makeBreak("a 10")
        _ = none.step(Self.lists([:]), now: .zero)
        #expect(none.skippableEventState(at: .zero) == .notSkippable)
    }

    @Test("offsets into an event started in its middle count from the event's beginning")
    func eventOffset() {
        var running = Self.makeBreak("a list", startOffset: 14, arrival: 114)
        #expect(running.eventOffset(at: .zero) == nil)
        #expect(
            running.step(Self.lists(["a": Self.list([10, 10])]), now: .zero)
                == .play(
                    Self.asset(1, 10), from: .seconds(4), upTo: nil))
        #expect(running.eventOffset(at: .seconds(4)) == .seconds(14))
        #expect(running.eventOffset(at: .seconds(6)) == .seconds(16))
    }
}
