import HLSKitEngine
import HLSKitLoading
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Breaks: other items in the middle of one", .ownThread, .timeLimit(.minutes(10)))
struct BreakTests {
    struct Outcome: Sendable {
        var frames: [FrameLog.Entry]
        var words: [String]
        var assetWords: [String]
        var requestedNames: [String]

        /// Returns a description of the first frame that does not follow its predecessor by one frame, or `nil` if
        /// there is none.
        func irregular(_ time: (FrameLog.Entry) -> Duration) -> String? {
            for (index, pair) in zip(frames, frames.dropFirst()).enumerated().dropFirst() {
                let distance = time(pair.1) - time(pair.0)
                if distance < .milliseconds(39.9) || distance > .milliseconds(40.1) {
                    return "frame \(index + 1) after \(distance)"
                }
            }
            return nil
        }
    }

    static func play(
        _ lengths: [String: Int], _ events: [InterstitialEvent]?, limit: Duration = .seconds(300),
        answer: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse? = { _ in nil },
        change: (inout PlayerConfiguration) -> Void = { _ in },
        act: @escaping @Sendable (Player, VirtualClock) async throws -> Void = { _, _ in }
    ) throws -> Outcome {
        let queue = try VirtualQueue(lengths, change: change, answer: answer)
        let log = FrameLog(clock: queue.clock)
        return try queue.clock.run {
            let item = queue.item("main", to: log.named(""))
            item.automaticallyHandlesInterstitialEvents = events == nil
            let player = try Player(item: item, configuration: queue.configuration)
            let stream = player.events()
            let assets = Task(executorPreference: queue.clock) {
                [stream = player.core.interstitialEvents.subscribe()] in
                var words: [String] = []
                for await event in stream { if let word = word(of: event) { words.append(word) } }
                return words
            }
            let controller = InterstitialEventController(primaryPlayer: player)
            controller.setEvents(events, for: item)
            player.play()
            let user = Task(executorPreference: queue.clock) { try await act(player, queue.clock) }
            let end = Task(executorPreference: queue.clock) {
                try? await queue.clock.sleep(for: limit)
                await player.close()
            }
            var words: [String] = []
            for await event in stream {
                if let word = word(of: event) { words.append(word) }
                if event.isLast { break }
            }
            try await user.value
            end.cancel()
            await player.close()
            return Outcome(
                frames: log.frames, words: words, assetWords: await assets.value,
                requestedNames: queue.requestedNames)
        }
    }

    private static func word(of event: PlayerEvent) -> String? {
        switch event.kind {
        case .timeControl(let change):
            "\(change.new.rawValue)\(change.reason.map { " \($0.rawValue)" } ?? "") \(change.itemTime.inSeconds)"
        case .didPlayToEnd: "end"
        case .playbackStalled: "stall"
        case .timeJumped(let time): "jump \(time.inSeconds)"
        case .rateChanged(let rate, let reason): "rate \(rate) \(reason.rawValue)"
        case .itemStatusChanged(.failed): "failed"
        default: nil
        }
    }

    static func event(
        _ id: String = "e", at time: Double, _ assets: [String], resumingAfter offset: Double? = 0,
        limit: Double? = nil
    ) -> InterstitialEvent {
        var event = InterstitialEvent(
            id: id, time: MediaTime(.seconds(time)),
            content: .assets(assets.map { InterstitialAsset(urlString: "https://\($0).invalid/index.m3u8") }))
        event.resumptionOffset = offset.map { MediaTime(.seconds($0)) } ?? .indefinite
        event.playoutLimit = limit.map { MediaTime(.seconds($0)) }
        return event
    }

    @Test(
        "a break plays without a gap: each frame once, 40 ms apart, for writers and on the clock",
        arguments: [
            // Between segments, and inside a segment.
            (8.0, 0.0 as Double?, 650), (7.0, 0, 650),
            // The break replaces media of equal length, less media, or more.
            (8, nil, 500), (7, nil, 500), (8, 3, 575), (5, 10, 400),
        ])
    func joints(_ time: Double, _ offset: Double?, _ count: Int) throws {
        let outcome = try Self.play(["main": 20, "ad": 6], [Self.event(at: time, ["ad"], resumingAfter: offset)])
        #expect(outcome.frames.count == count)
        #expect(outcome.irregular(\.hostTime) == nil)
        #expect(outcome.irregular(\.itemTime) == nil)
        let resumed = time + (offset ?? 6)
        var words = ["playing 0.0", "waiting interstitialEvent \(time)", "playing \(resumed)"]
        if resumed != time { words.append("jump \(resumed)") }
        words.append("end")
        let said = outcome.words.drop { !$0.hasPrefix("playing") }.sorted()
        #expect(said == words.sorted())
    }

