import Foundation
import HLSKitCore
import Testing

@testable import HLSGetReport

@Suite("Report page")
struct ReportPageTests {
    private static func page(_ lines: [String], _ other: [String]? = nil) -> String {
        var sessions = [ReportPage.Session(name: "a.ndjson", record: SampleLog.record(lines))]
        if let other { sessions.append(.init(name: "b.ndjson", record: SampleLog.record(other))) }
        return ReportPage(sessions).html
    }

    @Test("the page needs nothing external, and only its own script may run")
    func alone() throws {
        let html = Self.page(SampleLog.slow)
        for word in [
            "src=", "@import", "url(", "<link", "<iframe", "<img", "<object", "<base", " onclick=", " onload=",
        ] {
            #expect(!html.contains(word), "\(word)")
        }
        #expect(!html.contains("href=\"h") && !html.contains("href=\"/"))
        #expect(html.contains("default-src 'none'"))
        #expect(html.contains("script-src '\(ReportScript.digest)'"))
        #expect(html.components(separatedBy: "<script").count == 2)
    }

    @Test("the page contains summary, stall with its requests, decisions and totals")
    func content() {
        let html = Self.page(SampleLog.slow)
        for text in [
            "It stalled once", "<strong>Why:</strong>", "0:21.0: 8.0\u{a0}s, the network was too slow",
            "id=\"s-stall-1\"",
            "href=\"#s-stall-1\"", "fits 2.5 Mbit/s", "less: 0.3 Mbit/s", "540p 2.2M → 234p 480k",
            "multivariant playlist",
            "f-lookup", "f-connect", "f-secure", "lines read.",
        ] { #expect(html.contains(text), "\(text)") }
    }

    private static let attack = #"\"><script>alert(1)</script><img src=x onerror='alert(2)'>\u202e&"#

    @Test("log text never becomes markup, wherever it appears")
    func escaping() {
        let attack = Self.attack
        let lines = [
            #"{"v":1,"event":"session","url":"https://a/\#(attack)","software":"\#(attack)","date":"\#(attack)","time":0}"#,
            #"{"v":1,"event":"time_control","old":"paused","new":"playing","reason":"\#(attack)","timebase_rate":1,"time":0}"#,
            #"{"v":1,"event":"stall","time":2}"#,
            #"{"v":1,"event":"time_control","new":"waiting","reason":"\#(attack)","time":2}"#,
            #"{"v":1,"event":"media_segment_request","url":"\#(attack)","server_address":"\#(attack)","request_start":1,"response_end":4,"bytes":7,"error":"\#(attack)","protocol":"\#(attack)","media_sequence":3,"lane":"\#(attack)","time":4}"#,
            #"{"v":1,"event":"variant_switch_start","from":null,"to":{"index":1,"codecs":"\#(attack)"},"explanation":"\#(attack)","time":4}"#,
            #"{"v":1,"event":"pathway_changed","from":"\#(attack)","to":"\#(attack)","reason":"\#(attack)","time":4}"#,
            #"{"v":1,"event":"warning","text":"\#(attack)","detail":"\#(attack)","time":4}"#,
            #"{"v":1,"event":"rendition_change","kind":"\#(attack)","to":"x","time":4}"#,
            #"{"v":1,"event":"error","recoverable":false,"code":"\#(attack)","cause":"\#(attack)","url":"\#(attack)","detail":"\#(attack)","time":9}"#,
            #"{"v":1,"event":"\#(attack)","time":9}"#,
            #"{"v":1,"event":"access_log","playback_start_date":"\#(attack)","uri":"\#(attack)","duration_watched":1}"#,
            #"{"v":1,"event":"time_control","new":"waiting","reason":"\#(attack)","time":12}"#,
        ]
        var sessions = [ReportPage.Session(name: "\"><script>alert(3)</script>", record: SampleLog.record(lines))]
        sessions.append(sessions[0])
        for html in [ReportPage([sessions[0]]).html, ReportPage(sessions).html] {
            #expect(html.components(separatedBy: "<script").count == 2)
            #expect(html.components(separatedBy: "alert(").count > 10)
            #expect(!html.contains("<img") && !html.contains("\u{202e}"))
            #expect(!html.contains("'alert(2)'") && !html.contains("\"><img"))
        }
    }

    @Test("secrets in a foreign log are hidden")
    func secrets() {
        let html = Self.page([
            #"{"v":1,"event":"session","url":"https://user:geheim@a/x.m3u8?token=geheim&x=1","time":0}"#,
            SampleLog.segment(1, from: 1, took: 1, bytes: 9).replacing("1.m4s", with: "1.m4s?sig=geheim"),
            #"{"v":1,"event":"error","recoverable":true,"code":"http","cause":"HTTP 403 of https://a/y?token=geheim","url":"https://a/y?Signature=geheim","detail":null,"time":2}"#,
        ])
        #expect(!html.contains("geheim"))
        #expect(html.contains("x=1"))
    }

    @Test("two sessions share one page and scales, and the better values are marked")
    func pair() {
        let other = SampleLog.slow.filter {
            !$0.contains("\"stall\"") && !$0.contains("\"waiting\",\"new\":\"playing\"")
        }
        let html = Self.page(SampleLog.slow, other)
        #expect(html.contains("<main class=\"pair\">"))
        #expect(html.components(separatedBy: "<article>").count == 3)
        #expect(html.contains("a.ndjson</th>") && html.contains("b.ndjson</th>"))
        #expect(html.contains("class=\"better\""))
        #expect(html.contains("id=\"a-stall-1\""))
    }

    @Test("damaged and unknown lines are reported")
    func unknown() {
        let html = Self.page(SampleLog.slow + ["oops", #"{"v":1,"event":"weather","time":1}"#])
        #expect(html.contains("1 line could not be read"))
        #expect(html.contains("this version does not know their kind: weather 1."))
    }

    @Test("a session of hours with ten thousand requests makes a small page")
    func size() {
        var lines = [SampleLog.status("paused", "playing", 0)]
        for index in 0..<10_000 {
            let time = Double(index) * 2
            lines.append(
                SampleLog.segment(index, variant: index / 50 % 4, from: time, took: 1.5, bytes: 400_000, media: 2))
            lines.append(SampleLog.progress(time, at: time, loaded: time + Double(index % 30)))
            if index % 200 == 199 {
                lines += [
                    SampleLog.stall(time), SampleLog.status("playing", "waiting", time),
                    SampleLog.status("waiting", "playing", time + 1.5),
                ]
            }
        }
        let html = Self.page(lines)
        #expect(html.utf8.count < 600_000)
        #expect(html.contains("The slowest 40"))
    }

    @Test("logs of one session are merged, and more than two sessions show none")
    func grouping() throws {
        let full = ReportPage.Session(name: "p", record: SampleLog.record(SampleLog.slow))
        let access = ReportPage.Session(
            name: "a", record: SampleLog.record([#"{"v":1,"event":"access_log","duration_watched":9,"uri":"x"}"#]))
        let together = try SessionGrouping.sessions(of: [access, full])
        #expect(together.map(\.name) == ["p, a"] && together[0].record.periods.count == 1)
        #expect(try SessionGrouping.sessions(of: [full, full]).count == 2)
        #expect(try SessionGrouping.sessions(of: [access, access]).count == 2)
        #expect(try SessionGrouping.sessions(of: [access]).count == 1)
        #expect(throws: HLSError.self) { try SessionGrouping.sessions(of: [full, full, full]) }
        #expect(throws: HLSError.self) { try SessionGrouping.sessions(of: [full, full, access]) }
    }
}
