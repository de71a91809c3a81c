import HLSKitAsset
import HLSKitDownload
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@Suite("RetryPolicies in downloads", .timeLimit(.minutes(10)))
struct DownloadRetryTests {
    private typealias Answer = ScriptedTransport.Answer

    private static let url = "http://a.example/main.m3u8"
    private static let media = ScriptedDownload.media

    private static func run(
        _ policies: RetryPolicies, seed: UInt64 = 1, connectionCount: Int = 6, endsAtGaps: Bool = false,
        _ script: @escaping @Sendable (_ path: String, VirtualClock) async throws -> Answer
    ) throws -> ScriptedDownload {
        let clock = VirtualClock()
        let transport = ScriptedTransport(clock) { url in
            try await script(String(url.dropFirst("http://a.example/".count)), clock)
        }
        return try ScriptedDownload.run(url, over: transport, clock) { configuration in
            configuration.loading.retryPolicies = policies
            configuration.loading.seed = seed
            configuration.connectionCount = connectionCount
            configuration.endsAtGaps = endsAtGaps
        }
    }

    private static func list(_ numbers: Range<Int>, ends: Bool = true, target: Int = 4) -> Answer {
        let segments = numbers.map { "#EXTINF:\(target),\n\($0).ts\n" }.joined()
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        return .bytes(Array((head + segments + (ends ? "#EXT-X-ENDLIST\n" : "")).utf8))
    }

    private static func master(_ names: String...) -> Answer {
        let variants = names.enumerated().map { index, name in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(9 - index)00000\n\(name)/list.m3u8\n"
        }
        return .bytes(Array(("#EXTM3U\n" + variants.joined()).utf8))
    }

    private static func seconds(_ values: Double...) -> [Duration] {
        values.map { .milliseconds(Int64($0 * 1000)) }
    }