    @Test("a break starts in the middle of a frame, and the item continues with the next frame")
    func middleOfFrame() throws {
        let outcome = try Self.play(["main": 20, "ad": 6], [Self.event(at: 7.02, ["ad"])])
        #expect(outcome.frames.count == 650)
        #expect(Self.odd(outcome, \.hostTime) == [20, 60])
        #expect(Self.odd(outcome, \.itemTime) == [20, 60])
    }

    @Test("unpaced, writers get the same media", arguments: [(8.0, 0.0 as Double?, 650), (7, nil, 500)])
    func unpaced(_ time: Double, _ offset: Double?, _ count: Int) throws {
        let outcome = try Self.play(
            ["main": 20, "ad": 6], [Self.event(at: time, ["ad"], resumingAfter: offset)],
            change: { $0.pacing = .unpaced })
        #expect(outcome.frames.count == count)
        #expect(outcome.irregular(\.itemTime) == nil)
    }

    /// Returns the distances between frames that differ from the stream's, in milliseconds.
    static func odd(_ outcome: Outcome, _ time: (FrameLog.Entry) -> Duration) -> [Int] {
        zip(outcome.frames, outcome.frames.dropFirst()).dropFirst().map {
            Int(((time($1) - time($0)) / .milliseconds(1)).rounded())
        }
        .filter { $0 != 40 }
    }

    @Test("several assets follow each other; a missing one is dropped without a wait")
    func assets() throws {
        let event = Self.event(at: 8, ["a", "gone", "b"])
        let outcome = try Self.play(["main": 20, "a": 4, "b": 2], [event])
        #expect(outcome.frames.count == 650)
        #expect(outcome.irregular(\.hostTime) == nil)
        #expect(outcome.irregular(\.itemTime) == nil)
        #expect(outcome.assetWords.count { $0 == "failed" } == 1)
        #expect(outcome.assetWords.count { $0 == "end" } == 2)
    }

    @Test("an unplayable event is dropped, and the item continues at its old position")
    func nothing() throws {
        let outcome = try Self.play(["main": 20], [Self.event(at: 8, ["gone", "away"], resumingAfter: nil)])
        #expect(outcome.frames.count == 500)
        #expect(outcome.irregular(\.itemTime) == nil)
        #expect(Self.odd(outcome, \.hostTime).allSatisfy { $0 < 500 })
    }

    @Test("an asset that does not arrive is dropped at its deadline")
    func silence() throws {
        let outcome = try Self.play(
            ["main": 20], [Self.event(at: 2, ["silent"], resumingAfter: nil)],
            answer: { request in
                request.urlString.hasPrefix("https://silent") ? .silence : nil
            })
        #expect(outcome.frames.count == 500)
        #expect(outcome.irregular(\.itemTime) == nil)
        let late = Self.odd(outcome, \.hostTime)
        #expect(late.count == 1)
        #expect(late.allSatisfy { (4_900...6_000).contains($0) }, "\(late)")
    }

    @Test("a limit cuts the played media at the frame")
    func limit() throws {
        let outcome = try Self.play(["main": 20, "ad": 6], [Self.event(at: 8, ["ad"], limit: 2.5)])
        #expect(outcome.frames.count == 563)
        #expect(Self.odd(outcome, \.hostTime) == [20])
        #expect(Self.odd(outcome, \.itemTime) == [20])
    }

    @Test("breaks play before the item, after it, and several at one position")
    func places() throws {
        var first = Self.event("first", at: 0, ["a"])
        first.cue = .joinCue
        var last = Self.event("last", at: 0, ["b"])
        last.cue = .leaveCue
        let events = [first, last, Self.event("c", at: 8, ["c"]), Self.event("d", at: 8, ["d"], resumingAfter: nil)]
        let outcome = try Self.play(["main": 20, "a": 2, "b": 4, "c": 2, "d": 4], events)
        #expect(outcome.frames.count == 700)
        #expect(outcome.irregular(\.itemTime) == nil)
        #expect(outcome.irregular(\.hostTime) == nil)
        #expect(outcome.words.count { $0 == "end" } == 1)
    }

