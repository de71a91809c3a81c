import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Logs and metrics of the engine")
struct SessionJournalTests {
    private static func playing(
        _ path: String, from origin: ScriptedOrigin, preferences: PlayerItemPreferences = .init(),
        _ configure: (inout EngineConfiguration) -> Void = { _ in }
    ) -> EngineHarness {
        var configuration = EngineConfiguration()
        configure(&configuration)
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.control(.play)
        harness.control(.setPreferences(preferences))
        harness.control(.setItem(EngineItem(url: ScriptedOrigin.root + path, diary: ItemLog())))
        return harness
    }

    private static func accessLog(_ harness: EngineHarness) -> [AccessLogEvent] {
        harness.engine.journal?.accessLog(watched: harness.engine.watchedDuration(at: harness.now), at: harness.now)
            .events ?? []
    }

    private static func metrics<Event: MetricEvent>(_ harness: EngineHarness, _ type: Event.Type) -> [Event] {
        harness.metrics.compactMap { $0 as? Event }
    }

    private static func entryCount(_ harness: EngineHarness) -> Int {
        var count = 0
        for (_, kind) in harness.events {
            switch kind {
            case .newAccessLogEntry, .newErrorLogEntry: count += 1
            default: break
            }
        }
        return count
    }

    private static func watched(_ events: [AccessLogEvent]) -> Double {
        events.reduce(0) { $0 + $1.durationWatched.seconds }
    }

    @Test("O01: a VOD item with one variant has one period, from its first segment to its end")
    func vod() throws {
        var harness = Self.playing("vod.m3u8", from: .vod())
        harness.runToEnd()
        let events = Self.accessLog(harness)
        try #require(events.count == 1)
        let event = events[0]
        #expect(event.uri == "https://host/vod.m3u8")
        #expect(event.playbackType == "VOD")
        #expect(event.numberOfMediaRequests == 10, "no playlist counts")
        #expect(event.numberOfBytesTransferred == 1_000_000)
        #expect(event.segmentsDownloadedDuration == .seconds(40))
        #expect((39.99...40.01).contains(event.durationWatched.seconds))
        #expect(event.playbackStartOffset == .zero)
        #expect(event.numberOfStalls == 0 && event.downloadOverdue == 0)
        // 800 kbit with 20 ms to the first byte and 100 ms to the last.
        #expect((6_666_600.0...6_666_700.0).contains(try #require(event.observedBitrate)))
        #expect((0.001..<1).contains(try #require(event.startupTime).seconds))
        #expect(event.indicatedBitrate == nil, "there is no multivariant playlist")
        #expect(event.playbackSessionID?.count == 36)
        #expect(Self.entryCount(harness) == 1)
        #expect(harness.engine.journal?.errorLog.events.isEmpty == true)
        let playlists = Self.metrics(harness, MetricHLSPlaylistRequestEvent.self)
        #expect(playlists.map(\.isMultivariantPlaylist) == [false], "a media playlist that was opened directly")
    }

    @Test("O01: subtitles are not media requests and do not change segment bit rates")
    func subtitles() throws {
        func log(withSubtitles: Bool) throws -> AccessLogEvent {
            var origin = ScriptedOrigin()
            let lines = [
                "#EXTM3U", #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="en",LANGUAGE="en",URI="t.m3u8""#,
                #"#EXT-X-STREAM-INF:BANDWIDTH=1000000,SUBTITLES="t""#, "a.m3u8",
            ]
            origin.answer("main.m3u8", .text(lines.joined(separator: "\n")))
            origin.answer("a.m3u8", .text(.numbered(0, count: 10, prefix: "a", isEnded: true)))
            origin.answer("t.m3u8", .text(.numbered(0, count: 10, prefix: "t", isEnded: true)))
            for index in 0..<10 { origin.answer("t\(index).ts", .media(200)) }
            var preferences = PlayerItemPreferences()
            if withSubtitles { preferences.subtitles = try QualityExpression(parsing: "lang=en", for: .renditions) }
            var harness = Self.playing("main.m3u8", from: origin, preferences: preferences)
            harness.runToEnd()
            #expect(harness.requests(of: "t3.ts").count == (withSubtitles ? 1 : 0))
            return try #require(Self.accessLog(harness).first)
        }
        let (with, without) = (try log(withSubtitles: true), try log(withSubtitles: false))
        #expect(with.numberOfMediaRequests == 10)
        #expect(without.numberOfMediaRequests == 10)
        #expect(with.observedMinBitrate == without.observedMinBitrate)
        #expect(with.numberOfBytesTransferred == without.numberOfBytesTransferred + 2000, "bytes are bytes")
    }

