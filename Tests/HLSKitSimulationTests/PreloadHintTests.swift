import HLSKitCore
import HLSKitSimulation
import Testing

/// Players of a ``LowLatencyOrigin`` that hints at the next part. Parts last 0.5 s, four to a segment.
@Suite("Preload hints in playback", .timeLimit(.minutes(10)))
struct PreloadHintTests {
    /// - Parameter age: The age of the origin at the start.
    private static func play(
        _ origin: LowLatencyOrigin, limit: Duration = .seconds(30), after age: Duration = .zero,
        _ change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> PartStage.Session {
        try PartStage(origin: origin, age: age, limit: limit, presents: false).play {
            $0.decodesWithoutOutput = [.video]
            change(&$0)
        }
    }

    private static func origin(
        _ addressing: LowLatencyOrigin.Addressing, _ kind: LowLatencyOrigin.Fault.Kind? = nil,
        to end: Duration = .seconds(1000)
    ) -> LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.addressing = addressing
        if let kind { origin.faults = [.init(kind, during: .seconds(10)..<end)] }
        return origin
    }

    @Test("M05: a part with its own file is requested once, before it is listed")
    func files() throws {
        let session = try Self.play(Self.origin(.files))
        #expect(session.count("stalled") == 0)
        let names = session.visits.media.map(\.urlString)
        #expect(Set(names).count == names.count)
        #expect((60...66).contains(names.count))
        // Segment 8 is the first one produced during playback, so part 9.2 is complete at 3.5 s. The hint requests it
        // before.
        let part = try #require(session.visits.media.first { $0.urlString.hasSuffix("/9.2.m4s") })
        #expect(part.time < .milliseconds(3500) && part.time > .milliseconds(2900))
        #expect((59...62).contains(session.visits.lists.count))
        #expect(session.play.state.statistics.numberOfDecodedVideoFrames > 700)
    }