    @Test("the item stops during a break; pause and play apply to the break")
    func pause() throws {
        let states = Mutex<[String]>([])
        let outcome = try Self.play(
            ["main": 20, "ad": 6], [Self.event(at: 8, ["ad"])],
            act: { player, clock in
                func note() {
                    let state = player.state
                    let words = "\(state.timeControlStatus.rawValue) \(state.currentTime.inSeconds) \(state.rate)"
                    states.withLock { $0.append(words) }
                }
                try await clock.sleep(for: .seconds(10))
                note()
                player.pause()
                note()
                try await clock.sleep(for: .seconds(3))
                note()
                player.play()
                note()
                try await clock.sleep(for: .seconds(3))
                note()
            })
        #expect(
            states.withLock(\.self) == [
                "waiting 8.0 1.0", "paused 8.0 0.0", "paused 8.0 0.0",
                "waiting 8.0 1.0", "waiting 8.0 1.0",
            ])
        #expect(outcome.frames.count == 650)
        #expect(outcome.irregular(\.itemTime) == nil)
        #expect(Self.odd(outcome, \.hostTime).count == 1)
    }

    @Test("a seek ends a break; one across a restricted event plays the event first")
    func seeks() throws {
        let event = Self.event(at: 8, ["ad"])
        let left = try Self.play(
            ["main": 20, "ad": 6], [event],
            act: { player, clock in
                try await clock.sleep(for: .seconds(10))
                _ = try await player.seek(to: MediaTime(.seconds(16)))
            })
        #expect((325...360).contains(left.frames.count), "\(left.frames.count)")
        #expect(left.words.contains("jump 16.0"))
        #expect(left.words.last { $0.hasPrefix("playing") } == "playing 16.0")
        let over = try Self.play(
            ["main": 20, "ad": 6], [event],
            act: { player, clock in
                try await clock.sleep(for: .seconds(3))
                _ = try await player.seek(to: MediaTime(.seconds(16)))
            })
        #expect(over.assetWords.isEmpty)
        var restricted = event
        restricted.restrictions = .constrainsSeekingForwardInPrimaryContent
        let held = try Self.play(
            ["main": 20, "ad": 6], [restricted],
            act: { player, clock in
                try await clock.sleep(for: .seconds(3))
                _ = try await player.seek(to: MediaTime(.seconds(16)))
            })
        #expect(held.assetWords.count { $0 == "end" } == 1)
        #expect(held.words.contains("jump 16.0"))
        #expect((300...340).contains(held.frames.count), "\(held.frames.count)")
    }

    @Test("an event can be skipped, or the break cancelled, at any moment")
    func leaving() throws {
        let event = Self.event(at: 8, ["a", "b"], resumingAfter: nil)
        let skipped = try Self.play(
            ["main": 20, "a": 4, "b": 4], [event],
            act: { player, clock in
                try await clock.sleep(for: .seconds(10))
                InterstitialEventController(primaryPlayer: player).skipCurrentEvent()
            })
        #expect(
            skipped.words.contains("jump 16.0") || skipped.words.contains { $0.hasPrefix("jump 9") }, "\(skipped.words)"
        )
        #expect(skipped.words.last == "end")
        let cancelled = try Self.play(
            ["main": 20, "a": 4, "b": 4], [event],
            act: { player, clock in
                try await clock.sleep(for: .seconds(10))
                InterstitialEventController(primaryPlayer: player)
                    .cancelCurrentEvent(withResumptionOffset: MediaTime(.seconds(10)))
            })
        #expect(cancelled.words.contains("jump 18.0"), "\(cancelled.words)")
        #expect(cancelled.words.last == "end")
    }
}

extension BreakTests {
    static func serve(
        _ ranges: [String], _ length: Int = 20, lists: [String: String] = [:], delay: Duration = .zero
    ) -> @Sendable (SimulatedRequest) -> SimulatedResponse? {
        { request in
            let path = request.urlString.prefix { $0 != "?" }
            if path.hasSuffix(".json") {
                guard let text = lists[String(path.split(separator: "/").last ?? "")] else { return .notFound }
                return SimulatedResponse(contentType: "application/json", body: Array(text.utf8), delay: delay)
            }
            guard path == "https://main.invalid/0/index.m3u8" else { return nil }
            let stream = SyntheticStream(
                bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: (length + 1) / 2)
            var inner = request
            inner.urlString = "https://synthetic.invalid/0/index.m3u8"
            var lines = String(decoding: stream.response(to: inner).body, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false
            ).map(String.init)
            guard let first = lines.firstIndex(where: { $0.hasPrefix("#EXTINF") }) else { return nil }
            lines.insert(contentsOf: ["#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z"] + ranges, at: first)
            return .playlist(lines.joined(separator: "\n"))
        }
    }