    @Test("O01: a switch to another playlist opens a period; a cap on the current one does not")
    func variantSwitch() throws {
        var harness = Self.playing("main.m3u8", from: .twoVariants(count: 30)) { $0.initialBitRateHint = 50_000_000 }
        harness.run(until: .seconds(20))
        var preferences = PlayerItemPreferences()
        preferences.preferredPeakBitRate = 1_500_000
        harness.control(.setPreferences(preferences))
        harness.runToEnd()
        let events = Self.accessLog(harness)
        #expect(events.map(\.uri) == ["https://host/a.m3u8", "https://host/b.m3u8"])
        #expect(events.map(\.indicatedBitrate) == [3_000_000, 1_000_000])
        #expect(events[0].switchBitrate == nil)
        #expect(try #require(events[1].switchBitrate) > 0, "what the network was taken to give")
        #expect(events[1].startupTime == nil)
        let requestCount = events.map(\.numberOfMediaRequests).reduce(0, +)
        #expect(requestCount == 30)
        #expect((119.99...120.01).contains(Self.watched(events)))
        let starts = Self.metrics(harness, MetricPlayerItemVariantSwitchStartEvent.self)
        #expect(starts.map(\.toVariant.index) == [0, 1])
        let sources = starts.map { $0.fromVariant?.index }
        #expect(sources == [nil, 0])
        let ends = Self.metrics(harness, MetricPlayerItemVariantSwitchEvent.self)
        #expect(ends.map(\.toVariant.index) == [0, 1])
        #expect(ends.map(\.didSucceed) == [true, true])
        let summary = try #require(Self.metrics(harness, MetricPlayerItemPlaybackSummaryEvent.self).first)
        #expect(summary.variantSwitchCount == 1)
        let average = try #require(summary.timeWeightedAverageBitrate)
        #expect(average > 1_000_000 && average < 3_000_000)
    }

    @Test("O04: a switch succeeds with its first segment, even if the next switch was already decided")
    func quickSwitches() throws {
        // The hint is below the network's bandwidth. After the first segment the rule knows better and switches up.
        var harness = Self.playing("main.m3u8", from: .twoVariants(count: 30)) { $0.initialBitRateHint = 1_500_000 }
        harness.runToEnd()
        let starts = Self.metrics(harness, MetricPlayerItemVariantSwitchStartEvent.self)
        let ends = Self.metrics(harness, MetricPlayerItemVariantSwitchEvent.self)
        try #require(starts.count == 2)
        #expect(ends.map(\.toVariant.index) == starts.map(\.toVariant.index))
        #expect(ends.map(\.didSucceed) == [true, true])
        #expect(starts.allSatisfy { !$0.explanation.isEmpty })
        let segments = Self.metrics(harness, MetricHLSMediaSegmentRequestEvent.self)
        #expect(Set(segments.compactMap { $0.segment?.mediaSequence }) == Set(0..<30))
        #expect(segments.first?.segment?.variantID == starts[0].toVariant.id)
        #expect(segments.last?.segment?.variantID == starts[1].toVariant.id)
        let line = try #require(segments.last).jsonLine
        #expect(line.contains(#""map":false,"media_sequence":29,"segment_start":116,"segment_duration":4,"variant":"#))
    }