    @Test("M05: one response to an open range delivers all parts of a growing segment")
    func ranges() throws {
        let session = try Self.play(Self.origin(.ranges))
        #expect(session.count("stalled") == 0)
        // Some requests at the start, then one for each of 15 segments.
        #expect(
            (15...22).contains(session.visits.media.count),
            "\(session.visits.media.map { "\($0.urlString) \($0.byteRange as Any)" })"
        )
        let open = session.visits.media.filter { $0.byteRange?.isOpenEnded ?? true }
        #expect(open.count >= 14)
        #expect(session.play.state.statistics.numberOfSegments >= 58)
        #expect(session.play.state.statistics.numberOfDecodedVideoFrames > 700)
        #expect(session.play.state.statistics.numberOfDamagedSamples == 0)
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var origin: LowLatencyOrigin
        var stalls = false
        /// The number of media requests in a minute. The playlist lists 120 parts.
        var requests: ClosedRange<Int>
    }

    static let faults: [Fault] = [
        Fault(testDescription: "it never appears", origin: origin(.files, .hint(.neverAppears)), requests: 115...130),
        Fault(
            testDescription: "404 until it is published", origin: origin(.files, .hint(.notFoundUntilPublished)),
            requests: 115...130),
        Fault(testDescription: "it is withdrawn", origin: origin(.files, .hint(.withdrawn)), requests: 115...130),
        Fault(
            testDescription: "it is withdrawn for a while", origin: origin(.files, .hint(.withdrawn), to: .seconds(11)),
            requests: 115...130),
        Fault(
            testDescription: "a reset in a range that grows", origin: origin(.ranges, .resets(after: 100_000)),
            requests: 60...120),
        Fault(
            testDescription: "parts are missing at the end of segments", origin: origin(.files, .dropsLastParts(1)),
            requests: 100...170),
        Fault(
            testDescription: "the encoder pauses for half a second",
            origin: origin(.ranges, .pauses, to: .milliseconds(10_500)),
            requests: 25...40),
        Fault(
            testDescription: "the encoder pauses for twenty seconds",
            origin: origin(.files, .pauses, to: .seconds(30)), stalls: true, requests: 75...95),
        Fault(
            testDescription: "HTTP/1.1",
            origin: {
                var origin = Self.origin(.files)
                origin.protocolName = "http/1.1"
                return origin
            }(), requests: 115...128),
    ]

    @Test("M05: whatever happens to a hint, parts are played as without hints", arguments: faults)
    func broken(_ fault: Fault) throws {
        let session = try Self.play(fault.origin, limit: .seconds(60))
        #expect(session.count("failed") == 0)
        #expect((session.count("stalled") > 0) == fault.stalls, "\(session.play.log.text)")
        #expect(session.count(" missed segments") + session.count(" skipped segments") == 0)
        #expect(session.count("no low latency") == 0)
        #expect(session.count("hole") == 0)
        #expect(session.play.state.statistics.numberOfDamagedSamples == 0)
        #expect(
            fault.requests.contains(session.visits.media.count),
            "\(session.visits.media.map { "\($0.time) \($0.urlString) \($0.byteRange as Any)" }.joined(separator: "\n"))"
        )
        let again = try Self.play(fault.origin, limit: .seconds(60))
        #expect(again.play.log.text == session.play.log.text)
    }

    @Test("M05: a hint that delivers wrong bytes does not end playback")
    func otherBytes() throws {
        let session = try Self.play(Self.origin(.files, .hint(.otherBytes)), limit: .seconds(60))
        #expect(session.count("failed") == 0)
        #expect(session.play.state.currentTime.seconds > 45)
    }

    @Test("M05: a hint that delivers wrong bytes once costs its part, without repetition")
    func otherBytesOnce() throws {
        var stage = PartStage()
        stage.limit = .seconds(30)
        stage.origin = Self.origin(.files, .hint(.otherBytes), to: .milliseconds(10_400))
        let session = try stage.play()
        #expect(session.count("item failed") == 0)
        let frames = session.presented.frames
        let back = zip(frames, frames.dropFirst()).filter { $0 >= $1 }
        #expect(back.isEmpty, "\(back) \(session.presented.breaks)\n\(session.play.log.text)")
        // The part that was hinted at when the fault began, and later ones, are lost.
        #expect((1...2).contains(session.presented.breaks.count), "\(session.presented.breaks)")
        #expect(session.presented.breaks.allSatisfy { $0.upperBound - $0.lowerBound < 0.6 })
        #expect(session.stallCount <= 1)
        #expect((frames.last ?? .zero) > .seconds(25))
    }

    @Test("M05: a pause cancels the hinted request")
    func pauses() throws {
        let clock = VirtualClock()
        let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(10)))
        let requests = Visits()
        let origin = Self.origin(.ranges)
        let transport = SimulatedTransport(over: trace, clock: clock) { request in
            requests.append(request)
            return origin.response(to: request)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodesWithoutOutput = [.video]
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: origin.url(ofVariant: 1))
        player.play()
        try player.replaceCurrentItem(with: item)
        try clock.run {
            try await clock.sleep(for: .seconds(10))
            player.pause()
            try await clock.sleep(for: .seconds(10))
            let count = requests.all.count
            try await clock.sleep(for: .seconds(60))
            #expect(requests.all.count == count)
            player.play()
            try await clock.sleep(for: .seconds(10))
            #expect(requests.all.count > count + 10)
            #expect(player.state.timeControlStatus == .playing)
            await player.close()
        }
    }

    @Test("C06: with a cache, playback starts at the edge by the first response's age")
    func tuneIn() throws {
        for lifetime in [8, 5] {
            var origin = LowLatencyOrigin()
            origin.faults = [.init(.plainCache(lifetime: .seconds(lifetime)))]
            let session = try Self.play(origin, after: .seconds(7))
            #expect(session.count("stalled") + session.count("no low latency") == 0)
            let distance = try #require(session.play.state.liveOffset)
            #expect((Duration.milliseconds(1000)...(.milliseconds(1650))).contains(distance), "\(distance)")
            let directed = session.visits.lists.prefix(2).filter { $0.urlString.contains("_HLS_msn") }
            #expect(directed.count == 1)
        }
        // A cache that ignores the query. The age does not decrease, so it is not a valid age.
        var origin = LowLatencyOrigin()
        origin.faults = [.init(.cache(lifetime: .seconds(8)))]
        let session = try Self.play(origin, after: .seconds(7))
        #expect(session.count("failed") == 0)
        #expect(session.play.state.currentTime > .zero)
    }
}
