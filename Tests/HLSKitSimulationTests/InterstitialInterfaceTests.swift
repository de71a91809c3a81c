import HLSKitEngine
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@Suite("P02: Interstitials in the app's interface", .timeLimit(.minutes(10)))
struct InterstitialInterfaceTests {
    final class Notes: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock(\.self) }
    }

    private static func seconds(_ time: Double) -> MediaTime { MediaTime(.seconds(time)) }

    private static func word(_ event: PlayerEvent) -> String? {
        switch event.kind {
        case .interstitialEventsChanged(let events): "events " + events.map(\.id).joined(separator: ",")
        case .interstitialBreakBegan(let time): "break \(time.inSeconds)"
        case .interstitialEventBegan(let event): "begin \(event.id)"
        case .interstitialEventEnded(let event, let outcome, let played):
            "end \(event.id) \(outcome.rawValue) \(played.inSeconds)"
        case .interstitialEventFailed(let event, _): "lost \(event.id)"
        case .interstitialBreakEnded(let time): "over \(time.map { "\($0.inSeconds)" } ?? "-")"
        case .interstitialAssetListStatusChanged(let event, let status): "list \(event.id) \(status.rawValue)"
        case .interstitialSkippableStateChanged(let event, let state): "skip \(event.id) \(state.rawValue)"
        case .interstitialSeekRefused(let event): "refused \(event.id)"
        case .rateChanged(let rate, let reason)
        where reason == .restrictedByInterstitial || reason == .interstitialEnded:
            "rate \(rate) \(reason.rawValue)"
        default: nil
        }
    }

    private static func report(
        _ events: [InterstitialEvent]?, lists: [String: String] = [:], ranges: [String]? = nil,
        lengths: [String: Int] = ["main": 20, "a": 4, "b": 4],
        act: @escaping @Sendable (Player, PlayerItem, InterstitialEventController, VirtualClock) async throws -> Void =
            {
                _, _, _, _ in
            }
    ) throws -> [String] {
        let serve = ranges.map { BreakTests.serve($0, 20, lists: lists) }
        let queue = try VirtualQueue(lengths, answer: { serve?($0) ?? nil })
        return try queue.clock.run {
            let item = queue.item("main")
            let player = try Player(item: item, configuration: queue.configuration)
            let controller = InterstitialEventController(primaryPlayer: player)
            if let events { controller.events = events }
            let stream = player.events()
            let monitor = InterstitialEventMonitor(primaryPlayer: player)
            let changes = Task(executorPreference: queue.clock) { [stream = monitor.changes()] in
                var words: [String] = []
                for await event in stream { words.append(word(event) ?? "other") }
                return words
            }
            player.play()
            let user = Task(executorPreference: queue.clock) { try await act(player, item, controller, queue.clock) }
            let end = Task(executorPreference: queue.clock) {
                try? await queue.clock.sleep(for: .seconds(120))
                await player.close()
            }
            var words: [String] = []
            for await event in stream {
                if let word = word(event) { words.append(word) }
                if event.isLast { break }
            }
            try await user.value
            end.cancel()
            await player.close()
            #expect(await changes.value == words.filter { !$0.hasPrefix("rate ") })
            return words
        }
    }

    @Test("events report a break's start, its playing event, its end and the item's resumption")
    func reported() throws {
        let event = BreakTests.event("one", at: 4, ["a"])
        let other = BreakTests.event("two", at: 4, ["gone"], resumingAfter: nil)
        let part = BreakTests.event("three", at: 12, ["gone", "b"], resumingAfter: nil)
        #expect(
            try Self.report([event, other, part]) == [
                "events one,two,three", "break 4.0", "begin one", "end one played 4.0", "begin two",
                "lost two", "end two failed 0.0", "over 4.0", "break 12.0", "begin three", "lost three",
                "end three playedInPart 4.0", "over 16.0",
            ])
    }

    @Test("a list is requested, available and dropped after its event; a missing one is unavailable")
    func lists() throws {
        let list = #"{"ASSETS":[{"URI":"https://a.invalid/index.m3u8","DURATION":4}]}"#
        let ranges = [
            BreakTests.range("one", at: 4, #"X-ASSET-LIST="https://lists.invalid/one.json""#),
            BreakTests.range("two", at: 16, #"X-ASSET-LIST="https://lists.invalid/two.json""#),
        ]
        let words = try Self.report(nil, lists: ["one.json": list], ranges: ranges)
        #expect(
            words == [
                "events one,two", "list one requested", "list one available", "break 4.0", "begin one",
                "end one played 4.0", "list one cleared", "over 8.0", "list two requested", "list two unavailable",
                "break 16.0", "begin two", "lost two", "end two failed 0.0", "over 16.0",
            ], "\(words)")
    }

    @Test("the skippable time follows from the playback time and the event's list")
    func skipping() throws {
        let list =
            #"{"ASSETS":[{"URI":"https://a.invalid/index.m3u8","DURATION":4}],"#
            + #""SKIP-CONTROL":{"OFFSET":1,"DURATION":2,"LABEL-ID":"skip-ad"}}"#
        let ranges = [BreakTests.range("one", at: 4, #"X-ASSET-LIST="https://lists.invalid/one.json""#)]
        let notes = Notes()
        let words = try Self.report(nil, lists: ["one.json": list], ranges: ranges) { player, _, controller, clock in
            while controller.currentEvent == nil { try await clock.sleep(for: .milliseconds(10)) }
            for _ in 0..<3 {
                let state = controller.currentEventSkippableState
                notes.add("\(state.rawValue) \(controller.currentEventSkipControlLabel ?? "-")")
                #expect(player.state.interstitial == controller.progress)
                try await clock.sleep(for: .seconds(1.5))
            }
        }
        #expect(notes.all == ["notYetEligible skip-ad", "eligible skip-ad", "noLongerEligible skip-ad"])
        #expect(
            words.filter { $0.hasPrefix("skip") } == [
                "skip one notYetEligible", "skip one eligible", "skip one noLongerEligible",
            ])
    }

    @Test("an app's events replace the playlist's, and are replaced by them again")
    func overridden() throws {
        let ranges = [
            BreakTests.range("listed", at: 12, #"X-ASSET-URI="https://b.invalid/index.m3u8",X-RESUME-OFFSET=0"#)
        ]
        let words = try Self.report([BreakTests.event("own", at: 4, ["a"])], ranges: ranges) {
            _, _, controller, clock in
            try await clock.sleep(for: .seconds(6))
            controller.resetEvents()
        }
        #expect(
            words == [
                "events own", "break 4.0", "begin own", "events listed", "end own played 4.0", "over 4.0", "break 12.0",
                "begin listed", "end listed played 4.0", "over 12.0",
            ])
    }

    @Test("skipped events, cancelled breaks and breaks left by a seek are reported")
    func ended() throws {
        let events = [
            BreakTests.event("one", at: 4, ["a"]), BreakTests.event("two", at: 8, ["a"]),
            BreakTests.event("three", at: 12, ["a"]),
        ]
        let words = try Self.report(events) { player, _, controller, clock in
            func wait(_ id: String) async throws {
                while controller.currentEvent?.id != id || controller.interstitialItem?.status != .readyToPlay {
                    try await clock.sleep(for: .milliseconds(100))
                }
                try await clock.sleep(for: .seconds(1))
            }
            try await wait("one")
            controller.skipCurrentEvent()
            try await wait("two")
            controller.cancelCurrentEvent(withResumptionOffset: Self.seconds(2))
            try await wait("three")
            #expect(try await player.seek(to: Self.seconds(18), toleranceBefore: .zero, toleranceAfter: .zero))
        }
        let plain = words.filter { !$0.hasPrefix("end") }
        #expect(
            plain == [
                "events one,two,three", "break 4.0", "begin one", "over 4.0", "break 8.0", "begin two", "over 10.0",
                "break 12.0", "begin three", "over -",
            ])
        let ends = words.filter { $0.hasPrefix("end") }.map {
            $0.split(separator: " ").dropFirst().prefix(2).joined(separator: " ")
        }
        #expect(ends == ["one skipped", "two cancelled", "three left"])
    }

    @Test(
        "a restricted event refuses and reports seeks forward; its rate is 1, then the old one"
    )
    func restricted() throws {
        var event = BreakTests.event("one", at: 8, ["a"])
        event.restrictions = [
            .constrainsSeekingForwardInPrimaryContent, .requiresPlaybackAtPreferredRateForAdvancement,
        ]
        let notes = Notes()
        let words = try Self.report([event]) { player, _, controller, clock in
            player.rate = 2
            while controller.currentEvent == nil { try await clock.sleep(for: .milliseconds(50)) }
            notes.add("rate \(player.rate)")
            #expect(try await player.seek(to: Self.seconds(16)) == false)
            player.rate = 1.5
            notes.add("rate \(player.rate)")
            while controller.currentEvent != nil { try await clock.sleep(for: .milliseconds(50)) }
            notes.add("rate \(player.rate)")
        }
        #expect(notes.all == ["rate 1.0", "rate 1.0", "rate 1.5"])
        #expect(
            words == [
                "events one", "break 8.0", "begin one", "rate 1.0 restrictedByInterstitial", "refused one",
                "rate 1.0 restrictedByInterstitial", "end one played 4.0", "over 8.0", "rate 1.5 interstitialEnded",
            ])
    }

    @Test("property values follow the playing event")
    func values() throws {
        let notes = Notes()
        _ = try Self.report([BreakTests.event("one", at: 4, ["a"]), BreakTests.event("two", at: 4, ["b"])]) {
            player, _, controller, clock in
            let monitor = InterstitialEventMonitor(primaryPlayer: player)
            #expect(monitor.primaryPlayer === player)
            #expect(controller.events.map(\.id) == ["one", "two"])
            for await id in player.values(of: \.state.interstitial?.event.id) {
                notes.add(id ?? "-")
                if notes.all.count == 4 { break }
            }
        }
        #expect(notes.all == ["-", "one", "two", "-"])
    }

    @Test("an event's progress is known: number and count, time, duration and item")
    func progress() throws {
        var one = BreakTests.event("one", at: 4, ["a"])
        one.content = .assets([InterstitialAsset(urlString: "https://a.invalid/index.m3u8", duration: .seconds(4))])
        _ = try Self.report([one, BreakTests.event("two", at: 4, ["b"])]) { player, item, controller, clock in
            while controller.currentEvent == nil { try await clock.sleep(for: .milliseconds(10)) }
            try await clock.sleep(for: .seconds(2))
            let progress = try #require(player.state.interstitial)
            #expect(progress.event.id == "one" && progress.number == 1 && progress.count == 2)
            #expect((1.9...2.2).contains(progress.currentTime.seconds))
            #expect(progress.duration == Self.seconds(4) && !progress.isWaiting)
            #expect(progress.itemID == controller.interstitialItem?.id && progress.itemID != item.id)
            #expect(item.latestState.interstitial == player.state.interstitial)
            #expect(player.state.reasonForWaitingToPlay == .interstitialEvent)
            #expect(player.state.currentTime == Self.seconds(4))
        }
    }

    // MARK: The integrated timeline

    private static func lasting(_ id: String, at time: Double, _ name: String, occupies: Bool = true)
        -> InterstitialEvent
    {
        var event = BreakTests.event(id, at: time, [name])
        event.content = .assets([
            InterstitialAsset(urlString: "https://\(name).invalid/index.m3u8", duration: .seconds(4))
        ])
        if occupies { event.timelineOccupancy = .fill }
        return event
    }

    @Test("the timeline has the item and its events, and the player's position")
    func timeline() throws {
        let notes = Notes()
        _ = try Self.report([Self.lasting("one", at: 4, "a"), Self.lasting("two", at: 8, "b", occupies: false)]) {
            _, item, controller, clock in
            let timeline = item.integratedTimeline
            #expect(timeline.currentSnapshot.segments.isEmpty)
            while item.status != .readyToPlay { try await clock.sleep(for: .milliseconds(10)) }
            let snapshot = timeline.currentSnapshot
            #expect(snapshot.segments.map { $0.event?.id ?? "-" } == ["-", "one", "-", "two", "-"])
            #expect(snapshot.segments.map(\.timeRange.start.inSeconds) == [0, 4, 8, 12, 12])
            #expect(snapshot.duration == Self.seconds(24))
            #expect(snapshot.currentSegment == snapshot.segments.first)
            #expect(snapshot.segmentAndOffset(forTimelineTime: Self.seconds(9))?.offset == Self.seconds(1))
            while controller.currentEvent == nil { try await clock.sleep(for: .milliseconds(10)) }
            try await clock.sleep(for: .seconds(1))
            let now = timeline.currentSnapshot
            #expect(now.currentSegment?.event?.id == "one")
            #expect((4.9...5.2).contains(now.currentTime.seconds))
            while controller.currentEvent?.id != "two" { try await clock.sleep(for: .milliseconds(10)) }
            try await clock.sleep(for: .seconds(1))
            #expect(timeline.currentTime == Self.seconds(12))
            while controller.currentEvent != nil { try await clock.sleep(for: .milliseconds(10)) }
            try await clock.sleep(for: .seconds(1))
            #expect((12.9...13.2).contains(timeline.currentTime.seconds), "\(timeline.currentTime)")
            notes.add("done")
        }
        #expect(notes.all == ["done"])
    }

    @Test("a seek on the timeline leads into the middle of an event, and to media after it")
    func sought() throws {
        let words = try Self.report([Self.lasting("one", at: 4, "a")]) { player, item, controller, clock in
            while item.status != .readyToPlay { try await clock.sleep(for: .milliseconds(10)) }
            let timeline = item.integratedTimeline
            #expect(try await timeline.seek(to: Self.seconds(6)))
            #expect(controller.currentEvent?.id == "one")
            #expect(player.state.interstitial?.currentTime == Self.seconds(2))
            while controller.currentEvent != nil { try await clock.sleep(for: .milliseconds(10)) }
            #expect(try await timeline.seek(to: Self.seconds(20), toleranceBefore: .zero, toleranceAfter: .zero))
            #expect(player.currentTime == Self.seconds(16))
            #expect(timeline.currentTime == Self.seconds(20))
        }
        #expect(words == ["events one", "break 4.0", "begin one", "end one played 2.0", "over 4.0"])
    }

    @Test("an event's quarters are reported, and requested boundaries of the item")
    func boundaries() throws {
        let notes = Notes()
        _ = try Self.report([Self.lasting("one", at: 4, "a", occupies: false)]) { player, item, controller, clock in
            while item.status != .readyToPlay { try await clock.sleep(for: .milliseconds(10)) }
            let segments = item.integratedTimeline.currentSnapshot.segments
            let quarters = try item.integratedTimeline.boundaries(
                of: segments[1], offsets: [0, 1, 2, 3, 4, 5].map { Self.seconds($0) })
            let places = try item.integratedTimeline.boundaries(of: segments[2], offsets: [Self.seconds(1)])
            let first = Task(executorPreference: clock) {
                for await time in quarters { notes.add("\(time.inSeconds) of \(controller.currentEvent?.id ?? "-")") }
            }
            let second = Task(executorPreference: clock) {
                for await time in places {
                    notes.add("item \(time.inSeconds) \(player.currentTime.inSeconds.rounded())")
                }
            }
            _ = (first, second)
        }
        #expect(
            notes.all == ["0.0 of one", "1.0 of one", "2.0 of one", "3.0 of one", "4.0 of -", "item 1.0 5.0"]
                || notes.all == ["0.0 of one", "1.0 of one", "2.0 of one", "3.0 of one", "4.0 of one", "item 1.0 5.0"],
            "\(notes.all)")
    }

    @Test("timeline times are reported while the item or an event plays")
    func times() throws {
        let notes = Notes()
        _ = try Self.report([Self.lasting("one", at: 4, "a")]) { _, item, _, clock in
            while item.status != .readyToPlay { try await clock.sleep(for: .milliseconds(10)) }
            let times = try item.integratedTimeline.times(every: Self.seconds(1))
            _ = Task(executorPreference: clock) {
                for await time in times { notes.add("\(Int(time.seconds.rounded()))") }
            }
        }
        let reported = notes.all.compactMap { Int($0) }
        #expect(Set(0...23).isSubset(of: Set(reported)), "\(reported)")
        #expect(zip(reported, reported.dropFirst()).allSatisfy { $0 <= $1 }, "\(reported)")
    }
}