    @Test("O04: a switch abandoned before its first segment or cut off by the session's end failed")
    func failedSwitches() {
        var origin = ScriptedOrigin.twoVariants(count: 30)
        for name in ["a0.ts", "b0.ts"] { origin.answer(name, .media(100_000).lasting(.seconds(1000))) }
        var harness = Self.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(1))
        harness.control(.setItem(nil))
        let starts = Self.metrics(harness, MetricPlayerItemVariantSwitchStartEvent.self)
        let ends = Self.metrics(harness, MetricPlayerItemVariantSwitchEvent.self)
        #expect(!starts.isEmpty)
        #expect(ends.count == starts.count, "each has an end")
        #expect(ends.allSatisfy { !$0.didSucceed })
    }

    @Test("O04: changes of audio and subtitles are rendition changes, with old and new option")
    func renditions() throws {
        var origin = ScriptedOrigin()
        let lines = [
            "#EXTM3U",
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="en",LANGUAGE="en",URI="t.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a",SUBTITLES="t""#, "v.m3u8",
        ]
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n")))
        for name in ["v", "en", "de", "t"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 10, prefix: name, isEnded: true)))
        }
        var harness = Self.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(5))
        func select(_ name: String, _ characteristic: MediaCharacteristic) throws {
            let group = try #require(harness.engine.mediaSelection.groups[characteristic])
            let option = try #require(group.options.first { $0.displayName == name }).id
            harness.control(.select(characteristic, .option(option)))
        }
        try select("de", .audible)
        try select("en", .legible)
        harness.run(until: .seconds(10))
        harness.control(.select(.legible, .none))
        let changes = Self.metrics(harness, MetricMediaRenditionChangeEvent.self)
        #expect(changes.map(\.mediaType) == [.audio, .audio, .text, .text])
        let root = "https://host/"
        #expect(changes.map(\.fromURI) == [nil, root + "en.m3u8", nil, root + "t.m3u8"])
        #expect(changes.map(\.toURI) == [root + "en.m3u8", root + "de.m3u8", root + "t.m3u8", nil])
    }

    @Test("O01: the end of a seek opens a period, and no earlier count decreases")
    func seek() throws {
        var harness = Self.playing("vod.m3u8", from: .vod(count: 60))
        harness.run(until: .seconds(10))
        let before = Self.accessLog(harness)
        harness.control(.seek(to: .seconds(120)))
        harness.run(until: .seconds(20))
        let events = Self.accessLog(harness)
        #expect(events.count == 2)
        #expect(events[0].numberOfMediaRequests >= before[0].numberOfMediaRequests)
        #expect(try #require(events[1].playbackStartOffset) >= .seconds(120))
        #expect((19.2...20).contains(Self.watched(events)), "the jump was not watched")
        #expect(Self.metrics(harness, MetricPlayerItemSeekEvent.self).count == 1)
        let completed = Self.metrics(harness, MetricPlayerItemSeekDidCompleteEvent.self)
        #expect(completed.map(\.didSeekInBuffer) == [false])
        harness.control(.seek(to: .seconds(125)))
        #expect(
            Self.metrics(harness, MetricPlayerItemSeekDidCompleteEvent.self).map(\.didSeekInBuffer) == [false, true])
        #expect(Self.accessLog(harness).count == 3)
    }

    @Test("O01, O04: a stall is counted without a new period; the wait is in the summary")
    func stall() throws {
        var origin = ScriptedOrigin.vod()
        origin.answer("s4.ts", .media(100_000).lasting(.seconds(40)))
        var harness = Self.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        let events = Self.accessLog(harness)
        #expect(events.count == 1)
        #expect(events[0].numberOfStalls == 1)
        #expect(events[0].downloadOverdue == 1)
        #expect(Self.metrics(harness, MetricPlayerItemStallEvent.self).count == 1)
        #expect(Self.metrics(harness, MetricPlayerItemRateChangeEvent.self).map(\.rate) == [1, 0, 1, 0])
        let summaries = Self.metrics(harness, MetricPlayerItemPlaybackSummaryEvent.self)
        #expect(summaries.count == 1)
        #expect(summaries.first?.stallCount == 1)
        #expect((20...30).contains(summaries.first?.stallDuration.seconds ?? 0))
    }

    struct Failure: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var reply: ScriptedOrigin.Reply
        var domain: HLSError.Domain
        var status: Int?
    }

    static let failures = [
        Failure(testDescription: "status", reply: .status(503), domain: .http, status: 503),
        Failure(testDescription: "no connection", reply: .failure(.connectionLost), domain: .network),
        Failure(
            testDescription: "not media", reply: .spoiled(.media(MediaError(code: .malformed, text: "x"))),
            domain: .media),
    ]

    @Test("O02: a failure fixed by a retry is in the error log once", arguments: failures)
    func recovered(_ test: Failure) throws {
        var origin = ScriptedOrigin.vod()
        origin.answer("s3.ts", test.reply, .media(100_000))
        var harness = Self.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        let errors = try #require(harness.engine.journal).errorLog.events
        try #require(errors.count == 1)
        #expect(errors[0].errorDomain == test.domain)
        #expect(errors[0].errorStatusCode == test.status)
        #expect(errors[0].uri == "https://host/s3.ts")
        #expect(errors[0].playbackSessionID?.isEmpty == false)
        #expect(Self.entryCount(harness) == 2, "one of each log")
        let summary = Self.metrics(harness, MetricPlayerItemPlaybackSummaryEvent.self)
        #expect(summary.map(\.recoverableErrorCount) == [1])
    }

    @Test("O02: the failure that ends the item is in the error log")
    func fatal() {
        var origin = ScriptedOrigin()
        origin.answer("vod.m3u8", .status(404))
        var harness = Self.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        let errors = harness.engine.journal?.errorLog.events ?? []
        #expect(errors.map(\.errorStatusCode) == [404])
        #expect(Self.accessLog(harness).isEmpty, "no media was asked for")
        #expect(Self.metrics(harness, MetricPlayerItemPlaybackSummaryEvent.self).first?.error != nil)
        let text = ErrorLog(events: errors).extendedLogText
        #expect(text.contains(" 404 http "))
    }

    @Test("O04: the first \"likely to keep up\" event contains the requests made until then")
    func initialLikelyToKeepUp() throws {
        var origin = ScriptedOrigin.multivariant(["a": 250_000])
        origin.answer("a.m3u8", .text(.numbered(0, count: 10, prefix: "a", isEnded: true)))
        origin.bytesPerSecond = { _ in 20_000 }
        var harness = Self.playing("main.m3u8", from: origin)
        harness.runToEnd()
        let initial = Self.metrics(harness, MetricPlayerItemInitialLikelyToKeepUpEvent.self)
        try #require(initial.count == 1)
        #expect(initial[0].playlistRequests.map(\.isMultivariantPlaylist) == [true, false])
        #expect(!initial[0].mediaSegmentRequests.isEmpty)
        #expect(initial[0].timeTaken > .zero)
        #expect(!initial[0].loadedTimeRanges.isEmpty)
        #expect(Self.metrics(harness, MetricHLSPlaylistRequestEvent.self).count == 2)
        #expect(Self.metrics(harness, MetricHLSMediaSegmentRequestEvent.self).count == 10)
        let times = harness.metrics.map(\.context.elapsedTime)
        #expect(times == times.sorted(), "in the order in which they were made")
    }

    @Test("O04: on a fast link one arriving segment is enough to keep up")
    func initialLikelyToKeepUpFast() throws {
        var harness = Self.playing("main.m3u8", from: .twoVariants(count: 10))
        harness.runToEnd()
        let initial = Self.metrics(harness, MetricPlayerItemInitialLikelyToKeepUpEvent.self)
        try #require(initial.count == 1)
        #expect(initial[0].playlistRequests.map(\.isMultivariantPlaylist) == [true, false])
        #expect(!initial[0].mediaSegmentRequests.isEmpty)
        #expect(initial[0].timeTaken > .zero)
    }

    @Test("O04: keys are reported without their contents")
    func keys() throws {
        let origin = ScriptedOrigin.vod { text in
            text.segments[0].tags = ["#EXT-X-KEY:METHOD=AES-128,URI=\"https://me:pw@host/k.key\""]
        }
        var harness = Self.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        let keys = Self.metrics(harness, MetricContentKeyRequestEvent.self)
        #expect(keys.count == 1)
        let line = try #require(keys.first).jsonLine
        #expect(line.hasPrefix(#"{"v":1,"event":"content_key_request","url":"https://host/k.key","#))
        #expect(!line.contains("pw"))
    }

    @Test("O06: the summary is reported once, also when the item is replaced, and logs are kept")
    func replaced() throws {
        var harness = Self.playing("vod.m3u8", from: .vod())
        harness.run(until: .seconds(10))
        let diary = try #require(harness.engine.journal?.session.diary)
        harness.control(.setItem(nil))
        let summaries = Self.metrics(harness, MetricPlayerItemPlaybackSummaryEvent.self)
        #expect(summaries.count == 1)
        #expect((9.2...10).contains(summaries.first?.playbackDuration.seconds ?? 0))
        let log = try #require(diary.journal).accessLog(at: harness.now)
        #expect((9.2...10).contains(log.events.first?.durationWatched.seconds ?? 0))
        harness.run(until: .seconds(20))
        #expect(diary.journal?.accessLog(at: harness.now) == log)
    }

    @Test("D01: each item has its own session, which servers get; a seed gives the same session ids")
    func sessions() {
        func names() -> [String] {
            var harness = Self.playing("vod.m3u8", from: .vod()) { $0.sendsSessionID = true }
            harness.run(until: .seconds(1))
            let first = harness.engine.item?.session?.id ?? ""
            harness.control(.setItem(EngineItem(url: ScriptedOrigin.root + "vod.m3u8", diary: ItemLog())))
            return [first, harness.engine.item?.session?.id ?? ""]
        }
        let ids = names()
        #expect(Set(ids).count == 2)
        #expect(ids == names())
        for id in ids {
            let groups = id.split(separator: "-")
            #expect(groups.map(\.count) == [8, 4, 4, 4, 12])
            #expect(groups[2].first == "4")
            #expect(groups.count == 5 && "89AB".contains(groups[3].prefix(1)))
        }
        var random = SessionIDGenerator(seed: nil)
        #expect(random.next() != random.next())
    }
}
