import Testing

@testable import HLSGetReport

@Suite("Reading a log")
struct SessionRecorderTests {
    @Test("progress, request and decision lines become a record")
    func slow() {
        let record = SampleLog.record(SampleLog.slow)
        #expect(record.reading.damagedCount == 0 && record.reading.unknownKinds.isEmpty)
        #expect(record.url == "https://cdn.example.com/film/master.m3u8?token=...")
        #expect(record.software == "hlsget/0.1.0")
        #expect(
            record.spells.map(\.activity) == [
                .waiting(.start), .playing, .waiting(.stall), .playing, .paused,
            ])
        #expect(record.spells.map(\.start) == [0, 1, 21, 29, 60])
        #expect(record.stalls.map(\.duration) == [8])
        #expect(record.variants.count == 4 && record.hasLadder)
        #expect(record.ladder.first?.name == "234p 480k")
        #expect(record.totals[.video]?.count == 7 && record.totals[.multivariantPlaylist]?.count == 1)
        #expect(record.totals[.video]?.byteCount == 6 * 900_000 + 200_000)
        #expect(record.decisions.map(\.kind) == [.start, .down])
        #expect(record.outcome == .playedToEnd)
        #expect(record.summary.watched == 51)
        #expect(record.samples.first { $0.time == 5 }?.ahead == 16)
    }

    @Test("the order of lines does not matter")
    func order() {
        let lines = SampleLog.slow
        // The sort is stable: lines with the same time keep their order.
        var (one, other) = (SampleLog.record(lines), SampleLog.record(lines.sorted { $0.count < $1.count }))
        (one.outcome, other.outcome) = (.unknown, .unknown)
        #expect(one.spells == other.spells)
        #expect(one.requests == other.requests)
        #expect(one.decisions == other.decisions)
    }

    @Test(
        "damaged lines and lines of unknown kinds are counted and omitted",
        arguments: [
            (#"{"v":1,"event":"stall","ti"#, 1, 0), ("hlsget: note: text", 1, 0), ("\u{0}\u{FFFD}", 1, 0),
            (#"{"v":1,"event":"stall"}"#, 1, 0), (#"{"v":1,"event":"stall","time":-1}"#, 1, 0),
            (#"{"v":1,"event":"stall","time":1e300}"#, 1, 0), (#"[1,2]"#, 1, 0), (#"{"event":7,"time":1}"#, 1, 0),
            (#"{"v":1,"event":"media_segment_request","request_start":5,"response_end":1,"time":1}"#, 1, 0),
            (#"{"v":2,"event":"weather","time":1}"#, 0, 1), (#"{"event":"","time":1}"#, 0, 1), ("", 0, 0),
            ("  \r", 0, 0),
            (#"{"v":1,"event":"cue","text":"Hello","time":1}"#, 0, 0),
        ] as [(String, Int, Int)])
    func damaged(line: String, damaged: Int, unknown: Int) {
        let record = SampleLog.record(SampleLog.slow + [line])
        #expect(record.reading.damagedCount == damaged)
        #expect(record.reading.unknownCount == unknown)
        var plain = SampleLog.record(SampleLog.slow)
        plain.reading = record.reading
        #expect(record == plain)
    }

    @Test(
        "lines about slow links and interstitials are decisions",
        arguments: [
            #"{"v":1,"event":"link_too_slow","bits_per_second":100000,"needed":122000,"time":1}"#,
            #"{"v":1,"event":"break","phase":"begin","item_time":1,"time":1}"#,
            #"{"v":1,"event":"interstitial","phase":"failure","id":"ad","cause":"not found","time":1}"#,
            #"{"v":1,"event":"asset_list","phase":"available","id":"ad","time":1}"#,
            #"{"v":1,"event":"interstitial_skippable","phase":"eligible","id":"ad","time":1}"#,
            #"{"v":1,"event":"content_skipped","time":1}"#,
        ])
    func decisions(line: String) {
        let record = SampleLog.record(SampleLog.slow + [line])
        #expect(record.reading.unknownKinds.isEmpty && record.reading.damagedCount == 0)
        #expect(record.decisions.count == SampleLog.record(SampleLog.slow).decisions.count + 1)
    }

    @Test("numbers of any size and members of any type are handled")
    func hostile() {
        let values = ["1e308", "-1", "null", "\"x\"", "[]", "{}", "9007199254740993", "true", "[[1,2],[3]]"]
        let names = [
            "request_start", "response_start", "response_end", "bytes", "media_sequence", "segment_duration", "variant",
            "item_time", "loaded_time_ranges", "duration", "count", "to", "from", "rate", "bandwidth", "index",
            "stalls",
        ]
        let events = [
            "media_segment_request", "playlist_request", "progress", "download_abandoned", "variant_switch_start",
            "time_control", "rate_change", "summary", "events_lost", "segment_skipped", "access_log", "error_log",
            "error",
        ]
        var recorder = SessionRecorder()
        for event in events {
            for value in values {
                let members = names.map { "\"\($0)\":\(value)" }.joined(separator: ",")
                recorder.take(#"{"v":1,"event":"\#(event)",\#(members),"time":1}"#)
                for name in names { recorder.take(#"{"v":1,"event":"\#(event)","\#(name)":\#(value),"time":1}"#) }
            }
        }
        let page = ReportPage([.init(name: "x", record: recorder.finished())]).html
        #expect(page.hasSuffix("</html>\n"))
    }

    @Test("a very long session is kept in bounded memory, with exact totals")
    func long() {
        var recorder = SessionRecorder()
        let count = SessionRecorder.requestLimit * 2 + 10
        for index in 0..<count {
            let error = index == 7 ? "HTTP 503" : nil
            recorder.take(SampleLog.segment(index, from: Double(index), took: 0.5, bytes: 1000, error: error))
        }
        let record = recorder.finished()
        #expect(record.requests.count <= SessionRecorder.requestLimit)
        #expect(record.totals[.video]?.count == count && record.totals[.video]?.byteCount == count * 1000)
        #expect(record.requests.contains { $0.mediaSequence == 7 })
        #expect(record.reading.thinnedCount == count - record.requests.count)
    }

    @Test("an oversized line counts as damaged, and the lines around it are read", arguments: [1, 7, 64, 4096])
    func oversized(pieceSize: Int) {
        var splitter = LineSplitter(limit: 20)
        var lines: [LineSplitter.Line] = []
        let bytes = Array("first\n\(String(repeating: "x", count: 50))\nlast".utf8)
        for start in stride(from: 0, to: bytes.count, by: pieceSize) {
            splitter.take(bytes[start..<min(bytes.count, start + pieceSize)]) { lines.append($0) }
        }
        splitter.finish { lines.append($0) }
        #expect(lines == [.whole(Array("first".utf8)), .oversized, .whole(Array("last".utf8))])
    }

    struct Waits: CustomTestStringConvertible, Sendable {
        var name: String
        var lines: [String]
        var expected: [SessionRecord.Activity]
        var testDescription: String { name }
    }

    @Test(
        "each wait is assigned to the start, a seek or a stall",
        arguments: [
            Waits(
                name: "the start",
                lines: [SampleLog.status("paused", "waiting", 0), SampleLog.status("waiting", "playing", 2)],
                expected: [.waiting(.start), .playing]),
            Waits(
                name: "a stall, told after it",
                lines: [
                    SampleLog.status("paused", "playing", 0), SampleLog.status("playing", "waiting", 5),
                    SampleLog.stall(5.1), SampleLog.status("waiting", "playing", 8),
                ], expected: [.playing, .waiting(.stall), .playing]),
            Waits(
                name: "a seek",
                lines: [
                    SampleLog.status("paused", "playing", 0), #"{"v":1,"event":"seek","item_time":5,"time":5}"#,
                    SampleLog.status("playing", "waiting", 5.001), SampleLog.status("waiting", "playing", 6),
                ], expected: [.playing, .waiting(.seek), .playing]),
            Waits(
                name: "going on after a pause",
                lines: [
                    SampleLog.status("paused", "playing", 0), SampleLog.status("playing", "paused", 5),
                    SampleLog.status("paused", "waiting", 7), SampleLog.status("waiting", "playing", 8),
                ], expected: [.playing, .paused, .waiting(.resume), .playing]),
            Waits(
                name: "a player that never waits by itself",
                lines: [
                    SampleLog.status("paused", "playing", 0), SampleLog.stall(5),
                    #"{"v":1,"event":"rate_change","old":1,"new":0,"time":5}"#,
                    #"{"v":1,"event":"rate_change","old":0,"new":1,"time":9}"#,
                ], expected: [.playing, .waiting(.stall), .playing]),
            Waits(
                name: "an interstitial",
                lines: [
                    SampleLog.status("paused", "playing", 0),
                    SampleLog.status("playing", "waiting", 5, reason: "interstitialEvent"),
                    SampleLog.status("waiting", "playing", 9),
                ], expected: [.playing, .waiting(.other("for an interstitial to end")), .playing]),
        ])
    func waits(_ waits: Waits) {
        let end = #"{"v":1,"event":"progress","time":20}"#
        let record = SampleLog.record(waits.lines + [end])
        #expect(record.spells.map(\.activity) == waits.expected)
        #expect(record.spells.first?.start == 0 && record.spells.last?.end == 20)
        #expect(zip(record.spells, record.spells.dropFirst()).allSatisfy { $0.end == $1.start })
    }

    @Test("an access log is a session of periods, as text and as JSON")
    func accessLog() {
        let text = SampleLog.record([
            "#Version: 1.0", "#Fields: date time uri c-stalls bytes c-duration-watched sc-indicated-bitrate",
            "2026-11-27 20:15:03.000 https://a/v.m3u8 2 1000 12.5 800000", "2026-11-27 20:15:33.000 - - 10 - -", "cut",
        ])
        #expect(text.periods.map(\.start) == [0, 30])
        #expect(text.periods.first?.stalls == 2 && text.periods.first?.indicatedBitrate == 800_000)
        #expect(text.periods.last?.indicatedBitrate == nil)
        #expect(text.reading.damagedCount == 1)
        let json = SampleLog.record([
            #"{"v":1,"event":"access_log","playback_start_date":"2026-11-27T20:15:03.000Z","uri":"https://a/v.m3u8","stalls":2,"bytes":1000,"duration_watched":12.5,"indicated_bitrate":800000,"observed_bitrate":-1}"#
        ])
        #expect(json.periods.first == text.periods.first)
        #expect(json.periods.first?.observedBitrate == nil)
    }

    @Test("an error log is read with its failures")
    func errorLog() {
        let record = SampleLog.record([
            "#Fields: date time uri s-ip cs-guid status domain comment",
            "2026-11-27 20:15:03.000 https://a/7.ts - x 503 http HTTP%20503",
        ])
        #expect(record.failures.map(\.cause) == ["HTTP 503"])
        #expect(record.failures.first?.isRecoverable == true && record.failures.first?.time == 0)
    }
}
