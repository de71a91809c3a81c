import Foundation
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, playback")
struct EnginePlaybackTests {
    private static let names = (0..<10).map { "s\($0).ts" }

    @Test("F07: a VOD item plays from its start to its end")
    func vod() {
        var harness = EngineHarness(origin: .vod())
        harness.open("vod.m3u8")
        harness.control(.play)
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(
            harness.story == [
                "evaluatingBufferingRate", "toMinimizeStalls", "playing", "didPlayToEnd", "paused",
            ])
        #expect(harness.loadedSegments == Self.names)
        #expect(harness.state.currentTime.seconds == 40)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test(
        "segments listed with a duration of 0 s are loaded, and playback ends after them",
        arguments: [[9], [8, 9], [0], [4], Array(0..<10)], [EngineConfiguration.Pacing.realTime, .unpaced])
    func zeroDurations(_ places: [Int], pacing: EngineConfiguration.Pacing) {
        var harness = EngineHarness.playing(
            "vod.m3u8", from: .vod { for place in places { $0.segments[place].duration = "0" } }
        ) { $0.pacing = pacing }
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments == Self.names)
        #expect(harness.violations.isEmpty)
    }

    @Test("F08: play() before there is an item waits for one")
    func playBeforeItem() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(
            harness.story == [
                "noItemToPlay", "evaluatingBufferingRate", "toMinimizeStalls", "playing", "didPlayToEnd", "paused",
            ])
    }

    // link    fast            | s4 takes 40 s                    | fast
    // ahead   ____/‾‾‾‾‾‾‾‾‾‾‾\__________________________________/‾‾‾
    // status  playing         | waiting                          | playing
    @Test("F09: a temporarily slow link stalls playback once")
    func slowLink() throws {
        var origin = ScriptedOrigin.vod()
        origin.answer("s4.ts", .media(100_000).lasting(.seconds(40)))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(
            harness.story == [
                "noItemToPlay", "evaluatingBufferingRate", "toMinimizeStalls", "playing", "stalled",
                "toMinimizeStalls", "playing", "didPlayToEnd", "paused",
            ])
        #expect(harness.statistics.numberOfStalls == 1)
        #expect((20...30).contains(harness.statistics.stallDuration.seconds))
        #expect(harness.loadedSegments == Self.names)
    }

    @Test("F02: without media, the evaluation of the network ends after the configured time")
    func evaluationTime() throws {
        func end(_ time: Duration) throws -> Duration {
            var origin = ScriptedOrigin.vod()
            origin.answer("s0.ts", .media(100_000).after(.seconds(9)))
            var harness = EngineHarness.playing("vod.m3u8", from: origin) { $0.buffering.evaluationTime = time }
            harness.run(until: .seconds(8))
            return try #require(
                harness.time { kind in
                    if case .timeControl(let change) = kind { change.reason == .toMinimizeStalls } else { false }
                })
        }
        #expect(try end(.seconds(5)) - end(.milliseconds(500)) == .milliseconds(4500))
    }

    @Test("F21: while paused, an item loads until the buffer is full, and no further")
    func pausedItemFills() {
        var harness = EngineHarness(origin: .vod(count: 30))
        harness.open("vod.m3u8")
        harness.run(until: .seconds(300))
        #expect(harness.loadedSegments.count == 8)
        #expect(harness.state.itemStatus == .readyToPlay)
        #expect(harness.state.isPlaybackBufferFull)
    }

    @Test("a full buffer stops requests until it has fallen by a fifth and a target duration")
    func fullBuffer() throws {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(count: 30))
        harness.run(until: .seconds(40))
        let began = harness.requests.filter { $0.resourceClass == .segment }.map(\.began)
        let playing = try #require(harness.playingSince)
        // Eight segments are 32 s. The ninth one waits until less than 24 s are buffered.
        #expect(began[7] < .seconds(2))
        #expect(began[8] - playing > .seconds(8))
        #expect(began[8] - playing <= .milliseconds(8_300))
        #expect(harness.violations.isEmpty)
    }

    @Test("without pacing nothing waits for time")
    func unpaced() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(count: 30)) { $0.pacing = .unpaced }
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.didPlayToEnd)
        #expect(harness.now < .seconds(5))
        #expect(harness.loadedSegments.count == 30)
        #expect(!harness.story.contains("stalled"))
    }

    @Test("another rate scales the speed of time", arguments: [0.5, 2] as [Float])
    func rates(rate: Float) throws {
        var harness = EngineHarness(origin: .vod())
        harness.open("vod.m3u8")
        harness.control(.setRate(rate))
        harness.runToEnd()
        #expect(harness.isOver)
        let played = (harness.now - (try #require(harness.playingSince))).seconds
        #expect(abs(played - 40 / Double(rate)) < 0.1)
    }

    @Test("a new item cancels the old one's requests")
    func replacedItem() {
        var origin = ScriptedOrigin.vod()
        origin.answer("other.m3u8", .text(.numbered(0, count: 2, prefix: "o", isEnded: true)))
        origin.answer("s1.ts", .media(100_000).lasting(.seconds(60)))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.run(until: .seconds(2))
        harness.open("other.m3u8")
        #expect(harness.requests(of: "s1.ts").map(\.outcome) == [.cancelled])
        harness.runToEnd(by: .seconds(20))
        #expect(harness.isOver)
        #expect(harness.loadedSegments == ["s0.ts", "o0.ts", "o1.ts"])
    }

    @Test("failures of the previous item do not count against the next one")
    func failuresOfTheItemBefore() {
        var origin = ScriptedOrigin.twoVariants()
        origin.answer("a1.ts", .status(404))
        origin.answer("vod.m3u8", .text(.numbered(0, count: 3, isEnded: true)))
        origin.answer("s0.ts", .status(404), .media(100_000))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        // When the item is replaced, a retry of a1 is pending and its variant is in the penalty box.
        harness.run(until: .seconds(60)) { $0.requests(of: "a1.ts").last?.outcome == .failed }
        harness.open("vod.m3u8")
        let replaced = harness.now
        harness.runToEnd(by: .seconds(90))
        #expect(harness.isOver)
        #expect(harness.skippedSequences.isEmpty)
        let tries = harness.requests(of: "s0.ts").map(\.began)
        #expect(tries.count == 2 && tries[1] - tries[0] > .milliseconds(500))
        harness.open("main.m3u8")
        #expect(harness.variantSequence.last == 0)
        #expect(replaced < .seconds(2))
    }

    // MARK: Variants and renditions

    @Test("E01, E11: the playlist's first variant starts; the next segment comes from the one the link can carry")
    func switchUp() {
        var origin = ScriptedOrigin.multivariant(["b": 1_000_000, "a": 3_000_000])
        for name in ["a", "b"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 4, prefix: name, isEnded: true)))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.loadedSegments == ["b0.ts", "a1.ts", "a2.ts", "a3.ts"])
        #expect(harness.variantSequence == [0, 1])
        #expect(harness.requests(of: "a.m3u8").count == 1)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test(
        "E02: a known throughput determines the first variant",
        arguments: [(10e6, "a0.ts"), (2e6, "b0.ts"), (1e5, "b0.ts")])
    func hintedStart(bitRate: Double, first: String) {
        var harness = EngineHarness.playing("main.m3u8", from: .twoVariants()) { $0.initialBitRateHint = bitRate }
        harness.run(until: .seconds(60)) { !$0.mediaPaths.isEmpty }
        #expect(harness.mediaPaths == [first])
        #expect(harness.requests.map(\.path).filter { $0.hasSuffix(".m3u8") }.count == 2)
    }

    @Test("E03: a bit rate cap changed during playback applies from the next segment; the buffer is played")
    func changedCap() {
        var harness = EngineHarness.playing("main.m3u8", from: .twoVariants(count: 20))
        harness.run(until: .seconds(5))
        #expect(harness.loadedSegments.allSatisfy { $0.hasPrefix("a") })
        let loaded = harness.loadedSegments.count
        var preferences = PlayerItemPreferences()
        preferences.preferredPeakBitRate = 1_500_000
        harness.control(.setPreferences(preferences))
        harness.run(until: .seconds(30))
        #expect(harness.loadedSegments[loaded...].allSatisfy { $0.hasPrefix("b") })
        harness.control(.setPreferences(PlayerItemPreferences()))
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.loadedSegments.last == "a19.ts")
        #expect(harness.requests(of: "a.m3u8").count == 1)
        #expect(harness.loadedSegments.count == 20)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("returning to a variant does not load its initialization sections and keys again")
    func switchBack() {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 1_000_000])
        for name in ["a", "b"] {
            var text = PlaylistText.numbered(0, count: 20, prefix: name, isEnded: true)
            text.segments[0].tags = [#"#EXT-X-KEY:METHOD=AES-128,URI="key""#, "#EXT-X-MAP:URI=\"\(name).mp4\""]
            origin.answer("\(name).m3u8", .text(text))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        for (time, cap) in [(5, 1_500_000), (30, 0)] as [(Int, Double)] {
            harness.run(until: .seconds(time))
            var preferences = PlayerItemPreferences()
            preferences.preferredPeakBitRate = cap
            harness.control(.setPreferences(preferences))
        }
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.variantSequence == [0, 1, 0])
        for path in ["key", "a.mp4", "b.mp4"] { #expect(harness.requests(of: path).count == 1, "\(path)") }
    }

    private static let renditions = [
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="en",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8""#,
        #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="de",LANGUAGE="de",URI="de.m3u8""#,
    ]

    private static func withRenditions() -> ScriptedOrigin {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 1_000_000], extra: renditions, audio: "aac")
        for name in ["a", "b", "en", "de"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 10, prefix: name, isEnded: true)))
        }
        return origin
    }

    @Test("separate audio is loaded in parallel, and unselected renditions are not loaded")
    func separateAudio() {
        var harness = EngineHarness.playing("main.m3u8", from: Self.withRenditions())
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.didPlayToEnd)
        let playlists = harness.requests.prefix(3)
        #expect(playlists.map(\.path) == ["main.m3u8", "a.m3u8", "en.m3u8"])
        #expect(playlists.dropFirst().map(\.began) == [playlists[1].began, playlists[1].began])
        #expect(harness.requests(of: "a0.ts")[0].began == harness.requests(of: "en0.ts")[0].began)
        #expect(harness.requests.allSatisfy { !$0.path.hasPrefix("b") && !$0.path.hasPrefix("de") })
        #expect(harness.loadedSegments.filter { $0.hasPrefix("en") } == (0..<10).map { "en\($0).ts" })
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("playback waits for the selected audio")
    func lateAudio() throws {
        var origin = Self.withRenditions()
        origin.answer("en2.ts", .media(100_000).lasting(.seconds(30)))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.statistics.numberOfStalls == 1)
        #expect(harness.loadedSegments.count == 20)
    }

    @Test("a preferred language selects the rendition")
    func chosenLanguage() throws {
        var preferences = PlayerItemPreferences()
        preferences.audio = try QualityExpression(parsing: "lang=de", for: .renditions)
        var harness = EngineHarness.playing("main.m3u8", from: Self.withRenditions(), preferences: preferences)
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.requests(of: "de.m3u8").count == 1)
        #expect(harness.requests(of: "en.m3u8").isEmpty)
    }

    @Test("separate audio that comes with another variant is loaded from where the variant begins")
    func joiningAudio() {
        var origin = ScriptedOrigin()
        let variants = [
            "#EXT-X-STREAM-INF:BANDWIDTH=1000000", "b.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO=\"aac\"",
            "a.m3u8",
        ]
        let lines = ["#EXTM3U"] + Self.renditions + variants
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        for name in ["a", "b", "en"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 10, prefix: name, isEnded: true)))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence == [0, 1])
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.loadedSegments.filter { $0.hasPrefix("en") } == (1..<10).map { "en\($0).ts" })
    }

    // MARK: Resources of a segment

    @Test("initialization section and key are requested once, with the first segment")
    func mapAndKey() {
        var harness = EngineHarness.playing(
            "vod.m3u8",
            from: .vod {
                $0.segments[0].tags = [#"#EXT-X-KEY:METHOD=AES-128,URI="key""#, #"#EXT-X-MAP:URI="init.mp4""#]
            })
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.didPlayToEnd)
        #expect(Set(harness.mediaPaths.prefix(3)) == ["key", "init.mp4", "s0.ts"])
        #expect(Set(harness.requests.dropFirst().prefix(3).map(\.began)).count == 1)
        #expect(harness.requests(of: "key").count == 1)
        #expect(harness.requests(of: "init.mp4").count == 1)
    }

    @Test("byte ranges are requested as written")
    func byteRanges() {
        var harness = EngineHarness.playing(
            "vod.m3u8",
            from: .vod(count: 3) { text in
                text.segments = [
                    .init(
                        "all.mp4", tags: [#"#EXT-X-MAP:URI="all.mp4",BYTERANGE="100@0""#, "#EXT-X-BYTERANGE:50@100"]),
                    .init("all.mp4", tags: ["#EXT-X-BYTERANGE:70"]),
                    .init("all.mp4", tags: ["#EXT-X-BYTERANGE:10@500"]),
                ]
            })
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.requests(of: "all.mp4").map(\.byteRange) == [0..<100, 100..<150, 150..<220, 500..<510])
    }

    @Test("byte ranges of media encrypted with AES-128 are loaded to the end of their last block")
    func encryptedByteRanges() {
        var harness = EngineHarness.playing(
            "vod.m3u8",
            from: .vod(count: 3) { text in
                text.segments = [
                    .init(
                        "all.mp4",
                        tags: [
                            #"#EXT-X-KEY:METHOD=AES-128,URI="k.key",IV=0x1"#,
                            #"#EXT-X-MAP:URI="all.mp4",BYTERANGE="100@0""#, "#EXT-X-BYTERANGE:50@112",
                        ]),
                    .init("all.mp4", tags: ["#EXT-X-BYTERANGE:64@176"]),
                    .init("all.mp4", tags: ["#EXT-X-KEY:METHOD=NONE", "#EXT-X-BYTERANGE:10@240"]),
                ]
            })
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.requests(of: "all.mp4").map(\.byteRange) == [0..<112, 112..<176, 176..<240, 240..<250])
    }

    @Test("F19, R38: a gap is never requested, takes its time and is counted")
    func gap() throws {
        var harness = EngineHarness.playing(
            "vod.m3u8", from: .vod { for index in 3...4 { $0.segments[index].tags = ["#EXT-X-GAP"] } })
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.loadedSegments == Self.names.filter { $0 != "s3.ts" && $0 != "s4.ts" })
        #expect(harness.mediaPaths == harness.loadedSegments)
        #expect(harness.skippedSequences == [3...3, 4...4])
        #expect(harness.skippedSegments.allSatisfy { $0.isListedGap && $0.isOfVariant })
        #expect(harness.statistics.numberOfSkippedSegments == 2)
        #expect(harness.statistics.skippedDuration == .seconds(8))
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(abs((harness.now - (try #require(harness.playingSince))).seconds - 40) < 0.1)
    }

    @Test(
        "F19: undeclared missing media is skipped and reported once, unless it is too short",
        arguments: [(50, []), (300, ["19.7 20.0"]), (2000, ["18.0 20.0"])] as [(Int, [String])])
    func gap(milliseconds: Int, reported: [String]) {
        var harness = EngineHarness(origin: .vod(), configuration: EngineConfiguration())
        harness.missingMedia["s4.ts"] = .milliseconds(milliseconds)
        harness.open("vod.m3u8")
        harness.control(.play)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.statistics.numberOfStalls == 0)
        let gaps = harness.events.compactMap { event -> String? in
            guard case .missingMediaSkipped(let gap) = event.kind else { return nil }
            return "\(gap.start.seconds) \(gap.end.seconds)"
        }
        #expect(gaps == reported)
    }

    @Test(
        "F19: media earlier than its playlist times is complete; missing media is reported in media time",
        arguments: [(0, []), (2000, ["17.1 19.1"])] as [(Int, [String])])
    func timesOfMedia(milliseconds: Int, reported: [String]) {
        var harness = EngineHarness(origin: .vod(), configuration: EngineConfiguration())
        harness.mediaLead = .milliseconds(900)
        harness.missingMedia["s4.ts"] = .milliseconds(milliseconds)
        harness.open("vod.m3u8")
        harness.control(.play)
        harness.runToEnd()
        let gaps = harness.events.compactMap { event -> String? in
            guard case .missingMediaSkipped(let gap) = event.kind else { return nil }
            return "\(gap.start.seconds) \(gap.end.seconds)"
        }
        #expect(gaps == reported)
    }

    @Test(
        "if media runs ahead of its playlist, later segments are still loaded, and playback ends",
        arguments: [2, 4, 12])
    func mediaAhead(seconds: Int) {
        for isLive in [false, true] {
            var origin = ScriptedOrigin.vod()
            if isLive { origin = .live(Broadcast(firstSequence: 0, laterCount: 4, endsWithTag: true)) }
            var harness = EngineHarness(origin: origin, configuration: EngineConfiguration())
            harness.missingMedia["s8.ts"] = .seconds(-seconds)
            harness.open(isLive ? "live.m3u8" : "vod.m3u8")
            harness.control(.play)
            harness.runToEnd()
            #expect(harness.didPlayToEnd, "\(harness.story)")
            #expect(harness.loadedSegments.last == "s9.ts")
        }
    }

    @Test("C08: a gap in one variant is loaded from another one that has the segment, and not requested otherwise")
    func gapInOneVariant() {
        var origin = ScriptedOrigin.twoVariants()
        var text = PlaylistText.numbered(0, count: 10, prefix: "a", isEnded: true)
        text.segments[4].tags = ["#EXT-X-GAP"]
        origin.answer("a.m3u8", .text(text))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence.prefix(2) == [0, 1])
        #expect(harness.loadedSegments[4] == "b4.ts")
        #expect(harness.requests(of: "a4.ts").isEmpty)
        #expect(harness.statistics.numberOfSkippedSegments == 0)
    }

    @Test("\"likely to keep up\" is reported before playback, and the duration once for all variants")
    func orderOfEvents() throws {
        for origin in [ScriptedOrigin.vod(), .twoVariants(), .live()] {
            for path in ["vod.m3u8", "main.m3u8", "live.m3u8"] where origin.routes[path] != nil {
                var harness = EngineHarness.playing(path, from: origin)
                harness.run(until: .seconds(30))
                harness.control(.pause)
                harness.control(.play)
                harness.control(.seek(SeekRequest(destination: .time(.seconds(30)), tolerance: .zero)))
                harness.run(until: .seconds(60))
                var isLikely = false
                for (time, kind) in harness.events {
                    switch kind {
                    case .playbackLikelyToKeepUpChanged(let value): isLikely = value
                    case .timeControl(let change) where change.new == .playing:
                        #expect(isLikely, "\(path) at \(time)")
                    default: break
                    }
                }
                let durations = harness.events.filter { if case .durationChanged = $0.kind { true } else { false } }
                #expect(durations.count == 1)
            }
        }
    }

    @Test("items with gaps at the start, at the end or throughout end normally", arguments: [0..<2, 8..<10, 0..<10])
    func gapsAtTheEdges(gaps: Range<Int>) {
        var harness = EngineHarness.playing(
            "vod.m3u8", from: .vod { for index in gaps { $0.segments[index].tags = ["#EXT-X-GAP"] } })
        harness.runToEnd(by: .seconds(100))
        #expect(harness.isOver)
        #expect(harness.loadedSegments.count == 10 - gaps.count)
        #expect(harness.violations.isEmpty)
    }

    // MARK: Start and end

    struct Start: CustomTestStringConvertible {
        var tag: String?
        var position = StartPosition.automatic
        var time: Double
        var first: String
        var window: Double?
        var testDescription: String { "\(tag ?? "-") \(position)" }
    }

    static let starts: [Start] = [
        Start(tag: nil, time: 0, first: "s0.ts"),
        Start(tag: "#EXT-X-START:TIME-OFFSET=10", time: 8, first: "s2.ts"),
        Start(tag: "#EXT-X-START:TIME-OFFSET=10,PRECISE=YES", time: 10, first: "s2.ts", window: 10),
        Start(tag: "#EXT-X-START:TIME-OFFSET=-10", time: 28, first: "s7.ts"),
        Start(tag: "#EXT-X-START:TIME-OFFSET=-10,PRECISE=YES", time: 30, first: "s7.ts", window: 30),
        Start(tag: "#EXT-X-START:TIME-OFFSET=-100", time: 0, first: "s0.ts"),
        Start(tag: "#EXT-X-START:TIME-OFFSET=10", position: .oldest, time: 0, first: "s0.ts"),
        Start(tag: nil, position: .time(.seconds(13)), time: 13, first: "s3.ts", window: 13),
        Start(tag: nil, position: .time(.seconds(-13)), time: 27, first: "s6.ts", window: 27),
        Start(tag: "#EXT-X-START:TIME-OFFSET=10", position: .time(.seconds(1)), time: 1, first: "s0.ts", window: 1),
    ]

    @Test("playback starts at the position that the item or the playlist sets", arguments: starts)
    func startPosition(_ example: Start) {
        var preferences = PlayerItemPreferences()
        preferences.startPosition = example.position
        var harness = EngineHarness.playing(
            "vod.m3u8", from: .vod { $0.header = [example.tag].compactMap(\.self) }, preferences: preferences)
        harness.run(until: .seconds(60)) { !$0.mediaPaths.isEmpty }
        #expect(harness.state.currentTime.seconds == example.time)
        #expect(harness.mediaPaths == [example.first])
        #expect(harness.engine.item?.startWindow == example.window.map { .seconds($0) })
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.didPlayToEnd)
    }

    @Test(
        "playback ends at its end time, and later media is not loaded",
        arguments: [
            (.time(.seconds(10)), 10, 3), (.time(.seconds(12)), 12, 3), (.time(.seconds(-30)), 10, 3),
            (.duration(.seconds(5)), 5, 2), (.time(.seconds(400)), 40, 10),
        ] as [(EndPosition, Double, Int)])
    func endPosition(position: EndPosition, time: Double, count: Int) throws {
        var preferences = PlayerItemPreferences()
        preferences.endPosition = position
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(), preferences: preferences)
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.didPlayToEnd)
        #expect(harness.state.currentTime.seconds == time)
        #expect(harness.mediaPaths.count == count)
        #expect(abs((harness.now - (try #require(harness.playingSince))).seconds - time) < 0.1)
    }

    @Test("a start date that no playlist contains fails the item")
    func datesWithoutDates() {
        var preferences = PlayerItemPreferences()
        preferences.startPosition = .date(Date(timeIntervalSince1970: 1_800_000_000))
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(), preferences: preferences)
        harness.run(until: .seconds(1))
        #expect(harness.engine.item?.error?.code == .notAvailable)
        #expect(harness.mediaPaths.isEmpty)
    }

    @Test("an end time moved back during playback is reached")
    func movedEnd() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.run(until: .seconds(5))
        harness.control(.setForwardPlaybackEndTime(.seconds(20)))
        harness.runToEnd(by: .seconds(60))
        #expect(harness.isOver)
        #expect(harness.didPlayToEnd)
        #expect(harness.state.currentTime.seconds == 20)
    }
}
