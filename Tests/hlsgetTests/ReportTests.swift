import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

private let low = AssetVariant(
    index: 0, peakBitRate: 800_000, averageBitRate: 700_000, codecs: ["avc1.4d401e"],
    presentationSize: PixelSize(width: 640, height: 360), nominalFrameRate: 25)
private let high = AssetVariant(
    index: 1, peakBitRate: 3_000_000, presentationSize: PixelSize(width: 1280, height: 720))
private let lowJSON =
    #"{"index":0,"bandwidth":800000,"average_bandwidth":700000,"width":640,"height":360,"frame_rate":25,"codecs":"avc1.4d401e"}"#
private let highJSON =
    #"{"index":1,"bandwidth":3000000,"average_bandwidth":null,"width":1280,"height":720,"frame_rate":null,"codecs":""}"#

private func event(_ kind: PlayerEvent.Kind) -> PlayerEvent {
    PlayerEvent(hostTime: HostTime(offset: .milliseconds(1230)), kind: kind)
}

private func segment(_ sequence: Int, variant: Int?, seconds: Int = 4, bytes: Int = 1000) -> PlayerEvent.Kind {
    .segmentLoaded(
        SegmentLoad(
            url: "http://u:p@a/\(sequence).ts", mediaSequence: sequence, itemTime: .seconds(Int64(sequence * seconds)),
            mediaDuration: .seconds(seconds), duration: .milliseconds(250), byteCount: bytes,
            variantID: variant.map { AssetVariant.ID(rawValue: "\($0)") }, variantIndex: variant))
}

/// The advertisement starts ten seconds after item time 0 and lasts for seven.
private let advertisement: DateRangeMetadataGroup = {
    let start = PlaylistDate(seconds: 1_767_225_610)
    var range = DateRange(
        id: "ad\u{1b}", class: "com.example", startDate: start, duration: .seconds(7),
        otherAttributes: [PlaylistAttribute(name: "X-URL", value: "https://a/?token=secret", isQuoted: true)])
    range.scte35Out = "0xFC"
    return DateRangeMetadataGroup(
        dateRange: range, endDate: start + .seconds(7),
        timeRange: MediaTimeRange(start: .seconds(10), duration: .seconds(7)))
}()

/// An example of SCTE 35, §14.2.
private let section = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="

private func marker(_ line: String) -> SpliceMarker {
    let text = "#EXTM3U\n#EXT-X-TARGETDURATION:8\n\(line)\n#EXTINF:8,\na\n"
    guard let marker = (try? MediaPlaylist(parsing: text, url: "x"))?.segments.first?.spliceMarkers.first else {
        preconditionFailure("no marker in \(line)")
    }
    return marker
}

private let skipped = SkippedSegments(
    first: 7, last: 7, mediaDuration: .seconds(4), url: "http://a/7.ts\u{1b}", cause: "HTTP 404")

