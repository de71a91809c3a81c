import Testing

@testable import HLSGetReport

@Suite("Causes of stalls")
struct StallDiagnosisTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var lines: [String]
        var cause: StallDiagnosis.Cause
        var words: [String]
        var testDescription: String { name }
    }

    /// Playback starts at 1 s and stalls from 20 s to 30 s.
    private static let frame = [
        SampleLog.status("paused", "waiting", 0), SampleLog.status("waiting", "playing", 1), SampleLog.stall(20),
        SampleLog.status("playing", "waiting", 20), SampleLog.status("waiting", "playing", 30),
        #"{"v":1,"event":"did_play_to_end","time":50}"#,
    ]

    @Test(
        "each cause is recognised from its requests",
        arguments: [
            Case(
                name: "a slow network", lines: [SampleLog.segment(5, from: 8, took: 22, bytes: 900_000)],
                cause: .slowNetwork,
                words: ["328 kbit/s", "segment 5", "1.8 Mbit/s", "4.0\u{a0}s of media took 22\u{a0}s"]),
            // Audio that arrived before the examined time used part of the bandwidth.
            Case(
                name: "a network that audio shares",
                lines: [SampleLog.segment(5, from: 8, first: 0, took: 22, bytes: 550_000)]
                    + (2..<15).map { index in
                        SampleLog.segment(index, from: Double(index) * 2, first: 0, took: 2, bytes: 50_000, media: 2)
                            .replacing(#""lane":"main""#, with: #""lane":"audio""#)
                    }, cause: .slowNetwork, words: ["delivered 400 kbit/s", "with its audio needs 1.3 Mbit/s"]),
            Case(
                name: "a server that answers late",
                lines: [SampleLog.segment(5, from: 16, first: 13.5, took: 14, bytes: 900_000)], cause: .slowServer,
                words: ["took 14\u{a0}s to respond to the request for segment 5", "500\u{a0}ms to deliver"]),
            Case(
                name: "a server that fails",
                lines: [
                    SampleLog.segment(5, from: 16, took: 4, bytes: 0, error: "HTTP 503"),
                    SampleLog.segment(5, from: 21, took: 5, bytes: 0, error: "HTTP 503"),
                    SampleLog.segment(5, from: 29, took: 1, bytes: 900_000),
                ], cause: .failures,
                words: ["2 requests failed", "segment 5", "(HTTP 503)", "they took 9.0\u{a0}s"]),
            Case(
                name: "a request without an answer",
                lines: [SampleLog.segment(5, from: 18, first: nil, took: 12, bytes: 10)], cause: .slowServer,
                words: ["no response in 12\u{a0}s"]),
            Case(
                name: "a live playlist that stands still",
                lines: (0..<8).map { SampleLog.playlist("media", from: 18 + Double($0) * 1.5, took: 0.1, reload: true) }
                    + [SampleLog.segment(5, from: 29, took: 1, bytes: 900_000)], cause: .nothingListed,
                words: ["listed nothing new"]),
            Case(
                name: "a media playlist that takes long",
                lines: [
                    SampleLog.playlist("media", from: 19, took: 10),
                    SampleLog.segment(5, from: 29, took: 0.9, bytes: 900_000),
                ], cause: .otherRequest, words: ["a media playlist took 10\u{a0}s"]),
            Case(
                name: "media that was there",
                lines: [
                    SampleLog.progress(19.5, at: 18.5, loaded: 40),
                    SampleLog.segment(9, from: 10, took: 1, bytes: 900_000),
                ], cause: .notTheNetwork, words: ["was buffered", "not the network"]),
            Case(name: "no request at all", lines: [], cause: .unknown, words: ["contains no requests"]),
        ])
    func causes(_ test: Case) {
        let record = SampleLog.record(Self.frame + test.lines)
        let stalls = SessionFindings(of: record).stalls
        #expect(stalls.map(\.cause) == [test.cause])
        for words in test.words {
            #expect(stalls.first?.text.contains(words) == true, "\(stalls.first?.text ?? "") lacks \(words)")
        }
    }

    @Test("the diagnosis uses the player's throughput and names unfinished start requests, too")
    func figures() {
        let findings = SessionFindings(of: SampleLog.record(SampleLog.slow))
        #expect(findings.figures.first { $0.name == "Network" }?.value == "2 Mbit/s")
        #expect(findings.startSteps.last == "segment 700\u{a0}ms")
        let early = SampleLog.record([
            SampleLog.status("paused", "waiting", 0), SampleLog.playlist("media", from: 0, took: 0.2),
            SampleLog.segment(0, from: 0.2, took: 4, bytes: 900_000), SampleLog.status("waiting", "playing", 2),
            SampleLog.progress(5, at: 4, loaded: 4, expects: 1_000_000),
        ])
        #expect(SessionFindings(of: early).startSteps.last == "segment 1.8\u{a0}s for a part of it")
    }

    @Test("the summary gives result and reasons, with the longest stall's cause first")
    func summary() {
        let findings = SessionFindings(of: SampleLog.record(SampleLog.slow))
        #expect(findings.sentences[0] == "Played 0:51 of 0:51 in 1:00; it started after 1.0\u{a0}s.")
        #expect(findings.sentences[1] == "It stalled once, for 8.0\u{a0}s (14\u{a0}% of the time).")
        #expect(
            findings.sentences[2].hasPrefix("Why: The network delivered 328 kbit/s, but segment 5 of 540p 2.2M needs"))
        #expect(findings.stalls[0].notes.contains { $0.contains("switched down: 540p 2.2M → 234p 480k") })
        #expect(findings.figures.first { $0.name == "Stalls" }?.value == "1")
    }

    @Test("a session without a stall says so, and a failed one gives the reason")
    func others() {
        let smooth = SampleLog.record([
            SampleLog.status("paused", "waiting", 0), SampleLog.status("waiting", "playing", 1),
            SampleLog.progress(30, at: 29, loaded: 40),
        ])
        #expect(SessionFindings(of: smooth).sentences.contains("It never stalled."))
        #expect(SessionFindings(of: smooth).sentences.contains { $0.contains("log is incomplete") })
        let failed = SampleLog.record([
            #"{"v":1,"event":"error","recoverable":false,"code":"notFound","cause":"HTTP 404","url":"https://a/x","detail":"gone","time":1}"#
        ])
        #expect(SessionFindings(of: failed).sentences.contains("It ended with an error: HTTP 404 (gone)."))
    }

    @Test("the longest of many stalls are analysed, in order of time")
    func many() {
        var lines = [SampleLog.status("paused", "playing", 0)]
        for index in 1...30 {
            let start = Double(index * 20)
            lines += [
                SampleLog.stall(start), SampleLog.status("playing", "waiting", start),
                SampleLog.status("waiting", "playing", start + Double(index) / 10),
            ]
        }
        let findings = SessionFindings(of: SampleLog.record(lines))
        #expect(findings.stalls.count == SessionFindings.stallLimit)
        #expect(findings.stalls.map(\.stall.start) == (23...30).map { Double($0 * 20) })
    }
}
