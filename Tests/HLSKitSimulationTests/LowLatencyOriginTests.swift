import HLSKitCore
import HLSKitPlaylist
import Testing

@testable import HLSKitSimulation

/// Parts last 0.5 s, four to a segment. Eight segments exist at the start.
@Suite("Simulated low-latency origin")
struct LowLatencyOriginTests {
    private static func answer(
        _ origin: LowLatencyOrigin, _ query: String = "", variant: Int = 0, at time: Duration
    ) -> SimulatedResponse {
        let url = origin.url(ofVariant: variant) + (query.isEmpty ? "" : "?" + query)
        return origin.response(to: SimulatedRequest(urlString: url, resourceClass: .mediaPlaylist, time: time))
    }

    private static func playlist(
        _ origin: LowLatencyOrigin, _ query: String = "", variant: Int = 0, at time: Duration
    ) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: answer(origin, query, variant: variant, at: time).body, url: origin.url(ofVariant: variant))
    }

    private static func media(_ origin: LowLatencyOrigin, _ path: String, at time: Duration) -> SimulatedResponse {
        origin.response(to: SimulatedRequest(urlString: LowLatencyOrigin.base + path, time: time))
    }

    /// Returns the segment number and the index of the last listed part.
    private static func edge(_ playlist: MediaPlaylist) -> [Int] {
        let next = playlist.mediaSequence + playlist.segments.count
        if !playlist.trailingParts.isEmpty { return [next, playlist.trailingParts.count - 1] }
        return [next - 1, (playlist.segments.last?.parts.count ?? 0) - 1]
    }

    private static var ranges: LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.addressing = .ranges
        return origin
    }

    /// An origin with parts of a third of a second, which has no exact binary fraction.
    private static var thirds: LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.partDuration = .microseconds(333_333)
        origin.partsPerSegment = 6
        return origin
    }

    private static var ending: LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.segmentCount = 12
        return origin
    }

    private static var long: LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.windowSegmentCount = 60
        return origin
    }

    // MARK: Playlists

    @Test("lint finds nothing in any playlist, and consecutive playlists are consistent")
    func lists() throws {
        for origin in [LowLatencyOrigin(), Self.ranges, Self.thirds, Self.ending, Self.long] {
            var before: (playlist: MediaPlaylist, edge: [Int])?
            for step in 0..<120 {
                let time = Duration.milliseconds(step * 125)
                let playlist = try Self.playlist(origin, at: time)
                let findings = playlist.lint().filter { !(playlist.hasEndList && $0.issue.rule == .applePlaylistType) }
                #expect(findings.isEmpty, "\(time): \(findings)")
                let edge = Self.edge(playlist)
                if let before, !playlist.hasEndList {
                    #expect(before.playlist.mediaSequence <= playlist.mediaSequence)
                    #expect(before.edge.lexicographicallyPrecedes(edge) || before.edge == edge)
                    #expect(before.playlist.targetDuration == playlist.targetDuration)
                }
                #expect(playlist.duration >= playlist.targetDuration * 3)
                // Only the last three target durations have parts.
                let old = playlist.segments.dropLast(3)
                #expect(old.allSatisfy { $0.parts.isEmpty || playlist.targetDuration > $0.duration })
                before = (playlist, edge)
            }
        }
    }

    @Test("a part is added within each part target unless there is a pause")
    func cadence() throws {
        let origin = LowLatencyOrigin()
        for step in 0..<40 {
            let edge = Self.edge(try Self.playlist(origin, at: .milliseconds(step * 500)))
            #expect(edge[0] * 4 + edge[1] == 8 * 4 - 1 + step)
            let late = Self.edge(try Self.playlist(origin, at: .milliseconds(step * 500 + 499)))
            #expect(late == edge)
        }
    }

    @Test(
        "a delta update merged with an earlier playlist equals the full one, and skips old segments")
    func deltas() throws {
        for origin in [Self.long, Self.ranges] {
            var known = try Self.playlist(origin, at: .zero)
            for step in 1..<60 {
                let time = Duration.milliseconds(step * 250)
                let update = try Self.playlist(origin, "_HLS_skip=YES", at: time)
                #expect(update.lint().isEmpty)
                let kept = 6
                let count = known.segments.count
                #expect(update.skip?.count ?? 0 == max(0, count - kept))
                known = try known.merging(update: update)
                #expect(known == (try Self.playlist(origin, at: time)))
            }
        }
        let ended = try Self.playlist(Self.ending, "_HLS_skip=YES", at: .seconds(60))
        #expect(ended.hasEndList && ended.skip == nil && ended.segments.count == 8)
    }

    @Test("rendition reports match the other playlist at that time")
    func reports() throws {
        var origin = LowLatencyOrigin()
        origin.lags = [.zero, .milliseconds(700)]
        for step in 0..<40 {
            let time = Duration.milliseconds(step * 190)
            for (variant, other) in [(0, 1), (1, 0)] {
                let report = try #require(
                    try Self.playlist(origin, variant: variant, at: time).renditionReports.first)
                #expect(report.uri == "../\(other)/live.m3u8")
                let edge = Self.edge(try Self.playlist(origin, variant: other, at: time))
                #expect([report.lastMediaSequence, report.lastPart] == edge)
            }
        }
    }

    // MARK: Blocking requests

    struct Held: CustomTestStringConvertible, Sendable {
        var query: String
        var time = Duration.milliseconds(100)
        var delay = Duration.zero
        var status = 200
        var edge: [Int]?
        var testDescription: String { "\(query) at \(time)" }
    }

    /// At 0.1 s segment 7 is complete and 8 has no parts. Its parts appear at 0.5 s, 1 s and so on.
    static let requests: [Held] = [
        Held(query: "_HLS_msn=8&_HLS_part=0", delay: .milliseconds(400), edge: [8, 0]),
        Held(query: "_HLS_msn=8&_HLS_part=2", delay: .milliseconds(1400), edge: [8, 2]),
        Held(query: "_HLS_msn=8", delay: .milliseconds(1900), edge: [8, 3]),
        Held(query: "_HLS_msn=8&_HLS_part=4", delay: .milliseconds(2400), edge: [9, 0]),
        Held(query: "_HLS_msn=8&_HLS_part=9", delay: .milliseconds(2400), edge: [9, 0]),
        Held(query: "_HLS_msn=7", edge: [7, 3]),
        Held(query: "_HLS_msn=7&_HLS_part=3", edge: [7, 3]),
        Held(query: "_HLS_msn=0&_HLS_part=1", edge: [7, 3]),
        Held(query: "_HLS_msn=9", delay: .milliseconds(3900), edge: [9, 3]),
        Held(query: "_HLS_msn=10", status: 400),
        Held(query: "_HLS_msn=9&_HLS_part=2", status: 400),
        Held(query: "_HLS_part=2", status: 400),
        Held(query: "other=1", edge: [7, 3]),
    ]

    @Test("a request is held until its requested media is listed", arguments: requests)
    func held(_ test: Held) throws {
        var origin = LowLatencyOrigin()
        let answer = Self.answer(origin, test.query, at: test.time)
        #expect(answer.status == test.status)
        #expect(answer.delay == test.delay)
        guard let edge = test.edge else { return }
        #expect(Self.edge(try MediaPlaylist(parsing: answer.body, url: origin.url)) == edge)
        origin.holdsRequests = false
        #expect(Self.answer(origin, test.query, at: test.time).delay == .zero)
    }

    @Test("a request held for three target durations gets 503; at the stream's end it returns at once")
    func limits() throws {
        var origin = LowLatencyOrigin()
        origin.faults = [.init(.pauses, during: .seconds(1)..<(.seconds(21)))]
        let answer = Self.answer(origin, "_HLS_msn=8&_HLS_part=2", at: .seconds(2))
        #expect(answer.status == 503)
        #expect(answer.delay == .seconds(6))
        origin.faults.append(.init(.holdsForever))
        let late = Self.answer(origin, "_HLS_msn=8&_HLS_part=2", at: .seconds(2))
        #expect(late.status == 200 && late.delay == .milliseconds(19_500))
        let last = Self.answer(Self.ending, "_HLS_msn=12&_HLS_part=0", at: .milliseconds(7600))
        #expect(last.delay == .milliseconds(400))
        #expect(try MediaPlaylist(parsing: last.body, url: origin.url).hasEndList)
        let after = Self.answer(Self.ending, "_HLS_msn=99", at: .seconds(9))
        #expect(after.status == 200 && after.delay == .zero)
    }

    // MARK: Media

    @Test("a segment consists of its parts, in separate files or as ranges")
    func media() throws {
        let (files, ranges) = (LowLatencyOrigin(), Self.ranges)
        let whole = Self.media(files, "0/5.m4s", at: .zero).body
        #expect((0..<4).flatMap { Self.media(files, "0/5.\($0).m4s", at: .zero).body } == whole)
        #expect(Self.media(ranges, "0/5.m4s", at: .zero).body == whole)
        let playlist = try Self.playlist(ranges, at: .zero)
        let parts = try #require(playlist.segments.last?.parts)
        #expect(parts.map { $0.byteRange?.offset } == (0..<4).map { $0 * whole.count / 4 })
        #expect(parts.allSatisfy { $0.byteRange?.length == whole.count / 4 })
        #expect(parts.map(\.isIndependent) == [true, false, true, false])
        #expect(Self.media(ranges, "0/5.0.m4s", at: .zero).status == 404)
    }

    @Test("only the hinted part is waited for")
    func hints() throws {
        let origin = LowLatencyOrigin()
        for step in 0..<12 {
            let time = Duration.milliseconds(step * 500 + 100)
            let hint = try #require(try Self.playlist(origin, at: time).preloadHints.first)
            #expect(hint.uri == "\(8 + step / 4).\(step % 4).m4s")
            let answer = Self.media(origin, "0/\(hint.uri)", at: time)
            #expect(answer.status == 200 && answer.delay == .milliseconds(400))
            #expect(answer.body == Self.media(origin, "0/\(hint.uri)", at: time + .seconds(1)).body)
            let next = "0/\(8 + (step + 1) / 4).\((step + 1) % 4).m4s"
            #expect(Self.media(origin, next, at: time).status == 404)
        }
        #expect(Self.media(origin, "0/8.m4s", at: .seconds(1)).status == 404)
        #expect(Self.media(origin, "0/8.m4s", at: .seconds(2)).status == 200)
        #expect(Self.media(origin, "0/0.m4s", at: .seconds(600)).status == 404)
    }

    @Test("a segment of ranges grows while it is sent, part by part")
    func growth() throws {
        let answer = Self.media(Self.ranges, "0/8.m4s", at: .milliseconds(700))
        let size = answer.body.count / 4
        #expect(answer.growth.map(\.time) == [.zero, .milliseconds(300), .milliseconds(800), .milliseconds(1300)])
        #expect(answer.growth.map(\.byteCount) == [size, size * 2, size * 3, size * 4])
        let hint = try #require(try Self.playlist(Self.ranges, at: .milliseconds(700)).preloadHints.first)
        #expect(hint.uri == "8.m4s" && hint.byteRangeStart == size && hint.byteRangeLength == nil)
    }

    // MARK: Faults

    private static func faulty(_ kind: LowLatencyOrigin.Fault.Kind, of variant: Int? = nil) -> LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.windowSegmentCount = 12
        origin.faults = [.init(kind, during: .seconds(1)..<(.seconds(1000)), of: variant)]
        return origin
    }

    @Test("blocking faults: not held, never answered, refused, or served from a cache without queries")
    func answeringFaults() throws {
        let query = "_HLS_msn=12&_HLS_part=3"
        let now = Duration.milliseconds(1100)
        let hasty = Self.answer(Self.faulty(.doesNotHold), query, at: now)
        #expect(hasty.delay == .zero)
        #expect(Self.edge(try MediaPlaylist(parsing: hasty.body, url: "https://a.test/")) == [12, 1])
        #expect(Self.answer(Self.faulty(.doesNotHold), query, at: .milliseconds(900)).delay == .milliseconds(1100))
        #expect(Self.answer(Self.faulty(.neverAnswers), query, at: now).delay > .seconds(100_000))
        #expect(Self.answer(Self.faulty(.neverAnswers), at: now).delay == .zero)
        let busy = Self.answer(Self.faulty(.status(503, retryAfter: 2)), query, at: now)
        #expect(busy.status == 503 && busy.fields == [TransportField(name: "Retry-After", value: "2")])
        let stored = Self.answer(Self.faulty(.cache(lifetime: .seconds(5))), query, at: .milliseconds(8200))
        #expect(stored.delay == .zero && stored.fields == [TransportField(name: "Age", value: "3")])
        #expect(Self.edge(try MediaPlaylist(parsing: stored.body, url: "https://a.test/")) == [14, 1])
        #expect(Self.answer(Self.faulty(.neverAnswers, of: 1), query, at: now).delay == .milliseconds(900))
    }

    @Test("hint faults: hints that do not come true")
    func hintFaults() throws {
        let now = Duration.milliseconds(1100)
        func hinted(_ fault: LowLatencyOrigin.Fault.HintFault) throws -> SimulatedResponse {
            let origin = Self.faulty(.hint(fault))
            let hint = try #require(try Self.playlist(origin, at: now).preloadHints.first)
            return Self.media(origin, "0/" + hint.uri, at: now)
        }
        let part = Self.media(LowLatencyOrigin(), "0/12.2.m4s", at: .seconds(20)).body
        #expect(try hinted(.neverAppears).delay > .seconds(100_000))
        let other = try hinted(.otherBytes)
        #expect(other.delay == .milliseconds(400) && other.body != part && other.body.count == part.count)
        #expect(try hinted(.notFoundUntilPublished).status == 404)
        #expect(
            Self.media(Self.faulty(.hint(.notFoundUntilPublished)), "0/12.2.m4s", at: .milliseconds(1600)).body == part)
        let withdrawn = try hinted(.withdrawn)
        #expect(withdrawn.status == 404 && withdrawn.delay == .milliseconds(400))
    }

    @Test("part faults: missing at the end of segments, too long, or not independent")
    func partFaults() throws {
        let dropping = Self.faulty(.dropsLastParts(2))
        let list = try Self.playlist(dropping, at: .milliseconds(3900))
        #expect(list.segments.last?.parts.count == 2 && list.trailingParts.count == 2)
        #expect(Self.media(dropping, "0/12.3.m4s", at: .seconds(4)).status == 404)
        #expect(Self.answer(dropping, "_HLS_msn=13&_HLS_part=2", at: .milliseconds(3100)).delay == .milliseconds(1400))
        let long = try Self.playlist(Self.faulty(.understatesPartTarget), at: .seconds(2))
        #expect(long.lint().contains { $0.issue.rule == .partTarget })
        let hidden = try Self.playlist(Self.faulty(.hidesIndependence), at: .seconds(2))
        #expect(hidden.segments.allSatisfy { $0.parts.allSatisfy { !$0.isIndependent } })
        let reset = Self.media(Self.faulty(.resets(after: 1000)), "0/10.m4s", at: .seconds(2))
        #expect(reset.ending == .cut(after: 1000))
    }

    @Test("playlist faults: jumping numbers, unfitting delta updates, wrong reports")
    func listFaults() throws {
        for distance in [-5, 40] {
            var origin = Self.faulty(.renumbers(by: distance))
            origin.firstMediaSequence = 10
            let list = try Self.playlist(origin, at: .seconds(2))
            #expect(list.mediaSequence == 11 + distance)
            #expect(list.segments.last?.uri == "\(22 + distance).m4s")
            #expect(Self.media(origin, "0/\(22 + distance).m4s", at: .seconds(2)).status == 200)
            #expect(Self.answer(origin, "_HLS_msn=\(23 + distance)", at: .seconds(2)).delay == .seconds(2))
        }
        for kind in [LowLatencyOrigin.Fault.Kind.skipsTooMany(40), .skipsFromElsewhere(by: 30)] {
            let origin = Self.faulty(kind)
            let known = try Self.playlist(origin, at: .zero)
            let update = try Self.playlist(origin, "_HLS_skip=YES", at: .seconds(2))
            #expect(throws: PlaylistError.self) { try known.merging(update: update) }
        }
        let ahead = try Self.playlist(Self.faulty(.reportsAhead(by: 3)), at: .seconds(2)).renditionReports
        #expect(ahead.first?.lastMediaSequence == 15)
        #expect(try Self.playlist(Self.faulty(.omitsReports), at: .seconds(2)).renditionReports.isEmpty)
    }

    @Test("time faults: a stopped or late rendition, a pausing encoder, a wrong or drifting clock")
    func timeFaults() throws {
        let stopped = Self.faulty(.stops, of: 1)
        #expect(Self.edge(try Self.playlist(stopped, variant: 1, at: .seconds(60))) == [12, 1])
        #expect(Self.edge(try Self.playlist(stopped, at: .seconds(60))) == [41, 3])
        #expect(Self.answer(stopped, "_HLS_msn=12&_HLS_part=2", variant: 1, at: .seconds(2)).status == 503)

        var paused = LowLatencyOrigin()
        paused.faults = [.init(.pauses, during: .seconds(1)..<(.seconds(21)))]
        for second in [1, 10, 21] {
            #expect(Self.edge(try Self.playlist(paused, at: .seconds(second))) == [8, 1])
        }
        #expect(Self.edge(try Self.playlist(paused, at: .seconds(22))) == [8, 3])
        let last = try #require(try Self.playlist(paused, at: .seconds(24)).segments.last)
        #expect(last.programDateTime == paused.epoch + .seconds(22))

        var lagging = LowLatencyOrigin()
        lagging.lags = [.zero, .milliseconds(500)]
        #expect(Self.edge(try Self.playlist(lagging, variant: 1, at: .seconds(1))) == [8, 0])
        #expect(Self.answer(lagging, "_HLS_msn=8&_HLS_part=1", variant: 1, at: .seconds(1)).delay == .milliseconds(500))

        var drifting = LowLatencyOrigin()
        drifting.clockDrift = 200
        drifting.epoch = drifting.epoch + .seconds(3600)
        let late = try Self.playlist(drifting, at: .seconds(10_000))
        #expect(Self.edge(late) == [5008, 3])
        let begin = try #require(late.segments.last?.programDateTime)
        let passed = begin - drifting.epoch
        #expect((Duration.seconds(9_999)...(.seconds(10_001))).contains(passed))
    }
}