    @Test("an unavailable break is missing, and the film is complete", arguments: [0, 1, 2])
    func deadBreak(fault: Int) throws {
        let answers: [Answer] = [.status(404), .status(503), .failure(.cannotConnect)]
        let outcome = try Self.run(.init(jitter: 0)) { path, _ in
            guard path == "main.m3u8" else { return path.hasPrefix("ad/") ? answers[fault] : Self.media }
            let names = (0..<18).map { (4..<12).contains($0) ? "ad/\($0).ts" : "\($0).ts" }
            let segments = names.map { "#EXTINF:4,\n\($0)\n" }.joined()
            return .bytes(Array(("#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + segments + "#EXT-X-ENDLIST\n").utf8))
        }
        let result = try #require(outcome.result, "\(String(describing: outcome.error))")
        #expect(result.segmentCount == 10 && result.missingSegmentCount == 8)
    }

    // MARK: Live window

    @Test(
        "live segments that appeared and left during an outage count as missing",
        arguments: [false, true])
    func missed(endsAtGaps: Bool) throws {
        let outcome = try Self.run(.init(jitter: 0), endsAtGaps: endsAtGaps) { path, clock in
            guard path == "main.m3u8" else { return Self.media }
            let time = clock.now.offset
            if time > .seconds(9), time < .seconds(50) { return .status(503) }
            let first = min(Int(time / .seconds(4)), 16)
            return Self.list(first..<first + 3, ends: first == 16)
        }
        let result = try #require(outcome.result)
        let gap = try #require(result.gaps.first)
        #expect(result.gaps.count == 1 && gap.segmentCount == 7 && !gap.isDeclared)
        #expect(gap.cause == "7 segments missed: the live window moved on")
        #expect(result.missingSegmentCount == 7)
        #expect(result.failure?.code == (endsAtGaps ? .incomplete : nil))
        #expect(endsAtGaps || result.segmentCount == 12)
    }

    // MARK: Retries of one source

    private struct Waits: CustomTestStringConvertible {
        var name: String
        var answer: ScriptedTransport.Answer
        var policies: RetryPolicies
        var expected: [Duration]
        /// The expected error, or `nil` if the download succeeds without the segment.
        var code: HLSError.Code?
        var testDescription: String { name }
    }

    private static let waitCases = [
        Waits(
            name: "secondTryDelay", answer: .status(404), policies: .init(secondAttemptDelay: .seconds(2)),
            expected: seconds(0, 2)),
        Waits(
            name: "triesPerVariant", answer: .status(404), policies: .init(attemptsPerVariant: 3),
            expected: seconds(0, 0.5, 1)),
        Waits(
            name: "triesPerVariant of what is damaged", answer: .bytes([1, 2, 3]),
            policies: .init(attemptsPerVariant: 3),
            expected: seconds(0, 0.5, 1)),
        Waits(
            name: "delays and budget", answer: .status(503),
            policies: .init(delays: seconds(1, 3), jitter: 0, budget: .seconds(12)), expected: seconds(0, 1, 4, 7, 10),
            code: .network),
        Waits(
            name: "maximumRetryCount", answer: .failure(.timedOut), policies: .init(jitter: 0, maximumRetryCount: 2),
            expected: seconds(0, 0.5, 1.5), code: .network),
        Waits(
            name: "an empty segment", answer: .failure(.emptyBody), policies: .init(jitter: 0, maximumRetryCount: 2),
            expected: seconds(0, 0.5, 1.5)),
        Waits(
            name: "Retry-After", answer: .status(429, retryAfter: .seconds(3)), policies: .init(jitter: 0),
            expected: seconds(0, 3, 6, 9, 12, 15, 18), code: .network),
        Waits(
            name: "maximumRetryAfter", answer: .status(503, retryAfter: .seconds(3600)),
            policies: .init(jitter: 0, maximumRetryAfter: .seconds(8)), expected: seconds(0, 8, 16), code: .network),
        Waits(
            name: "skipsSegments", answer: .status(404), policies: .init(skipsSegments: false),
            expected: seconds(0, 0.5),
            code: .notFound),
    ]

    @Test("a failing segment is retried according to the policies", arguments: waitCases)
    private func waits(_ c: Waits) throws {
        let outcome = try Self.run(c.policies) { path, _ in
            switch path {
            case "main.m3u8": Self.list(0..<4)
            case "1.ts": c.answer
            default: Self.media
            }
        }
        #expect(outcome.times("/1.ts") == c.expected)
        #expect(outcome.error?.code == c.code)
        if c.code == nil { #expect(outcome.result?.segmentCount == 3 && outcome.result?.gaps.count == 1) }
    }

    @Test("R15: a truncated segment is requested once more, and then kept", arguments: [(0, 1), (1, 2), (9, 2)])
    func truncated(count: Int, requestCount: Int) throws {
        let answered = Mutex(0)
        let outcome = try Self.run(.init(attemptsPerVariant: 1)) { path, _ in
            guard path != "main.m3u8" else { return Self.list(0..<4) }
            guard path == "1.ts",
                answered.withLock({
                    $0 += 1
                    return $0 <= count
                })
            else { return Self.media }
            return .bytes((0..<500).map { $0 % 188 == 0 ? 0x47 : 0 })
        }
        #expect(outcome.urls("/1.ts").count == requestCount)
        #expect(outcome.result?.segmentCount == 4 && outcome.result?.missingSegmentCount == 0)
    }

    @Test(
        "with gaps forbidden, a declared gap ends it before the first segment, and a 404 at once")
    func endsAtGaps() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            0.ts
            #EXTINF:4,
            #EXT-X-GAP
            1.ts
            #EXT-X-ENDLIST

            """
        for isMarked in [true, false] {
            let outcome = try Self.run(.init(skipsSegments: false), connectionCount: 1, endsAtGaps: true) { path, _ in
                switch path {
                case "main.m3u8":
                    .bytes(Array((isMarked ? text : text.replacing("#EXT-X-GAP\n", with: "")).utf8))
                case "1.ts": .status(404)
                default: Self.media
                }
            }
            #expect(outcome.error?.code == .incomplete)
            #expect(outcome.error?.cause == "segment 1 is missing")
            #expect(outcome.error?.urlString == "http://a.example/1.ts")
            #expect(outcome.urls(".ts") == (isMarked ? [] : ["0.ts", "1.ts", "1.ts"]))
        }
    }

    @Test("jitter makes waits longer or shorter, by seed")
    func jitter() throws {
        let policies = RetryPolicies(delays: [.seconds(2)], jitter: 0.5)
        let times = try [1, 1, 2].map { seed in
            try Self.run(policies, seed: seed) { path, _ in
                path == "main.m3u8" ? Self.list(0..<2) : path == "1.ts" ? .status(503) : Self.media
            }.times("/1.ts")
        }
        let waits = zip(times[0], times[0].dropFirst()).map { $1 - $0 }
        #expect(waits.count > 5 && waits.allSatisfy { (.seconds(1)...Duration.seconds(3)).contains($0) })
        #expect(Set(waits).count > 3 && times[0] == times[1] && times[0] != times[2])
    }

    @Test("unsuccessful requests in 5 s stay within the limit; the total ends the download")
    func rateLimit() throws {
        let policies = RetryPolicies(unsuccessfulRequestLimit: 10, unsuccessfulRequestTotal: 40)
        let outcome = try Self.run(policies, connectionCount: 1) { path, _ in
            path == "main.m3u8" ? Self.list(0..<100) : .status(404)
        }
        let times = outcome.times(".ts")
        #expect(times.count == 40 && outcome.error?.code == .network)
        for (first, last) in zip(times, times.dropFirst(10)) { #expect(last - first >= .seconds(5)) }
    }

    // MARK: Alternative sources

    private struct Places: CustomTestStringConvertible {
        var name: String
        var answer: ScriptedTransport.Answer
        var policies = RetryPolicies()
        var expected: [String]
        var testDescription: String { name }
    }

    private static let placeCases = [
        Places(name: "not there", answer: .status(404), expected: ["hi", "hi", "mid"]),
        Places(
            name: "a server that fails is asked as long as the budget lasts", answer: .status(503),
            policies: .init(jitter: 0), expected: Array(repeating: "hi", count: 8) + ["mid"]),
        Places(
            name: "triesPerVariant", answer: .status(404), policies: .init(attemptsPerVariant: 3),
            expected: ["hi", "hi", "hi", "mid"]),
        Places(
            name: "so is one without a connection", answer: .failure(.cannotConnect), policies: .init(jitter: 0),
            expected: Array(repeating: "hi", count: 8) + ["mid"]),
        Places(
            name: "a server that wants to be asked much later", answer: .status(503, retryAfter: .seconds(60)),
            expected: ["hi", "mid"]),
    ]

    @Test("a failing segment is requested from alternatives", arguments: placeCases)
    private func places(_ c: Places) throws {
        let outcome = try Self.run(c.policies) { path, _ in
            switch path {
            case "main.m3u8": Self.master("hi", "mid", "low")
            case "hi/1.ts": c.answer
            default: path.hasSuffix("m3u8") ? Self.list(0..<3) : Self.media
            }
        }
        #expect(outcome.urls("/1.ts") == c.expected.map { $0 + "/1.ts" })
        #expect(outcome.result?.segmentCount == 3 && outcome.result?.substitutedSegmentCount == 1)
    }

    @Test("a segment that succeeds at the third attempt comes from its own variant", arguments: [true, false])
    func passing(isCut: Bool) throws {
        let counts = Mutex<[String: Int]>([:])
        let outcome = try Self.run(RetryPolicies()) { path, _ in
            if path == "main.m3u8" { return Self.master("hi", "mid", "low") }
            if path.hasSuffix("m3u8") { return Self.list(0..<6) }
            let count = counts.withLock {
                $0[path, default: 0] += 1
                return $0[path] ?? 0
            }
            guard count <= 2 else { return Self.media }
            return isCut ? .failure(.connectionLost) : .status(503)
        }
        #expect(outcome.result?.segmentCount == 6 && outcome.result?.substitutedSegmentCount == 0)
        #expect(outcome.urls(".ts").allSatisfy { $0.hasPrefix("hi/") } && outcome.urls(".ts").count == 18)
    }

    @Test("R7: other variants are tried for a segment while the budget lasts", arguments: [true, false])
    func budget(hasBudget: Bool) throws {
        let outcome = try Self.run(RetryPolicies(budget: hasBudget ? .seconds(20) : nil, maximumRetryCount: 12)) {
            path, clock in
            if path == "main.m3u8" { return Self.master("a", "b", "c", "d") }
            guard path.hasSuffix("/1.ts") else { return path.hasSuffix("m3u8") ? Self.list(0..<3) : Self.media }
            try await clock.sleep(for: .seconds(8))
            return .status(503)
        }
        let places = Set(outcome.urls("/1.ts")).sorted()
        #expect(places == (hasBudget ? ["a/1.ts", "b/1.ts", "c/1.ts"] : ["a/1.ts", "b/1.ts", "c/1.ts", "d/1.ts"]))
        #expect(outcome.error?.code == .network)
    }

    @Test("a variant with a missing segment is tried last for a while", arguments: [(60, "low"), (1, "mid")])
    func penalty(_ seconds: Int, _ place: String) throws {
        let outcome = try Self.run(RetryPolicies(penalty: .seconds(seconds)), connectionCount: 1) { path, clock in
            if path == "main.m3u8" { return Self.master("hi", "mid", "low") }
            if path.hasSuffix("m3u8") { return Self.list(0..<8) }
            if ["hi/1.ts", "mid/1.ts", "hi/6.ts"].contains(path) { return .status(404) }
            try await clock.sleep(for: .seconds(1))
            return Self.media
        }
        #expect(outcome.urls("/1.ts") == ["hi/1.ts", "hi/1.ts", "mid/1.ts", "mid/1.ts", "low/1.ts"])
        #expect(outcome.urls("/6.ts") == ["hi/6.ts", "hi/6.ts", "\(place)/6.ts"])
        #expect(outcome.result?.gaps.isEmpty == true)
    }

    // MARK: Live

    @Test("a segment listed before it exists is waited for, up to some target durations", arguments: [1, 3, 5])
    func liveEdge(_ count: Int) throws {
        let outcome = try Self.run(RetryPolicies(liveEdgeTargetDurations: count)) { path, clock in
            if path == "main.m3u8" { return Self.list(0..<3, ends: clock.now.offset > .seconds(30)) }
            return path == "2.ts" ? .status(404) : Self.media
        }
        let last = try #require(outcome.times("/2.ts").last)
        #expect(last <= .seconds(4 * count) && last > .seconds(4 * count - 1))
        #expect(outcome.result?.segmentCount == 2 && outcome.result?.gaps.count == 1)
    }

    @Test("the limit of consecutive invalid reloads ends the download", arguments: [2, 4])
    func badReloads(_ limit: Int) throws {
        let outcome = try Self.run(RetryPolicies(badReloadLimit: limit)) { path, clock in
            guard path == "main.m3u8" else { return Self.media }
            return clock.now.offset < .seconds(1)
                ? Self.list(0..<3, ends: false) : .bytes(Array("<html>it works</html>".utf8))
        }
        #expect(outcome.times("main.m3u8").count == 1 + limit)
        #expect(outcome.result?.failure?.code == .badPlaylist && outcome.result?.segmentCount == 3)
    }

    @Test("reloads are retried while the budget for live streams lasts", arguments: [50, 90])
    func liveBudget(_ seconds: Int) throws {
        let outcome = try Self.run(RetryPolicies(liveBudget: .seconds(seconds))) { path, clock in
            guard path == "main.m3u8" else { return Self.media }
            return clock.now.offset < .seconds(1) ? Self.list(0..<3, ends: false) : .status(503)
        }
        let times = outcome.times("main.m3u8")
        let time = try #require(times.last) - (times.dropFirst().first ?? .zero)
        #expect(time <= .seconds(seconds) && time > .seconds(seconds - 3))
        #expect(outcome.result?.failure?.code == .network && outcome.result?.segmentCount == 3)
    }

    @Test("R40: a hanging reload times out within the window's limit")
    func reloadTimeout() throws {
        let outcome = try Self.run(RetryPolicies()) { path, clock in
            path == "main.m3u8" ? Self.list(0..<3, ends: clock.now.offset > .seconds(7)) : Self.media
        }
        let timeouts = outcome.requests.filter { $0.url == Self.url }.map(\.timeout)
        #expect(timeouts.count > 2 && timeouts[0] == nil && timeouts.dropFirst().allSatisfy { $0 == .seconds(8) })
    }

    @Test("R41: a stream without new segments is followed for a minute, or ten target durations")
    func stale() throws {
        let outcome = try Self.run(RetryPolicies()) { path, _ in
            path == "main.m3u8" ? Self.list(0..<3, ends: false) : Self.media
        }
        let last = try #require(outcome.times("main.m3u8").last)
        #expect((.seconds(60)...Duration.seconds(63)).contains(last))
        #expect(outcome.result?.failure?.code == .staleLive && outcome.result?.segmentCount == 3)
    }

    @Test("R74: endless playlists without changes count as unsuccessful requests")
    func unchanged() throws {
        let outcome = try Self.run(RetryPolicies(unsuccessfulRequestTotal: 5)) { path, _ in
            path == "main.m3u8" ? Self.list(0..<3, ends: false) : Self.media
        }
        #expect(outcome.times("main.m3u8").count == 1 + 5)
        #expect(outcome.result?.failure?.code == .network && outcome.result?.segmentCount == 3)
    }

    @Test("a refusal that comes twice is retried if others were served meanwhile", arguments: [403, 401], [1, 6])
    func refused(status: Int, connectionCount: Int) throws {
        let requests = Recorder<String>()
        let download = try Self.run(RetryPolicies(), connectionCount: connectionCount) {
            (path: String, clock: VirtualClock) -> Answer in
            requests.append(path, at: .zero)
            if path == "main.m3u8" { return Self.list(0..<8) }
            if path == "3.ts", requests.elements.count(where: { $0 == path }) <= 2 { return .status(status) }
            try await clock.sleep(for: .milliseconds(100))
            return Self.media
        }
        #expect(download.error == nil)
        #expect(download.result?.segmentCount == 8 && download.result?.gaps.isEmpty == true)
    }
}

extension ScriptedDownload {
    fileprivate func times(_ ending: String) -> [Duration] {
        requests.filter { $0.url.hasSuffix(ending) }.map(\.time)
    }

    fileprivate func urls(_ ending: String) -> [String] { files(of: "a.example", endingIn: ending) }
}