@Suite("Event reporter")
struct EventReporterTests {
    @Test(
        "each event is a line of JSON",
        arguments: [
            (
                .timeControl(
                    TimeControlChange(
                        old: .paused, new: .waitingToPlayAtSpecifiedRate, reason: .toMinimizeStalls, rate: 0,
                        timebaseRate: 0, itemTime: .indefinite)),
                [
                    #"{"v":1,"event":"time_control","old":"paused","new":"waiting","reason":"toMinimizeStalls","rate":0,"timebase_rate":0,"item_time":null,"time":1.23}"#
                ]
            ),
            (
                .timeControl(
                    TimeControlChange(
                        old: .waitingToPlayAtSpecifiedRate, new: .playing, reason: nil, rate: 1, timebaseRate: 1,
                        itemTime: .zero)),
                [
                    #"{"v":1,"event":"desired_rate","old":0,"new":1,"item_time":0,"time":1.23}"#,
                    #"{"v":1,"event":"time_control","old":"waiting","new":"playing","reason":null,"rate":1,"timebase_rate":1,"item_time":0,"time":1.23}"#,
                ]
            ),
            (.itemStatusChanged(.readyToPlay), [#"{"v":1,"event":"item_status","status":"readyToPlay","time":1.23}"#]),
            (.durationChanged(.seconds(20)), [#"{"v":1,"event":"duration_change","duration":20,"time":1.23}"#]),
            (.durationChanged(.indefinite), [#"{"v":1,"event":"duration_change","duration":null,"time":1.23}"#]),
            // The library's metrics report these.
            (
                .playlistLoaded(
                    PlaylistLoad(
                        url: "http://u:p@a/x", isMultivariant: true, isReload: false, duration: .milliseconds(15),
                        byteCount: 99)), []
            ),
            (segment(3, variant: nil), []), (.playbackLikelyToKeepUpChanged(true), []),
            (.variantSwitched(from: low, to: high, explanation: "faster"), []),
            (.playbackStalled(itemTime: .seconds(5)), []),
            (.playbackBufferFullChanged(true), [#"{"v":1,"event":"buffer_full","full":true,"time":1.23}"#]),
            (.timeJumped(to: .seconds(9)), [#"{"v":1,"event":"time_jump","item_time":9,"time":1.23}"#]),
            (
                .lowLatencyDeclined(url: "https://a/x", cause: "no PART-HOLD-BACK"),
                [
                    #"{"v":1,"event":"low_latency_declined","url":"https://a/x","cause":"no PART-HOLD-BACK","time":1.23}"#
                ]
            ),
            (
                .trickPlayUnavailable(.noIFrames, rate: 8),
                [
                    #"{"v":1,"event":"trick_play_unavailable","rate":8,"cause":"the stream has no I-frame playlist","time":1.23}"#
                ]
            ),
            (
                .missingMediaSkipped(MediaTimeRange(start: .seconds(4), duration: .seconds(2))),
                [#"{"v":1,"event":"hole","item_time":4,"media_duration":2,"time":1.23}"#]
            ),
            (
                .dateRange(.entered, advertisement),
                [
                    #"{"v":1,"event":"date_range","phase":"entered","id":"ad\u001b","class":"com.example","item_time":10,"media_duration":7,"start_date":"2026-01-01T00:00:10.000Z","end_date":"2026-01-01T00:00:17.000Z","planned_duration":null,"scte35_cmd":null,"scte35_out":"0xFC","scte35_in":null,"attributes":{"X-URL":"https://a/?token=..."},"time":1.23}"#
                ]
            ),
            (
                .dateRange(.left, DateRangeMetadataGroup(dateRange: DateRange(id: "x", startDate: nil))),
                [
                    #"{"v":1,"event":"date_range","phase":"left","id":"x","class":null,"item_time":null,"media_duration":null,"start_date":null,"end_date":null,"planned_duration":null,"scte35_cmd":null,"scte35_out":null,"scte35_in":null,"attributes":{},"time":1.23}"#
                ]
            ),
            (
                .spliceMarker(marker("#EXT-X-CUE-OUT:DURATION=30,ID=7"), at: .seconds(8)),
                [
                    #"{"v":1,"event":"splice_marker","item_time":8,"tag":"EXT-X-CUE-OUT","kind":"out","value":"DURATION=30,ID=7","duration":30,"id":"7","time":1.23}"#
                ]
            ),
            (
                .spliceMarker(marker("#EXT-OATCLS-SCTE35:\(section)"), at: .seconds(8)),
                [
                    #"{"v":1,"event":"splice_marker","item_time":8,"tag":"EXT-OATCLS-SCTE35","kind":"message","value":"\#(section)","splice":{"command":"splice_insert","pts":1936310318,"event_id":1207959695,"out":true,"break_duration":60.293567,"auto_return":true,"base64":"\#(section)"},"time":1.23}"#
                ]
            ),
            (
                .contentSkipped(
                    SkippedContent(
                        timeRange: MediaTimeRange(start: .seconds(12), duration: .seconds(8)), dateRangeIDs: ["a"],
                        numberOfSegments: 2)),
                [
                    #"{"v":1,"event":"content_skipped","item_time":12,"media_duration":8,"date_ranges":["a"],"segments":2,"time":1.23}"#
                ]
            ),
            (
                .interstitialBreakBegan(at: .seconds(8)),
                [#"{"v":1,"event":"break","phase":"begin","item_time":8,"time":1.23}"#]
            ),
            (
                .interstitialEventEnded(
                    InterstitialEvent(id: "i", time: .seconds(8), content: .assets([])), .failed, played: .zero),
                [
                    #"{"v":1,"event":"interstitial","phase":"end","id":"i","reason":"failed","media_duration":0,"time":1.23}"#
                ]
            ),
            (.eventsLost(3), [#"{"v":1,"event":"events_lost","count":3,"time":1.23}"#]),
            (
                .segmentSkipped(skipped),
                [
                    #"{"v":1,"event":"segment_skipped","first_media_sequence":7,"last_media_sequence":7,"media_duration":4,"url":"http://a/7.ts\u001b","cause":"HTTP 404","time":1.23}"#
                ]
            ),
            (
                .recoverableError(
                    HLSError(code: .network, urlString: "http://u@a/", cause: "timed out", detail: "curl 28")),
                [
                    #"{"v":1,"event":"error","recoverable":true,"code":"network","cause":"timed out","url":"http://a/","detail":"curl 28","time":1.23}"#
                ]
            ),
            // The code that ends the command reports the reason.
            (.failedToPlayToEnd(HLSError(code: .badMedia, cause: "x")), []),
            (.warning("a \"b\""), [#"{"v":1,"event":"warning","text":"a \"b\"","time":1.23}"#]),
            (.didPlayToEnd, [#"{"v":1,"event":"did_play_to_end","time":1.23}"#]),
        ] as [(PlayerEvent.Kind, [String])])
    func lines(kind: PlayerEvent.Kind, lines: [String]) {
        var reporter = EventReporter()
        #expect(reporter.lines(for: event(kind), at: .milliseconds(1230)) == lines)
    }

    @Test("fatal errors, warnings and notes are lines of JSON, too")
    func others() {
        let error = HLSError(code: .badMedia, urlString: "http://u:p@a/", cause: "\u{202e}")
        #expect(
            EventReporter.fatal(error, at: .milliseconds(1230))
                == #"{"v":1,"event":"error","recoverable":false,"code":"badMedia","cause":"\u202e","url":"http://a/","detail":null,"time":1.23}"#
        )
        #expect(
            EventReporter.warning("odd", url: "http://u:p@a/", detail: "x", at: .zero)
                == #"{"v":1,"event":"warning","text":"odd","url":"http://a/","detail":"x","time":0}"#)
        #expect(EventReporter.note("odd", at: .zero) == #"{"v":1,"event":"note","text":"odd","time":0}"#)
    }

    @Test("progress is printed each 500 ms, a rate change at once")
    func progress() {
        var reporter = EventReporter()
        var counts: [Int] = []
        for tick in 0..<20 {
            counts.append(reporter.lines(for: .sample(.playing), at: .milliseconds(100 * tick)).count)
        }
        #expect(counts == [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0])
        var state = PlayerState.sample(.playing)
        state.rate = 2
        #expect(
            reporter.lines(for: state, at: .milliseconds(1990))
                == [#"{"v":1,"event":"desired_rate","old":1,"new":2,"item_time":12,"time":1.99}"#])
    }

    @Test("a progress line contains the state")
    func progressLine() {
        var reporter = EventReporter()
        let line = reporter.lines(for: .sample(.waitingToPlayAtSpecifiedRate, .toMinimizeStalls), at: .zero).last
        let expected =
            #"{"v":1,"event":"progress","status":"waiting","reason":"toMinimizeStalls","rate":1,"timebase_rate":0,"item_time":12,"#
            + #""duration":596,"live_offset":null,"loaded_time_ranges":[[0,24]],"seekable_time_ranges":[],"#
            + #""likely_to_keep_up":false,"buffer_full":false,"buffer_empty":false,"variant":{"index":1,"bandwidth":800000,"#
            + #""average_bandwidth":null,"width":640,"height":360,"frame_rate":null,"codecs":""},"#
            + #""throughput_estimate":2400000,"buffered_bytes":0,"stalls":0,"dropped_frames":0,"skipped_segments":0,"#
            + #""av_skew":null,"time":0}"#
        #expect(line == expected)
    }

    @Test("M06: a live stream's progress line contains the latency")
    func liveProgressLine() throws {
        var reporter = EventReporter()
        var state = PlayerState.liveSample()
        state.liveLatency = .milliseconds(1625)
        let line = try #require(reporter.lines(for: state, at: .zero).last)
        #expect(line.contains(#""live_offset":8.25,"#))
        #expect(line.hasSuffix(#""av_skew":null,"latency":1.625,"time":0}"#), "\(line)")
    }
}

@Suite("Summary")
struct PlaySummaryTests {
    @Test(
        "M06: a live stream's document has its latency and low-latency counts; others' do not")
    func live() {
        var summary = summary()
        #expect(!summary.document.contains(#""live""#))
        var latencies = LatencyHistogram()
        latencies.add(.milliseconds(100), for: .seconds(90))
        latencies.add(.milliseconds(200), for: .seconds(10))
        var live = LiveStatistics()
        (live.targetTimeOffset, live.latencies) = (.milliseconds(90), latencies)
        (live.numberOfParts, live.numberOfBlockingReloads, live.numberOfDeltaUpdates) = (5, 4, 3)
        (live.numberOfUsedHints, live.numberOfWastedHints) = (2, 1)
        summary.state.statistics.live = live
        let expected =
            #","live":{"target":0.09,"latency":{"mean":0.11,"p50":0.1,"p95":0.2,"max":0.2},"parts":5,"#
            + #""blocking_reloads":4,"delta_updates":3,"hints_used":2,"hints_wasted":1}}"#
        #expect(summary.document.hasSuffix(expected), "\(summary.document)")
        #expect(summary.lines.contains("  latency   0.11 s, 95 % of the time at most 0.20 s"), "\(summary.lines)")
        for (count, text) in [(5, "5 parts"), (6, "5 parts and 1 segment")] {
            summary.state.statistics.numberOfSegments = count
            #expect(summary.lines.contains { $0.hasPrefix("  loaded    7.3 kB in \(text), 6 requests") })
        }
        summary.state.statistics.live = LiveStatistics()
        #expect(
            summary.document.contains(
                #""live":{"target":null,"latency":{"mean":null,"p50":null,"p95":null,"max":null},"#))
    }

    private func summary() -> PlaySummary {
        var summary = PlaySummary(url: "http://u:p@a/x")
        for kind: PlayerEvent.Kind in [
            .variantSwitched(from: nil, to: low, explanation: ""), segment(0, variant: 0), segment(1, variant: 0),
            .variantSwitched(from: low, to: high, explanation: ""), segment(2, variant: 1, bytes: 5000),
            .segmentSkipped(skipped), .recoverableError(HLSError(code: .network, cause: "")),
        ] {
            summary.observe(event(kind))
        }
        summary.state = .sample(.paused, at: 16)
        summary.state.statistics.durationWatched = .seconds(12)
        summary.state.statistics.numberOfSkippedSegments = 1
        summary.state.statistics.skippedDuration = .seconds(4)
        summary.state.statistics.numberOfVariantSwitches = 1
        summary.state.statistics.numberOfSegments = 3
        summary.state.statistics.numberOfRequests = 6
        summary.state.statistics.receivedByteCount = 7321
        summary.state.statistics.startupTime = .milliseconds(123)
        summary.elapsed = .milliseconds(12_345)
        return summary
    }

    @Test("the text has a line for each topic that applies")
    func lines() {
        var summary = summary()
        #expect(
            summary.lines == [
                "played 0:12 of 9:56 in 12.3 s, started after 0.12 s, no stall",
                "  variants  360p 800k for 0:08, 720p 3M for 0:04 (1 switch)",
                "  loaded    7.3 kB in 3 segments, 6 requests, network 2.4 Mbit/s",
                "  missing   1 segment skipped (4.0 s)",
            ])
        summary.state.statistics.numberOfStalls = 2
        summary.state.statistics.stallDuration = .seconds(3.25)
        summary.files = [
            .init(path: "b.ts", isComplete: true, byteCount: 1500),
            .init(path: "a\u{1b}.ts", isComplete: false, byteCount: 1500, partPath: "a\u{1b}.ts.part"),
            .init(path: "c.ts", isComplete: false),
        ]
        #expect(summary.lines.contains("  stalls    2, 3.3 s in total"))
        #expect(
            summary.lines.suffix(2) == [
                "  wrote     b.ts (1.5 kB)", "  kept      a\\x1b.ts.part (1.5 kB), not finished",
            ], "of a file that is nowhere nothing is said")
        summary.state.statistics.durationWatched = .seconds(700)
        #expect(summary.lines.first?.hasPrefix("played 11:40 (the stream lasts 9:56) in") == true)
        summary.streamCount = 3
        #expect(summary.lines.first?.hasPrefix("played 11:40 of 3 streams in") == true)
        summary.streamCount = 1
        summary.passCount = 2
        summary.state.statistics.durationWatched = .seconds(1191.8)
        #expect(summary.lines.first?.hasPrefix("played 19:52 of 2 times 9:56 in") == true)
    }

    @Test("the document contains the totals in one object with the version first")
    func document() {
        var summary = summary()
        summary.exitStatus = .incomplete
        summary.error = HLSError(code: .network, urlString: "http://u@a/", cause: "x")
        let text = summary.document
        #expect(
            text.hasPrefix(
                #"{"v":1,"url":"http://a/x","exit_status":10,"error":{"code":"network","cause":"x","url":"http://a/","detail":null}"#
            ))
        for member in [
            #""variants":[{"variant":\#(lowJSON),"segments":2,"bytes":2000,"media_duration":8}"#,
            #""average_bitrate":1466666.666667,"peak_bitrate":1533333.333333"#, #""skipped_segments":1"#,
            #""recoverable_errors":1"#,
            #""started_after":0.123"#, #""elapsed":12.345"#, #""files":[]"#, #""bytes":7321"#,
        ] {
            #expect(text.contains(member), "\(member)")
        }
        #expect(!text.contains("\n"))
    }

    private func skipping(
        _ ranges: ClosedRange<Int>..., of count: Int, loadedLast: Bool = true, variant: Int? = 0
    ) -> PlaySummary {
        var summary = PlaySummary(url: "u")
        if variant != nil { summary.observe(event(.variantSwitched(from: nil, to: low, explanation: ""))) }
        let lost = ranges.reduce(0) { $0 + $1.count }
        func load() { for number in 0..<count - lost { summary.observe(event(segment(number, variant: variant))) } }
        if !loadedLast { load() }
        for range in ranges {
            summary.observe(
                event(
                    .segmentSkipped(
                        SkippedSegments(
                            first: range.lowerBound, last: range.upperBound, mediaDuration: .seconds(4) * range.count,
                            url: "s", cause: "gone"))))
        }
        if loadedLast { load() }
        summary.state.statistics.skippedDuration = .seconds(lost * 4)
        summary.state.statistics.durationWatched = .seconds(count * 4)
        summary.state.currentTime = .seconds(Int64(count * 4))
        return summary
    }

    @Test("more than a tenth missing, or the end, is \"mostly missing\", counted in segments")
    func mostlyMissing() {
        #expect(!skipping(7...7, of: 10).isMostlyMissing)
        #expect(skipping(7...8, of: 10).isMostlyMissing)
        #expect(skipping(3...3, 7...7, of: 10).isMostlyMissing)
        #expect(!skipping(99...99, of: 100, loadedLast: false).isMostlyMissing)
        #expect(skipping(98...99, of: 100, loadedLast: false).isMostlyMissing)
        // A media playlist on its own has no variants.
        #expect(!skipping(7...7, of: 10, variant: nil).isMostlyMissing)
        #expect(!skipping(3...3, 7...7, of: 100, variant: nil).isMostlyMissing)
        #expect(skipping(7...8, of: 10, variant: nil).isMostlyMissing)
        let line = ErrorLine.text(for: skipping(9...17, of: 45).incompleteError)
        #expect(line == "hlsget: error: incomplete: segments 9-17 missing: s (gone)")
        let lines = ErrorLine.text(for: skipping(5...5, 9...17, of: 45).incompleteError)
        #expect(lines == "hlsget: error: incomplete: segment 5 and 9 others missing: s (gone)")
        // Parallel requests may fail in any order.
        let later = ErrorLine.text(for: skipping(9...17, 5...5, of: 45).incompleteError)
        #expect(later == lines)
    }

    @Test(
        "gaps that a playlist lists are not missing, and do not hide missing media", arguments: [true, false], [1, 3])
    func listedGaps(areOfVariant: Bool, count: Int) {
        let duration = Duration.seconds(4) * count
        var gaps = SkippedSegments(
            first: 10, last: 9 + count, mediaDuration: duration, url: "s", cause: "marked EXT-X-GAP")
        (gaps.isListedGap, gaps.isOfVariant) = (true, areOfVariant)
        for lost in [0, 1, 2] {
            var summary = lost == 0 ? skipping(of: 10) : skipping(8 - lost...7, of: 10)
            summary.observe(event(.segmentSkipped(gaps)))
            if areOfVariant { summary.state.statistics.skippedDuration += duration }
            #expect(summary.isMostlyMissing == (lost == 2), "\(lost)")
        }
    }

    @Test("skipped, missed or damaged media makes the summary incomplete")
    func incomplete() {
        #expect(!PlaySummary(url: "").isIncomplete)
        #expect(summary().isIncomplete)
        var missed = PlaySummary(url: "")
        missed.observe(event(.segmentsMissed(skipped)))
        #expect(missed.isIncomplete)
        var damaged = PlaySummary(url: "")
        damaged.state.statistics.numberOfDamagedSamples = 1
        #expect(damaged.isIncomplete)
    }
}

@Suite("Event texts")
struct EventTextTests {
    @Test(
        "lost media is always reported, the rest with -v",
        arguments: [
            (
                .segmentSkipped(skipped), .normal,
                "hlsget: warning: skipped segment 7, 4.0 s of media: http://a/7.ts\\x1b (HTTP 404)"
            ),
            (.segmentSkipped(skipped), .quiet, nil), (.warning("odd\n"), .normal, nil),
            (.warning("odd\n"), .verbose, "hlsget: warning: odd\\x0a"),
            (
                .recoverableError(HLSError(code: .network, urlString: "http://a/", cause: "timed out")), .verbose,
                "hlsget: warning: timed out: http://a/"
            ),
            (
                .variantSwitched(from: nil, to: low, explanation: "first"), .verbose,
                "hlsget: variant none -> 360p 800k: first"
            ),
            (.playbackStalled(itemTime: .seconds(65)), .verbose, "hlsget: stall at 1:05"),
            (
                .dateRange(.entered, advertisement), .verbose,
                "hlsget: date range ad\\x1b (com.example, SCTE35-OUT) entered, 7.0 s long"
            ),
            (.dateRange(.left, advertisement), .normal, nil),
            (
                .spliceMarker(marker("#EXT-X-CUE-OUT-CONT:8/30"), at: .seconds(65)), .verbose,
                "hlsget: marker EXT-X-CUE-OUT-CONT:8/30 at 1:05"
            ),
            (
                .spliceMarker(marker("#EXT-OATCLS-SCTE35:\(section)"), at: .seconds(65)), .verbose,
                "hlsget: marker EXT-OATCLS-SCTE35 (splice_insert 1207959695 out, \(MediaTime(value: 5_426_421, timescale: 90_000))) at 1:05"
            ),
            (.spliceMarker(marker("#EXT-X-CUE-IN"), at: .seconds(65)), .normal, nil),
            (.didPlayToEnd, .verbose, nil),
        ] as [(PlayerEvent.Kind, PlayOptions.Verbosity, String?)])
    func texts(kind: PlayerEvent.Kind, verbosity: PlayOptions.Verbosity, text: String?) {
        #expect(EventText.line(for: event(kind), verbosity: verbosity) == text)
    }
}
