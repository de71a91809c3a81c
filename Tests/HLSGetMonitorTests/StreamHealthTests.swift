import HLSGetKit
import HLSKitCore
import Testing

@testable import HLSGetMonitor

@Suite("Health of a stream")
struct StreamHealthTests {
    private static let failure = FailureName(code: "http_503", text: "server error (HTTP 503)")

    /// Returns the health of a stream that plays from 1 s on.
    private static func playing(_ rules: HealthRules = HealthRules()) -> StreamHealth {
        var health = StreamHealth(rules: rules)
        _ = health.handle(.began, at: .zero)
        var sample = StreamSample()
        sample.statistics.startupTime = .seconds(1)
        _ = health.handle(.sample(sample), at: .seconds(1))
        let change = health.handle(.playing, at: .seconds(1))
        #expect(change?.old == nil && change?.new == .up)
        return health
    }

    private static func pass(_ health: inout StreamHealth, _ range: ClosedRange<Int>) -> [StreamHealth.Change] {
        range.compactMap { health.advance(to: .seconds($0)) }
    }

    @Test("no state is reported before a stream plays or has failed to for a while")
    func start() {
        var health = StreamHealth()
        #expect(health.handle(.began, at: .zero) == nil)
        let changes = Self.pass(&health, 1...40)
        // 10 s of patience and 10 s of holding.
        #expect(changes.map(\.new) == [.down])
        #expect(changes.first?.trouble == .stalled)
        #expect(changes.first.map { (20...22).contains(Int($0.time.inSeconds)) } == true)
    }

    @Test("statistics that arrive before the playing event are not a stall")
    func order() {
        var health = StreamHealth()
        _ = health.handle(.began, at: .zero)
        _ = health.handle(.waiting, at: .zero)
        var sample = StreamSample()
        sample.statistics.startupTime = .seconds(1)
        #expect(health.handle(.sample(sample), at: .seconds(1)) == nil)
        #expect(health.handle(.playing, at: .seconds(1))?.new == .up)
    }

    @Test("a stall is degraded at once and down if it lasts, with the last request failure")
    func stall() {
        var health = Self.playing()
        #expect(health.handle(.error(Self.failure), at: .seconds(58)) == nil)
        #expect(health.handle(.waiting, at: .seconds(60)) == nil)
        #expect(health.current == .degraded)
        let changes = Self.pass(&health, 61...100)
        #expect(changes.map(\.new) == [.degraded, .down])
        #expect(changes.last?.trouble == .stalled)
        #expect(changes.map { $0.failure?.code } == ["http_503", "http_503"])
        #expect(changes.map { $0.time } == [.seconds(70), .seconds(81)])
        #expect(health.counters.outageCount == 1)
        #expect(health.handle(.playing, at: .seconds(101)) == nil)
        let back = Self.pass(&health, 102...140)
        #expect(back.map(\.new) == [.up])
        #expect(back.first?.time == .seconds(111))
        #expect(back.first?.trouble == .stalled && back.first?.failure?.code == "http_503")
        #expect(back.first?.held == .seconds(30))
    }

    @Test("states that alternate within the hold time are not reported")
    func damping() {
        var health = Self.playing()
        var changes: [StreamHealth.Change] = []
        for second in 10...200 {
            let event: StreamHealth.Event = second % 8 < 4 ? .waiting : .playing
            if let change = health.handle(event, at: .seconds(second)) { changes.append(change) }
        }
        #expect(changes.isEmpty)
        #expect(health.state == .up)
    }