    static func range(_ id: String, at seconds: Int, _ attributes: String) -> String {
        let date = "2026-01-01T00:00:\(seconds < 10 ? "0" : "")\(seconds).000Z"
        return "#EXT-X-DATERANGE:ID=\"\(id)\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"\(date)\",\(attributes)"
    }

    @Test("a playlist's events play at their time: assets, and lists requested in advance")
    func dateRanges() throws {
        let asked = Mutex<[String]>([])
        let list =
            #"{"ASSETS":[{"URI":"https://a.invalid/index.m3u8","DURATION":4},"#
            + #"{"URI":"https://b.invalid/index.m3u8","DURATION":2}]}"#
        let ranges = [
            Self.range("one", at: 4, #"X-ASSET-URI="https://ad.invalid/index.m3u8",X-RESUME-OFFSET=0"#),
            Self.range("two", at: 12, #"X-ASSET-LIST="https://lists.invalid/two.json""#),
        ]
        let serve = Self.serve(ranges, lists: ["two.json": list], delay: .seconds(1))
        let outcome = try Self.play(
            ["main": 20, "ad": 6, "a": 4, "b": 2], nil,
            answer: { request in
                if request.urlString.contains(".json") { asked.withLock { $0.append(request.urlString) } }
                return serve(request)
            })
        #expect(outcome.frames.count == 500 + 150 + 150 - 150)
        #expect(outcome.irregular(\.hostTime) == nil)
        #expect(outcome.irregular(\.itemTime) == nil)
        let lists = asked.withLock(\.self)
        #expect(lists.count == 1)
        #expect(lists.first?.hasPrefix("https://lists.invalid/two.json?_HLS_primary_id=") == true)
    }

    @Test("an asset list that does not arrive in time is dropped at its deadline")
    func lateList() throws {
        let ranges = [Self.range("two", at: 2, #"X-ASSET-LIST="https://lists.invalid/two.json""#)]
        let serve = Self.serve(ranges, lists: ["two.json": #"{"ASSETS":[]}"#], delay: .seconds(60))
        let outcome = try Self.play(["main": 20], nil, answer: serve)
        #expect(outcome.frames.count == 500)
        #expect(outcome.irregular(\.itemTime) == nil)
        let late = Self.odd(outcome, \.hostTime)
        #expect(late.count == 1 && late.allSatisfy { (2_900...3_500).contains($0) }, "\(late)")
    }

    @Test(
        "a wait after an asset takes no media from the following asset or the item",
        arguments: [0, 2])
    func waits(_ time: Int) throws {
        let list = #"{"ASSETS":[{"URI":"https://a.invalid/index.m3u8","DURATION":4}]}"#
        for (lists, count) in [([:], 600), (["two.json": list], 700)] {
            let ranges = [
                Self.range("one", at: time, #"X-ASSET-URI="https://ad.invalid/index.m3u8",X-RESUME-OFFSET=0"#),
                Self.range("two", at: time, #"X-ASSET-LIST="https://lists.invalid/two.json",X-RESUME-OFFSET=0"#),
            ]
            // The list arrives 1.5 s after the end of the first asset, or never.
            let serve = Self.serve(ranges, lists: lists, delay: .seconds(5.5 + Double(time)))
            let outcome = try Self.play(["main": 20, "ad": 4, "a": 4], nil) { request in
                request.urlString.contains(".json") && lists.isEmpty ? .silence : serve(request)
            }
            #expect(outcome.frames.count == count)
            #expect(outcome.irregular(\.itemTime) == nil)
            // The first frame of an asset is shown on arrival, before its time starts.
            let late = Self.odd(outcome, \.hostTime).filter { $0 > 200 }
            #expect(late.count == 1 && late.allSatisfy { (1_000...3_500).contains($0) }, "\(late)")
        }
    }

    @Test("with interstitials off, none is played in an item")
    func off() throws {
        let ranges = [Self.range("one", at: 4, #"X-ASSET-URI="https://ad.invalid/index.m3u8",X-RESUME-OFFSET=0"#)]
        let outcome = try Self.play(["main": 20, "ad": 6], [], answer: Self.serve(ranges))
        #expect(outcome.frames.count == 500)
        #expect(Set(outcome.requestedNames) == ["main"])
    }
}
