import HLSKitPlaylist
import HLSKitTime
import Testing

@testable import HLSKitSelection

@Suite("P02: Schedule changes") struct InterstitialUpdateTests {
    private func ids(_ running: InterstitialBreak?) -> [String] { running?.events.map(\.id) ?? [] }

    private func begun(_ running: InterstitialBreak?) throws -> InterstitialBreak { try #require(running) }

    private func resumption(_ continuation: InterstitialContinuation) -> Duration? {
        if case .primary(let time) = continuation { time } else { nil }
    }

    // MARK: Playlists

    @Test("a live event added ahead of the playhead plays, and a removed one does not")
    func addedAndRemoved() throws {
        var item = try ScheduledItem("a@310 10 r0", isLive: true)
        #expect(item.schedule.start(at: .seconds(300)) == nil)
        #expect(item.schedule.next(after: .seconds(300)) == .seconds(310))
        item.words = EventWords.all("b@305 10 r0")
        try item.reload()
        #expect(item.schedule.events.map(\.id) == ["b"])
        #expect(item.schedule.next(after: .seconds(300)) == .seconds(305))
        item.words = []
        try item.reload()
        #expect(item.schedule.isEmpty)
        #expect(item.schedule.next(after: .seconds(300)) == nil)
    }

    @Test("an event added after its start is entered at the playhead, or has passed")
    func late() throws {
        var item = try ScheduledItem("", isLive: true)
        #expect(item.schedule.start(at: .seconds(300)) == nil)
        item.words = EventWords.all("a@310 30;b@311 30 r0;c@200 30")
        try item.reload()
        let running = try begun(item.schedule.arrive(at: .seconds(312)))
        #expect(ids(running) == ["a"])
        #expect(running.startOffset == .seconds(2))
        #expect(item.schedule.arrive(at: .seconds(312)) == nil)
    }

    @Test("an event that moves slightly after it was played is not repeated")
    func moved() throws {
        var item = try ScheduledItem("a@310 10 r0", isLive: true)
        _ = item.schedule.start(at: .seconds(300))
        let running = try begun(item.schedule.arrive(at: .seconds(310)))
        item.words = EventWords.all("a@310.02 10 r0")
        try item.reload()
        #expect(resumption(item.schedule.finish(item.play(running).end)) == .seconds(310))
        #expect(item.schedule.next(after: .seconds(310)) == nil)
    }

    @Test("a playlist's state is news only if it differs")
    func news() throws {
        let date = ScheduledItem.date
        let group = DateRangeMetadataGroup(
            dateRange: DateRange(
                id: "a", class: DateRange.interstitialClass, startDate: date,
                otherAttributes: [PlaylistAttribute(name: "X-ASSET-URI", value: "a", isQuoted: true)]),
            timeRange: MediaTimeRange(start: .seconds(5), duration: .indefinite))
        let other = DateRangeMetadataGroup(dateRange: DateRange(id: "b", startDate: date))
        var schedule = InterstitialSchedule()
        #expect(schedule.read([], base: "https://a.example/") == false)
        #expect(schedule.read([other], base: "https://a.example/") == false)
        #expect(schedule.read([other, group], base: "https://a.example/") == true)
        #expect(schedule.read([group], base: "https://a.example/") == false)
        #expect(schedule.read([], base: "https://a.example/") == true)
    }

    @Test("a playing event's new limit and resumption offset apply at once")
    func changedLimit() throws {
        var item = try ScheduledItem("a@310 30", isLive: true)
        _ = item.schedule.start(at: .seconds(300))
        var running = try begun(item.schedule.arrive(at: .seconds(310)))
        let asset = InterstitialAsset(urlString: "https://ads.example/a")
        #expect(running.step(item.lists, now: .zero) == .play(asset, from: .zero, upTo: nil))
        item.words = EventWords.all("a@310 30 l12 r20")
        try item.reload()
        item.schedule.refresh(&running)
        #expect(running.step(item.lists, now: .zero) == .play(asset, from: .zero, upTo: .seconds(12)))
        running.assetEnded(at: .seconds(12))
        #expect(running.step(item.lists, now: .zero) == .over)
        #expect(resumption(item.schedule.finish(running)) == .seconds(330))
    }

    @Test("a removed event that is playing plays to its end; one not yet started is dropped")
    func takenBack() throws {
        var item = try ScheduledItem("a@310 10;b@310 10;c@310 10", isLive: true)
        _ = item.schedule.start(at: .seconds(300))
        var running = try begun(item.schedule.arrive(at: .seconds(310)))
        item.words = EventWords.all("c@310 10;d@310 10;e@320 10")
        try item.reload()
        item.schedule.refresh(&running)
        #expect(ids(running) == ["a", "c", "d"])
        item.words = EventWords.all("a@310 10;c@310 10;d@310 10")
        let played = item.play(running)
        #expect(played.words == ["a:10", "c:10", "d:10"])
        #expect(resumption(item.schedule.finish(played.end)) == .seconds(340))
        #expect(item.schedule.arrive(at: .seconds(310)) == nil)
    }

    @Test("an ended break gets no more events")
    func refreshedAtEnd() throws {
        var item = try ScheduledItem("a@310 10", isLive: true)
        _ = item.schedule.start(at: .seconds(300))
        let running = try begun(item.schedule.arrive(at: .seconds(310)))
        var over = item.play(running).end
        item.words = EventWords.all("a@310 10;b@310 10")
        try item.reload()
        item.schedule.refresh(&over)
        #expect(ids(over) == ["a"])
    }

    @Test("when a live stream ends, its post-roll plays")
    func ended() throws {
        var item = try ScheduledItem("a@600 5;z 5 post", isLive: true)
        _ = item.schedule.start(at: .seconds(300))
        #expect(item.schedule.upcoming(from: .seconds(300))?.place == .seconds(600))
        item.isLive = false
        try item.reload()
        #expect(item.schedule.next(after: .seconds(300)) == nil)
        #expect(ids(item.schedule.upcoming(from: .seconds(300))) == ["a", "z"])
        #expect(ids(item.schedule.end()) == ["a", "z"])
        #expect(ids(item.schedule.end()).isEmpty)
    }

    @Test("a known length ends an event before a late start", arguments: [(nil, true), (Duration.seconds(12), false)])
    func knownLength(length: Duration?, isEntered: Bool) throws {
        var item = try ScheduledItem("a@100 30 list")
        let asset = InterstitialAssetList.Asset(uri: "x", duration: length)
        item.schedule.note(InterstitialAssetList(assets: [asset]), of: "a")
        #expect((item.schedule.start(at: .seconds(115)) != nil) == isEntered)
    }

    // MARK: App events

    @Test("an app's events replace the playlist's until the app removes them")
    func overridden() throws {
        var item = try ScheduledItem("a@100 10 r0;p 5 pre")
        let own = EventWords.all("b@50 10 r0").map { $0.event() }
        item.schedule.set(own) { _ in nil }
        #expect(item.schedule.events.map(\.id) == ["b"])
        item.words += EventWords.all("b@50 10 r0")
        var copy = item
        #expect(copy.played(from: 0) == "0-50 b:10 50-600 end")
        item.schedule.set([]) { _ in nil }
        #expect(item.schedule.isEmpty)
        copy = item
        #expect(copy.played(from: 0) == "0-600 end")
        item.schedule.set(nil) { _ in nil }
        #expect(item.schedule.events.map(\.id) == ["p", "a"])
    }

    @Test("an app's dates are placed when the playlist has dates, and follow them")
    func dates() {
        var schedule = InterstitialSchedule()
        let primary = PrimaryTimeline(start: .zero, end: .seconds(600), isLive: false)
        schedule.update(primary) { _ in nil }
        schedule.set(EventWords.all("a@100 10").map { $0.event(byDate: true) }) { _ in nil }
        #expect(schedule.isEmpty)
        schedule.update(primary) { $0 - ScheduledItem.date }
        #expect(schedule.next(after: .zero) == .seconds(100))
        schedule.update(primary) { $0 - ScheduledItem.date + .seconds(3) }
        #expect(schedule.next(after: .zero) == .seconds(103))
    }

    @Test("the first of two events with one ID applies")
    func twins() {
        var schedule = InterstitialSchedule()
        schedule.update(PrimaryTimeline(start: .zero, end: .seconds(600), isLive: false)) { _ in nil }
        schedule.set(EventWords.all("a@100 10;a@200 10").map { $0.event() }) { _ in nil }
        #expect(schedule.stops.map(\.time) == [.seconds(100)])
    }

    @Test(
        "invalid and extreme times are ignored",
        arguments: [
            MediaTime.invalid, .indefinite, .positiveInfinity, .negativeInfinity, MediaTime(value: .max, timescale: 1),
            MediaTime(value: .min, timescale: 1),
        ])
    func noPlace(time: MediaTime) {
        var schedule = InterstitialSchedule()
        schedule.update(PrimaryTimeline(start: .zero, end: .seconds(600), isLive: true)) { _ in nil }
        schedule.set([InterstitialEvent(id: "a", time: time, content: .assets([]))]) { _ in nil }
        #expect(schedule.isEmpty)
    }

    @Test("numbers of any size keep positions inside the item")
    func hugeNumbers() {
        let huge = [MediaTime.positiveInfinity, .negativeInfinity, MediaTime(value: .max, timescale: 1), .invalid]
        for (index, offset) in huge.enumerated() {
            var schedule = InterstitialSchedule()
            schedule.update(PrimaryTimeline(start: .zero, end: .seconds(600), isLive: index % 2 == 0)) { _ in nil }
            let events = (0..<40).map { number in
                var asset = InterstitialAsset(urlString: "a")
                asset.duration = .seconds(Int64.max)
                var event = InterstitialEvent(id: "\(number)", time: .seconds(10), content: .assets([asset]))
                event.resumptionOffset = offset
                event.playoutLimit = offset
                event.plannedDuration = .seconds(Int64.max)
                return event
            }
            schedule.set(events) { _ in nil }
            var running = schedule.arrive(at: .seconds(10))
            while var current = running, case .play = current.step(AssetLists(primaryID: ""), now: .zero) {
                current.assetEnded(at: .seconds(5))
                running = current
            }
            if let over = running, let time = resumption(schedule.finish(over)) {
                #expect(time >= .zero && time <= .seconds(600))
            }
        }
    }

    // MARK: Users

    @Test("an event entered by the user plays from there, followed by the later events")
    func entered() throws {
        var item = try ScheduledItem("a@100 10;b@100 20;p 5 pre;z 5 post")
        _ = item.schedule.start(at: .zero)
        let b = try begun(item.schedule.enter("b", at: .seconds(5)))
        #expect(b.place == .seconds(100) && b.startOffset == .seconds(5) && ids(b) == ["b"])
        #expect(resumption(item.schedule.finish(item.play(b).end)) == .seconds(130))
        let a = try begun(item.schedule.enter("a", at: .zero))
        #expect(ids(a) == ["a", "b"] && a.startOffset == .zero)
        #expect(item.schedule.enter("z", at: .zero)?.kind == .leave)
        #expect(item.schedule.enter("p", at: .seconds(1))?.kind == .join)
        #expect(item.schedule.enter("x", at: .zero) == nil)
    }

    @Test("an event played once can be entered again by the user")
    func enteredAgain() throws {
        var item = try ScheduledItem("a@100 10 once;b@100 20 once")
        let running = try begun(item.schedule.start(at: .seconds(100)))
        _ = item.schedule.finish(running)
        #expect(ids(item.schedule.enter("a", at: .zero)) == ["a"])
    }

    @Test("a change of direction repeats events")
    func reversed() throws {
        var item = try ScheduledItem("a@100 10 r0")
        let running = try begun(item.schedule.start(at: .seconds(100)))
        _ = item.schedule.finish(item.play(running).end)
        #expect(item.schedule.next(after: .seconds(90)) == nil)
        guard case .free = item.schedule.seek(from: .seconds(95), to: .seconds(95)) else {
            Issue.record("a seek to where the playhead is was not free")
            return
        }
        #expect(item.schedule.next(after: .seconds(90)) == .seconds(100))
    }

    @Test("the next break is known in advance, and asking changes nothing")
    func upcoming() throws {
        let item = try ScheduledItem("a@100 10;b@100 20;z 5 post once")
        #expect(item.schedule.upcoming(from: .zero)?.place == .seconds(100))
        #expect(ids(item.schedule.upcoming(from: .zero)) == ["a", "b"])
        #expect(ids(item.schedule.upcoming(from: .seconds(100))) == ["z"])
        #expect(item.schedule.next(after: .zero) == .seconds(100))
    }

    @Test(
        "an event ahead of the playhead does not snap to an earlier boundary",
        arguments: [(99.0, 100.0), (100, 100), (101.5, 106), (103, 106), (103.5, 100)])
    func boundaryBehind(playhead: Double, expected: Double) {
        var primary = PrimaryTimeline(start: .zero, end: .seconds(100), isLive: true)
        primary.boundaries = [[.seconds(94), .seconds(100)]]
        var schedule = InterstitialSchedule()
        schedule.update(primary) { _ in nil }
        schedule.set(EventWords.all("a@103 10 r0 out").map { $0.event() }) { _ in nil }
        #expect(schedule.stops.map(\.time) == [.seconds(103)])
        primary.boundaries = [[.seconds(94), .seconds(100), .seconds(106)]]
        primary.end = .seconds(106)
        primary.playhead = .seconds(playhead)
        schedule.update(primary) { _ in nil }
        #expect(schedule.stops.map(\.time) == [.seconds(expected)])
    }

    @Test("events snap to boundaries of all playlists")
    func boundaries() {
        let video = [0, 6, 12, 18].map { Duration.seconds($0) }
        let audio = [0, 5, 11, 16].map { Duration.seconds($0) }
        let primary = PrimaryTimeline(
            start: .zero, end: .seconds(16), isLive: true, boundaries: [video, audio, []])
        for (time, out, back) in [
            (5.4, 5.0, 6.0), (11.4, 11, 12), (0.1, 0, 0), (17, 18, 18), (30, 30, 30), (-1, -1, -1),
        ] {
            #expect(primary.snappedOut(.seconds(time)) == .seconds(out))
            #expect(primary.snappedIn(.seconds(time)) == .seconds(back))
        }
        let one = PrimaryTimeline(start: .zero, end: .seconds(18), isLive: false, boundaries: [video])
        #expect(one.snappedOut(.seconds(9)) == .seconds(6))
        #expect(one.snappedOut(.seconds(9.1)) == .seconds(12))
        #expect(one.snappedIn(.seconds(18)) == .seconds(18))
        let none = PrimaryTimeline(start: .zero, end: .seconds(18), isLive: false)
        #expect(none.snappedOut(.seconds(9)) == .seconds(9))
    }
}