    @Test("a failed stream is down until it plays, however often it is restarted")
    func failed() {
        var health = Self.playing()
        #expect(health.handle(.failed(Self.failure), at: .seconds(60)) == nil)
        var changes: [StreamHealth.Change] = []
        for second in 61...300 {
            if second % 30 == 0 {
                if let change = health.handle(.began, at: .seconds(second)) { changes.append(change) }
                if let change = health.handle(.failed(Self.failure), at: .seconds(second)) { changes.append(change) }
            }
            if let change = health.advance(to: .seconds(second)) { changes.append(change) }
        }
        #expect(changes.map(\.new) == [.down])
        #expect(changes.first?.trouble == .failed)
        #expect(health.counters.outageCount == 1)
        #expect(health.counters.failureCount == 9)
        #expect(health.counters.errorCounts == ["http_5xx": 9])
        #expect(health.counters.times[.down] == .seconds(240))
    }

    @Test("a single recovered failure causes no trouble, three within half a minute do")
    func errors() {
        var health = Self.playing()
        for second in [10, 45, 80, 115] { #expect(health.handle(.error(Self.failure), at: .seconds(second)) == nil) }
        #expect(health.current == .up)
        // An error with immediate retries, all within two seconds, counts once.
        for tenths in [1600, 1605, 1615] {
            #expect(health.handle(.error(Self.failure), at: .milliseconds(tenths * 100)) == nil)
        }
        #expect(Self.pass(&health, 162...199).isEmpty)
        for second in [200, 205, 210] { #expect(health.handle(.error(Self.failure), at: .seconds(second)) == nil) }
        #expect(health.allTroubles == [.errors])
        #expect(Self.pass(&health, 211...239).map(\.new) == [.degraded])
        #expect(health.reason(at: .seconds(239)) == "errors: server error (HTTP 503)")
        #expect(Self.pass(&health, 240...260).map(\.new) == [.up])
    }

    @Test("a stream that never played, with failing requests, is down and never degraded")
    func neverPlayed() {
        var health = StreamHealth()
        #expect(health.handle(.began, at: .zero) == nil)
        #expect(health.handle(.waiting, at: .zero) == nil)
        for second in [1, 2, 3] { #expect(health.handle(.error(Self.failure), at: .seconds(second)) == nil) }
        #expect(health.current == .down && health.state == nil)
        let changes = Self.pass(&health, 4...30)
        #expect(changes.map(\.new) == [.down])
        #expect(changes.first?.time == .seconds(13))
        #expect(changes.first?.failure == Self.failure)
        #expect(health.handle(.playing, at: .seconds(31)) == nil)
        #expect(Self.pass(&health, 32...50).map(\.new) == [.up])
        for second in [51, 56, 62] { #expect(health.handle(.error(Self.failure), at: .seconds(second)) == nil) }
        #expect(Self.pass(&health, 63...75).map(\.new) == [.degraded])
    }

    @Test(
        "black, frozen and silent are trouble while they last",
        arguments: [HealthIssue.black, .frozen, .silent])
    func senses(trouble: HealthIssue) {
        func event(_ holds: Bool) -> StreamHealth.Event {
            .senses(
                isBlack: trouble == .black ? holds : nil, isFrozen: trouble == .frozen ? holds : nil,
                isSilent: trouble == .silent ? holds : nil)
        }
        var health = Self.playing()
        _ = health.handle(event(true), at: .seconds(20))
        #expect(health.allTroubles == [trouble])
        #expect(Self.pass(&health, 21...40).map(\.trouble) == [trouble])
        _ = health.handle(event(false), at: .seconds(41))
        #expect(Self.pass(&health, 42...60).map(\.new) == [.up])
        var rules = HealthRules()
        rules.ignored = [trouble]
        var other = Self.playing(rules)
        _ = other.handle(event(true), at: .seconds(20))
        #expect(other.allTroubles.isEmpty)
    }

    @Test("an unreachable server is reported after the hold time, although the buffer still plays")
    func away() {
        var health = Self.playing()
        var changes: [StreamHealth.Change] = []
        for half in 200...330 {
            if [200, 201, 203, 207, 215, 223, 231].contains(half) {
                let change = health.handle(.error(Self.failure), at: .milliseconds(half * 500))
                if let change { changes.append(change) }
            }
            if let change = health.advance(to: .milliseconds(half * 500)) { changes.append(change) }
        }
        #expect(changes.map(\.new) == [.degraded, .up])
        #expect(changes.map(\.time) == [.milliseconds(111_500), .milliseconds(155_500)])
    }

    @Test("request failures are reported instead of the stale playlist they cause")
    func errorsBeforeStale() {
        var health = Self.playing()
        _ = health.handle(.playlist(Self.extent(0, 6), url: "a"), at: .seconds(2))
        for second in [10, 13, 16, 20, 24, 28] { _ = health.handle(.error(Self.failure), at: .seconds(second)) }
        _ = health.advance(to: .seconds(29))
        #expect(health.allTroubles == [.stale, .errors])
        #expect(health.trouble(at: .seconds(29)) == .errors)
        #expect(health.reason(at: .seconds(29)) == "errors: server error (HTTP 503)")
    }

    @Test("skipping missing segments with an empty buffer does not count as playing")
    func lostTime() {
        var health = Self.playing()
        var changes: [StreamHealth.Change] = []
        for second in 64...110 {
            if second % 8 == 4, let change = health.handle(.lost("HTTP 404"), at: .seconds(second)) {
                changes.append(change)
            }
            let event: StreamHealth.Event = second % 8 < 4 ? .waiting : .playing
            if let change = health.handle(event, at: .seconds(second)) { changes.append(change) }
        }
        #expect(changes.map(\.new) == [.degraded, .down])
        #expect(changes.map(\.trouble) == [.stalled, .stalled])
        var sample = StreamSample()
        sample.buffered = .seconds(8)
        _ = health.handle(.sample(sample), at: .seconds(111))
        _ = health.handle(.playing, at: .seconds(111))
        #expect(Self.pass(&health, 112...125).map(\.new) == [.up])
        _ = health.handle(.failed(Self.failure), at: .seconds(200))
        #expect(Self.pass(&health, 201...219).map(\.new) == [.down])
        for event in [.began, .lost("HTTP 404"), .playing] as [StreamHealth.Event] {
            #expect(health.handle(event, at: .seconds(220)) == nil)
        }
        #expect(Self.pass(&health, 221...240).isEmpty)
    }

    @Test("on recovery only remaining troubles are reported: a recovered stream is not degraded first")
    func wayBack() {
        var health = Self.playing()
        _ = health.handle(.waiting, at: .seconds(60))
        #expect(Self.pass(&health, 61...100).map(\.new) == [.degraded, .down])
        _ = health.handle(.playing, at: .seconds(101))
        _ = health.handle(.senses(isBlack: true, isFrozen: nil, isSilent: nil), at: .seconds(101))
        #expect(health.current == .degraded)
        _ = health.handle(.senses(isBlack: false, isFrozen: nil, isSilent: nil), at: .seconds(109))
        let back = Self.pass(&health, 110...130)
        #expect(back.map(\.new) == [.up])
        #expect(back.map(\.time) == [.seconds(119)])
        #expect(back.map(\.trouble) == [.stalled])
    }

    private static func extent(_ first: Int, _ count: Int, discontinuity: Int = 0, ends: Bool = false)
        -> MediaPlaylistExtent
    {
        MediaPlaylistExtent(
            targetDuration: .seconds(6), firstMediaSequence: first, segmentCount: count,
            lastDiscontinuitySequence: discontinuity, hasEndList: ends)
    }

    @Test(
        "a live playlist unchanged for 3.5 target durations is stale; a complete one never is")
    func stale() {
        var health = Self.playing()
        _ = health.handle(.playlist(Self.extent(0, 6), url: "a"), at: .seconds(2))
        _ = health.handle(.playlist(Self.extent(1, 6), url: "a"), at: .seconds(8))
        _ = health.handle(.playlist(Self.extent(1, 6), url: "a"), at: .seconds(20))
        _ = Self.pass(&health, 21...29)
        #expect(health.allTroubles.isEmpty)
        _ = health.advance(to: .seconds(30))
        #expect(health.allTroubles == [.stale])
        #expect(health.reason(at: .seconds(30)) == "stale: nothing new for 22 s")
        _ = health.handle(.playlist(Self.extent(2, 6), url: "a"), at: .seconds(31))
        #expect(health.allTroubles.isEmpty)
        _ = health.handle(.playlist(Self.extent(2, 6, ends: true), url: "a"), at: .seconds(32))
        _ = health.advance(to: .seconds(300))
        #expect(health.allTroubles.isEmpty)
    }

    @Test("the length of a silence continues after the player has given up")
    func silence() {
        var health = Self.playing()
        _ = health.handle(.playlist(Self.extent(0, 6), url: "a"), at: .seconds(2))
        let failure = FailureName(
            code: "staleLive", text: "the live stream stopped updating (nothing new for 60 s)")
        _ = health.handle(.failed(failure), at: .seconds(62))
        #expect(health.reason(at: .seconds(62)) == "failed: nothing new for 60 s")
        _ = health.handle(.began, at: .seconds(70))
        _ = health.handle(.playlist(Self.extent(0, 6), url: "a"), at: .seconds(71))
        #expect(health.reason(at: .seconds(2 + 14 * 60 + 6)) == "failed: nothing new for 14 min")
    }

    @Test("a row has the date at which its state began, and a change has its date")
    func dates() {
        let stream = WatchedStream(
            MonitorEntry(name: "news", url: "http://a/b.m3u8"), rules: HealthRules(), clock: .host,
            epoch: SourceClock.host.now, epochDate: PlaylistDate(seconds: 1_000_000)
        ) { _, _ in }
        #expect(stream.date(at: .milliseconds(90_500)) == PlaylistDate(seconds: 1_000_090))
        let change = StreamHealth.Change(time: .seconds(10), old: .up, new: .down, held: .seconds(5))
        #expect(
            change.members(of: stream).last?.value
                == .string(PlaylistDate(seconds: 1_000_010).description))
        #expect(StreamRow(stream, decodes: false).since == PlaylistDate(seconds: 1_000_000))
    }

    @Test(
        "a restarted live stream that repeats its old playlist stays down until it lists new media"
    )
    func replayed() {
        var health = Self.playing()
        _ = health.handle(.playlist(Self.extent(0, 6), url: "a"), at: .seconds(2))
        var changes = Self.pass(&health, 3...40)
        changes += [health.handle(.failed(Self.failure), at: .seconds(40))].compactMap(\.self)
        for start in [50, 100] {
            let events: [StreamHealth.Event] = [.began, .playlist(Self.extent(0, 6), url: "a"), .playing]
            for event in events {
                if let change = health.handle(event, at: .seconds(start)) { changes.append(change) }
            }
            changes += Self.pass(&health, start...start + 30)
            if let change = health.handle(.failed(Self.failure), at: .seconds(start + 30)) { changes.append(change) }
        }
        #expect(changes.map(\.new) == [.degraded, .down])
        #expect(health.counters.outageCount == 1)
        for event in [.began, .playlist(Self.extent(20, 6), url: "a"), .playing] as [StreamHealth.Event] {
            if let change = health.handle(event, at: .seconds(150)) { changes.append(change) }
        }
        changes += Self.pass(&health, 151...180)
        #expect(changes.map(\.new) == [.degraded, .down, .up])
        #expect(changes.last?.failure == Self.failure)
    }

    @Test("segments a target duration later than their duration are late; several at once are not")
    func lateness() {
        var pace = PlaylistPace()
        #expect(pace.note(Self.extent(0, 6), url: "a", at: .zero) == PlaylistPace.Finding())
        #expect(pace.note(Self.extent(0, 6), url: "a", at: .seconds(3)).lateness == nil)
        #expect(pace.note(Self.extent(1, 6), url: "a", at: .seconds(9)).lateness == .seconds(3))
        let late = pace.note(Self.extent(2, 6), url: "a", at: .seconds(22))
        #expect(late.lateness == .seconds(7) && late.isLate)
        // A switch to another variant and back: three segments in 18 s.
        _ = pace.note(Self.extent(3, 6), url: "b", at: .seconds(28))
        let back = pace.note(Self.extent(5, 6), url: "a", at: .seconds(40))
        #expect(back.lateness == .zero && !back.isLate)
    }

    @Test("decreasing sequence numbers are a reset; discontinuities count once for all playlists")
    func resets() {
        var pace = PlaylistPace()
        _ = pace.note(Self.extent(100, 6, discontinuity: 3), url: "video", at: .zero)
        _ = pace.note(Self.extent(100, 6, discontinuity: 3), url: "audio", at: .zero)
        #expect(
            pace.note(Self.extent(101, 6, discontinuity: 4), url: "video", at: .seconds(6)).discontinuityCount == 1)
        #expect(
            pace.note(Self.extent(101, 6, discontinuity: 4), url: "audio", at: .seconds(6)).discontinuityCount == 0)
        #expect(pace.note(Self.extent(0, 6), url: "video", at: .seconds(12)).isReset)
        for wild in [Int.max, .min, 0, -1] {
            let extent = MediaPlaylistExtent(
                targetDuration: .seconds(6), firstMediaSequence: wild, segmentCount: Int.max,
                lastDiscontinuitySequence: wild)
            _ = pace.note(extent, url: "wild", at: .seconds(20))
            _ = pace.note(extent, url: "video", at: .seconds(20))
        }
    }

    @Test("counters never decrease when the stream is restarted")
    func counters() {
        var health = Self.playing()
        var sample = StreamSample()
        sample.statistics.numberOfStalls = 2
        sample.statistics.numberOfSegments = 7
        sample.statistics.startupTime = .seconds(1)
        _ = health.handle(.sample(sample), at: .seconds(5))
        _ = health.handle(.failed(Self.failure), at: .seconds(6))
        _ = health.handle(.began, at: .seconds(8))
        #expect(health.counters.stallCount == 2 && health.counters.segmentCount == 7)
        sample.statistics.numberOfStalls = 1
        _ = health.handle(.sample(sample), at: .seconds(9))
        #expect(health.counters.stallCount == 3 && health.counters.segmentCount == 14)
    }

    @Test("the certificate that expires first is reported, and its days are counted down")
    func certificates() {
        var health = Self.playing()
        let date = PlaylistDate(seconds: 1_000_000)
        _ = health.handle(
            .certificate(host: "a", expires: date, remaining: .seconds(10 * 86_400)), at: .seconds(10))
        _ = health.handle(
            .certificate(host: "b", expires: date + .seconds(86_400), remaining: .seconds(11 * 86_400)),
            at: .seconds(10))
        #expect(health.certificateExpirationDate == date)
        let row = StreamRow(name: "x", url: "", health: health, at: .seconds(86_410))
        #expect(row.certificateDays == 9)
        _ = health.handle(
            .certificate(host: "a", expires: date + .seconds(172_800), remaining: .seconds(12 * 86_400)),
            at: .seconds(20))
        #expect(health.certificateExpirationDate == date + .seconds(86_400))
    }

    @Test("the number of failure labels is small")
    func labels() {
        #expect(FailureName(code: "http_404", text: "").label == "http_4xx")
        #expect(FailureName(code: "http_503", text: "").label == "http_5xx")
        #expect(FailureName(code: "timedOut", text: "").label == "timedOut")
        #expect(FailureName(code: "whatever a program says", text: "").label == "other")
        let below = HLSError(code: .timedOut, cause: "no response after 8 s")
        #expect(FailureName(HLSError(code: .network, cause: "x", underlyingError: below)).code == "timedOut")
        #expect(FailureName(HLSError(code: .notFound, cause: "x", statusCode: 404)).code == "http_404")
        #expect(FailureName(HLSError(code: .staleLive, cause: "x")).code == "staleLive")
    }
}
