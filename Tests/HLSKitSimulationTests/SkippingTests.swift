import HLSKitEngine
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@Suite("P05: Skipped ranges are neither loaded nor played", .timeLimit(.minutes(10)))
struct SkippingTests {
    struct Outcome: Sendable {
        /// The item times that the writers received, which are also in the output.
        var times: [Duration]
        var hostTimes: [Duration]
        var skipped: [SkippedContent]
        var segments: [Int]
        var hasEnded: Bool
        var stalls: Int

        /// The distances in milliseconds between frames that are not 40 ms apart.
        var gaps: [Int] {
            zip(times, times.dropFirst()).map { Int((($1 - $0) / .milliseconds(1)).rounded()) }.filter { $0 != 40 }
        }
    }

    private static func date(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        return "2026-01-01T00:\(two(seconds / 60)):\(two(seconds % 60)).000Z"
    }

    static func range(_ id: String, at seconds: Int, _ attributes: String) -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",CLASS=\"ad\",START-DATE=\"\(date(seconds))\",\(attributes)"
    }

    /// Plays a stream with segments of 2 s and frames of 40 ms.
    ///
    /// - Parameters:
    ///   - window: The number of listed segments if the stream is live.
    ///   - tags: Returns the playlist's tags at a time of the clock.
    static func play(
        _ rule: SkipRule, seconds: Int = 40, window: Int? = nil, isPaced: Bool = true, limit: Duration = .seconds(300),
        tags: @escaping @Sendable (Duration) -> [String] = { _ in [] },
        markers: [Int: String] = [:],
        prepare: @escaping @Sendable (PlayerItem) -> Void = { _ in },
        act: @escaping @Sendable (Player, VirtualClock) async throws -> Void = { _, _ in }
    ) throws -> Outcome {
        let stream = SyntheticStream(
            bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: seconds / 2, liveWindow: window)
        let asked = Mutex<[Int]>([])
        let queue = try VirtualQueue([:], change: { if !isPaced { $0.pacing = .unpaced } }) { request in
            var inner = request
            inner.urlString = request.urlString.replacing("main.invalid", with: "synthetic.invalid")
            let answer = stream.response(to: inner)
            let name = String(inner.urlString.split(separator: "/").last ?? "")
            if name.hasSuffix(".m4s"), let number = Int(name.dropLast(4)) { asked.withLock { $0.append(number) } }
            guard inner.urlString.hasSuffix("/0/index.m3u8") else { return answer }
            var lines = String(decoding: answer.body, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false
            ).map(String.init)
            let first = lines.first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }.flatMap { Int($0.dropFirst(22)) } ?? 0
            var number = first
            for index in lines.indices where lines[index].hasPrefix("#EXTINF") {
                var before = markers[number].map { [$0] } ?? []
                if number == first { before += ["#EXT-X-PROGRAM-DATE-TIME:\(date(first * 2))"] + tags(request.time) }
                lines[index] = (before + [lines[index]]).joined(separator: "\n")
                number += 1
            }
            return .playlist(lines.joined(separator: "\n"))
        }
        let log = FrameLog(clock: queue.clock)
        return try queue.clock.run {
            let item = queue.item("main", to: log.named(""))
            item.skipRule = rule
            prepare(item)
            let player = try Player(item: item, configuration: queue.configuration)
            let events = player.events()
            player.play()
            let user = Task(executorPreference: queue.clock) { try await act(player, queue.clock) }
            let end = Task(executorPreference: queue.clock) {
                try? await queue.clock.sleep(for: limit)
                await player.close()
            }
            var (skipped, hasEnded) = ([SkippedContent](), false)
            for await event in events {
                if case .contentSkipped(let content) = event.kind { skipped.append(content) }
                if case .didPlayToEnd = event.kind { hasEnded = true }
                if event.isLast { break }
            }
            try await user.value
            end.cancel()
            let stalls = player.state.statistics.numberOfStalls
            await player.close()
            return Outcome(
                times: log.frames.map(\.itemTime), hostTimes: log.frames.map(\.hostTime), skipped: skipped,
                segments: asked.withLock(\.self), hasEnded: hasEnded, stalls: stalls)
        }
    }

    private static func text(_ skipped: [SkippedContent]) -> [String] {
        skipped.map { "\($0.timeRange.start.inSeconds)+\($0.timeRange.duration.inSeconds)" }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var uris: [String] = []
        var dateRanges: [String] = []
        var tags: [String] = []
        var markers: [Int: String] = [:]
        var frames: Int
        var skipped: [String]
        /// Segments that must not be requested.
        var left: ClosedRange<Int>?
        var testDescription: String { "\(uris) \(dateRanges) \(tags) \(markers)" }
    }

    static let cases: [Case] = [
        Case(uris: ["/1[0-4]\\.m4s"], frames: 750, skipped: ["20.0+10.0"], left: 10...14),
        Case(uris: ["/[0-2]\\.m4s"], frames: 850, skipped: ["0.0+6.0"], left: 0...2),
        Case(uris: ["/1[5-9]\\.m4s"], frames: 750, skipped: ["30.0+10.0"], left: 15...19),
        Case(uris: ["/3\\.m4s", "/[89]\\.m4s"], frames: 850, skipped: ["6.0+2.0", "16.0+4.0"], left: 8...9),
        // Date ranges between segments, and inside segments.
        Case(
            dateRanges: ["ad"], tags: [range("a", at: 10, "DURATION=6")], frames: 850, skipped: ["10.0+6.0"],
            left: 5...7),
        Case(
            dateRanges: ["ad"], tags: [range("a", at: 11, "DURATION=6.2")], frames: 845, skipped: ["11.0+6.2"],
            left: 6...7),
        Case(
            dateRanges: ["ID=a", "ID=b"],
            tags: [
                range("a", at: 10, "DURATION=3"), range("b", at: 13, "DURATION=3"), range("c", at: 20, "DURATION=4"),
            ],
            frames: 850, skipped: ["10.0+6.0"], left: 5...7),
        Case(
            dateRanges: ["EXT-X-CUE-OUT"], markers: [4: "#EXT-X-CUE-OUT:30", 9: "#EXT-X-CUE-IN"], frames: 750,
            skipped: ["8.0+10.0"], left: 4...8),
    ]

    @Test("matching ranges are skipped to the frame, and output files have no gap", arguments: cases, [true, false])
    func omitted(_ item: Case, isPaced: Bool) throws {
        let rule = try SkipRule(dateRanges: item.dateRanges, segmentURIs: item.uris)
        let outcome = try Self.play(rule, isPaced: isPaced, tags: { _ in item.tags }, markers: item.markers)
        #expect(outcome.hasEnded)
        #expect(outcome.times.count == item.frames)
        #expect(outcome.gaps == [])
        #expect(Self.text(outcome.skipped) == item.skipped)
        if let left = item.left { #expect(!outcome.segments.contains { left.contains($0) }) }
        #expect(outcome.stalls == 0)
    }

    @Test("a rule that matches nothing changes nothing")
    func nothing() throws {
        let outcome = try Self.play(try SkipRule(dateRanges: ["other"], segmentURIs: ["/ads/"]))
        #expect(outcome.times.count == 1000)
        #expect(outcome.skipped.isEmpty)
        #expect(outcome.segments == Array(0..<20))
    }

    @Test("a skip causes a wait of less than a second on a good network")
    func wait() throws {
        let outcome = try Self.play(try SkipRule(segmentURIs: ["/1[0-4]\\.m4s"]))
        let waits = zip(outcome.hostTimes, outcome.hostTimes.dropFirst()).map { $1 - $0 }.filter {
            $0 > .milliseconds(41)
        }
        #expect(waits.allSatisfy { $0 < .seconds(1) }, "\(waits)")
    }

    @Test("a seek into a skipped range leads past it, and it is skipped again after a seek back")
    func seeks() throws {
        let outcome = try Self.play(
            try SkipRule(segmentURIs: ["/1[0-4]\\.m4s"]),
            act: { player, clock in
                try await clock.sleep(for: .seconds(5))
                _ = try await player.seek(to: MediaTime(.seconds(24)))
                try await clock.sleep(for: .seconds(3))
                #expect(player.state.currentTime.seconds > 30)
                _ = try await player.seek(to: MediaTime(.seconds(15)))
            })
        #expect(Self.text(outcome.skipped) == ["24.0+6.0", "20.0+10.0"])
        #expect(outcome.hasEnded)
    }

    @Test("an end time inside a skipped range ends playback")
    func end() throws {
        let outcome = try Self.play(
            try SkipRule(segmentURIs: ["/1[0-4]\\.m4s"]),
            prepare: { $0.forwardPlaybackEndTime = .seconds(25) })
        #expect(outcome.times.count == 500)
        #expect(outcome.hasEnded)
    }

    @Test(
        "live: a skipped range is waited out, whether its end is known, planned, or late",
        arguments: [
            // The end is known from the beginning, known before the first segment is listed, or planned. Otherwise the
            // range stays open until the splice-in or the next range of its class.
            { _ in [range("a", at: 40, "DURATION=8")] },
            { $0 < .seconds(20) ? [] : [range("a", at: 40, "DURATION=8")] },
            { _ in [range("a", at: 40, "PLANNED-DURATION=8,SCTE35-OUT=0xFC00")] },
            { time in
                [range("a", at: 40, "SCTE35-OUT=0xFC00")]
                    + (time < .seconds(44)
                        ? [] : [#"#EXT-X-DATERANGE:ID="a",END-DATE="2026-01-01T00:00:48Z",SCTE35-IN=0xFC01"#])
            },
            { time in
                [range("a", at: 40, "END-ON-NEXT=YES")]
                    + (time < .seconds(44) ? [] : [range("b", at: 48, "X-WHAT=\"film\"")])
            },
        ] as [@Sendable (Duration) -> [String]], [true, false])
    func live(tags: @escaping @Sendable (Duration) -> [String], isPaced: Bool) throws {
        let outcome = try Self.play(
            try SkipRule(dateRanges: ["ID=a"]), seconds: 100, window: 8, isPaced: isPaced, tags: tags)
        #expect(outcome.hasEnded)
        #expect(Self.text(outcome.skipped) == ["40.0+8.0"])
        #expect(outcome.gaps == [])
        #expect(!outcome.segments.contains { (20...23).contains($0) })
        let first = outcome.segments.min() ?? 0
        #expect(outcome.times.count == (100 - 8 - 2 * first) * 25)
    }

    @Test(
        "live: if the window passes an end that is known late, playback continues with the window",
        arguments: [true, false])
    func lateEnd(isPaced: Bool) throws {
        // At 60 s on the clock, the window begins at 60 s.
        let outcome = try Self.play(
            try SkipRule(dateRanges: ["ID=a"]), seconds: 100, window: 8, isPaced: isPaced,
            tags: { time in
                [Self.range("a", at: 40, "SCTE35-OUT=0xFC00")]
                    + (time < .seconds(60)
                        ? [] : [#"#EXT-X-DATERANGE:ID="a",END-DATE="2026-01-01T00:00:48Z",SCTE35-IN=0xFC01"#])
            })
        #expect(outcome.hasEnded)
        #expect(Self.text(outcome.skipped) == ["40.0+20.0"])
        #expect(outcome.gaps == [])
        let first = outcome.segments.min() ?? 0
        #expect(outcome.times.count == (100 - 20 - 2 * first) * 25)
    }

    @Test(
        "live: the rest of a break discovered during playback is skipped, without overwriting",
        arguments: [true, false])
    func lateKnown(isPaced: Bool) throws {
        // At 34 s the playlist ends at 50 s, and the playhead is at 44 s.
        let outcome = try Self.play(
            try SkipRule(dateRanges: ["ad"]), seconds: 100, window: 8, isPaced: isPaced,
            tags: { $0 < .seconds(34) ? [] : [Self.range("a", at: 40, "DURATION=16")] })
        #expect(outcome.hasEnded)
        #expect(outcome.skipped.count == 1)
        #expect(outcome.skipped.allSatisfy { $0.timeRange.end.inSeconds == 56 && $0.timeRange.start.inSeconds > 40 })
        #expect(outcome.gaps == [])
    }

    @Test(
        "live: a range longer than the window is skipped as one, even if its start is unlisted",
        arguments: [true, false])
    func longerThanWindow(isPaced: Bool) throws {
        let marked = try Self.play(
            try SkipRule(dateRanges: ["EXT-X-CUE-OUT"]), seconds: 120, window: 8, isPaced: isPaced,
            markers: [20: "#EXT-X-CUE-OUT", 40: "#EXT-X-CUE-IN"])
        let named = try Self.play(
            try SkipRule(segmentURIs: ["/[23][0-9]\\.m4s"]), seconds: 120, window: 8, isPaced: isPaced)
        for outcome in [marked, named] {
            #expect(outcome.hasEnded)
            #expect(Self.text(outcome.skipped) == ["40.0+40.0"])
            #expect(outcome.gaps == [])
            #expect(!outcome.segments.contains { (20...39).contains($0) })
            let first = outcome.segments.min() ?? 0
            #expect(outcome.times.count == (120 - 40 - 2 * first) * 25)
        }
        #expect(named.skipped.map(\.numberOfSegments) == [20])
    }

    @Test("live: a range that never ends is waited for ten minutes at most")
    func neverEnds() throws {
        let outcome = try Self.play(
            try SkipRule(dateRanges: ["ad"]), seconds: 1000, window: 8, limit: .seconds(1100),
            tags: { _ in [Self.range("a", at: 40, "SCTE35-OUT=0xFC00")] })
        #expect(outcome.hasEnded)
        #expect(Self.text(outcome.skipped) == ["40.0+600.0"])
        #expect(outcome.gaps == [])
    }
}
