import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Engine, failures")
struct EngineFailureTests {
    private static func names(_ prefix: String, _ range: Range<Int> = 0..<10) -> [String] {
        range.map { "\(prefix)\($0).ts" }
    }

    private static func began(_ path: String, in harness: EngineHarness) -> [Duration] {
        harness.requests(of: path).map(\.began)
    }

    // MARK: Breaks

    @Test(
        "a film skips a break of eight unavailable segments, whatever their fault",
        arguments: [0, 1, 2, 3])
    func deadBreak(fault: Int) {
        let replies: [ScriptedOrigin.Reply] = [
            .status(404), .status(503), .failure(.cannotConnect), .failure(.timedOut),
        ]
        var origin = ScriptedOrigin.vod(count: 18) { text in
            for index in 4..<12 {
                text.segments[index] = .init("ad/\(index).ts", tags: index == 4 ? ["#EXT-X-DISCONTINUITY"] : [])
            }
            text.segments[12].tags = ["#EXT-X-DISCONTINUITY"]
        }
        origin.media = { $0.path.hasPrefix("ad/") ? replies[fault] : .media(100_000) }
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.loadedSegments == Self.names("s", 0..<4) + Self.names("s", 12..<18))
        #expect(harness.statistics.numberOfSkippedSegments == 8)
        #expect(harness.now < .seconds(4 * 18 + 30))
    }

    @Test("the player waits for a failing server as usual, even if a break follows")
    func outageBeforeBreak() {
        var origin = ScriptedOrigin.vod(count: 12) { text in
            for index in 8..<12 {
                text.segments[index] = .init("ad/\(index).ts", tags: index == 8 ? ["#EXT-X-DISCONTINUITY"] : [])
            }
        }
        origin.media = { (.seconds(5)..<(.seconds(20))).contains($0.time) ? .status(503) : .media(100_000) }
        origin.bytesPerSecond = { _ in 25_000 }
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.statistics.numberOfSkippedSegments == 0)
    }

    // MARK: Segments

    @Test("R1: a segment that is missing once is requested again after half a second")
    func transientAbsence() {
        var origin = ScriptedOrigin.twoVariants()
        origin.answer("a3.ts", .status(404), .media(100_000))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments == Self.names("a"))
        let tries = Self.began("a3.ts", in: harness)
        #expect(tries.count == 2)
        #expect(tries.last.map { $0 - tries[0] } == .milliseconds(520))
    }

    @Test("O08: each failure reports its attempt number, and the final error reports the attempts")
    func attempts() {
        var origin = ScriptedOrigin.vod()
        origin.answer("s3.ts", .status(503), .status(503), .media(100_000))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        let errors = harness.events.compactMap { event -> HLSError? in
            if case .recoverableError(let error) = event.kind { error } else { nil }
        }
        #expect(errors.map(\.attempt) == [1, 2])
        #expect(errors.map(\.statusCode) == [503, 503])

        origin.answer("vod.m3u8", .status(503))
        harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.attempt == harness.requests(of: "vod.m3u8").count)
        #expect(harness.error?.isPermanent == false)
    }

    @Test("E16, R2: a missing segment comes from another variant; the first variant is avoided for a minute")
    func absentSegment() {
        var origin = ScriptedOrigin.twoVariants(count: 40)
        origin.answer("a3.ts", .status(404))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.requests(of: "a3.ts").count == 2)
        let segments = harness.loadedSegments
        #expect(segments.map { $0.dropFirst() } == Self.names("a", 0..<40).map { $0.dropFirst() })
        #expect(segments[2...4] == ["a2.ts", "b3.ts", "b4.ts"])
        let left = harness.events.filter { if case .variantSwitched = $0.kind { true } else { false } }.map(\.time)
        #expect(harness.variantSequence == [0, 1, 0])
        #expect(left.count == 3 && left[2] - left[1] >= .seconds(60))
        #expect(harness.statistics.numberOfSkippedSegments == 0)
    }

    @Test("R30: with 2,000 variants one media playlist is requested; with 2,001 the playlist is refused")
    func manyVariants() {
        for count in [2000, 2001] {
            var origin = ScriptedOrigin()
            var text = "#EXTM3U\n"
            for number in 0..<count { text += "#EXT-X-STREAM-INF:BANDWIDTH=\(1_000_000 + number)\nv\(number).m3u8\n" }
            origin.answer("main.m3u8", .text(text))
            origin.answer("v0.m3u8", .text(.numbered(0, count: 3, isEnded: true)))
            var harness = EngineHarness.playing("main.m3u8", from: origin)
            harness.run(until: .seconds(1)) { !$0.mediaPaths.isEmpty }
            let paths = harness.requests.map(\.path).filter { $0.hasSuffix(".m3u8") }
            #expect(paths == (count == 2000 ? ["main.m3u8", "v0.m3u8"] : ["main.m3u8"]))
            #expect(harness.error?.code == (count == 2000 ? nil : .refused))
        }
    }

    @Test("R3: a segment that no variant has is skipped after two attempts in each")
    func absentEverywhere() {
        var origin = ScriptedOrigin.twoVariants()
        origin.answer("a3.ts", .status(404))
        origin.answer("b3.ts", .status(410))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.requests(of: "a3.ts").count == 2)
        #expect(harness.requests(of: "b3.ts").count == 2)
        #expect(harness.skippedSequences == [3...3])
        #expect(harness.loadedSegments.count == 9)
        #expect(harness.statistics.numberOfSkippedSegments == 1)
        #expect(harness.statistics.skippedDuration == .seconds(4))
    }

    @Test("a stream without a loadable segment fails with the cause of the last failure")
    func nothingToBeHad() {
        var origin = ScriptedOrigin.twoVariants()
        origin.media = { _ in .status(404) }
        for configure in [{ (_: inout EngineConfiguration) in }, { $0.pacing = .unpaced }] {
            var harness = EngineHarness.playing("main.m3u8", from: origin, configure)
            harness.runToEnd()
            #expect(!harness.didPlayToEnd)
            #expect(harness.error?.code == .notFound)
            #expect(harness.error?.detail == "HTTP 404")
        }
    }

    @Test("a variant with the same playlist is not used as an alternative")
    func sharedPlaylist() {
        var origin = ScriptedOrigin.multivariant(["a": 3_000_000, "b": 1_000_000])
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=3000000
                a.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=3100000
                a.m3u8
                """))
        origin.answer("a.m3u8", .text(.numbered(0, count: 5, prefix: "a", isEnded: true)))
        origin.answer("a3.ts", .status(404))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.skippedSequences == [3...3])
        #expect(harness.requests(of: "a3.ts").count == 2)

        origin.answer("a.m3u8", .status(404))
        harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .notFound)
        #expect(harness.requests(of: "a.m3u8").count <= 2)
    }

    @Test("R7: a failing server is asked less and less often, and another one after the second failure")
    func failingServer() {
        var origin = ScriptedOrigin.vod()
        origin.answer("s2.ts", .status(503), .status(500), .status(502), .media(100_000))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.loadedSegments == Self.names("s"))
        let tries = Self.began("s2.ts", in: harness)
        #expect(tries.count == 4)
        for (index, delay) in [0.5, 1, 2].enumerated() where tries.count == 4 {
            #expect((delay * 0.75...delay * 1.25 + 0.03).contains((tries[index + 1] - tries[index]).seconds))
        }
        origin = .twoVariants()
        origin.answer("a2.ts", .status(503))
        harness = .playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.requests(of: "a2.ts").count == 2)
        #expect(harness.loadedSegments.contains("b2.ts"))
    }

    @Test("R5: a Retry-After header is obeyed")
    func retryAfter() {
        var origin = ScriptedOrigin.vod()
        origin.answer("s2.ts", .status(429, retryAfter: .seconds(3)), .media(100_000))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        let tries = Self.began("s2.ts", in: harness)
        #expect(tries.count == 2 && tries[1] - tries[0] == .milliseconds(3_020))
    }

    @Test(
        "R8: a stream plays whole if every segment fails at the first attempt only",
        arguments: [ScriptedOrigin.Reply.status(503), .status(404), .failure(.connectionLost), .html])
    func everySegmentFailsFirst(failure: ScriptedOrigin.Reply) {
        var origin = ScriptedOrigin.vod()
        for name in Self.names("s") { origin.answer(name, failure, .media(100_000)) }
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments == Self.names("s"))
    }

    @Test(
        "R67, R68: a segment that is not media is requested again, then skipped; the others play", arguments: [0, 3, 9])
    func badSegment(index: Int) {
        var origin = ScriptedOrigin.vod()
        origin.answer("s\(index).ts", .html)
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.requests(of: "s\(index).ts").count == 2)
        #expect(harness.skippedSequences == [index...index])
        #expect(harness.loadedSegments.count == 9)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("R52: truncated ciphertext is loaded again")
    func truncatedCiphertext() {
        var origin = ScriptedOrigin.vod()
        origin.answer("s3.ts", .spoiled(.truncatedCiphertext), .media(100_000))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.loadedSegments == Self.names("s"))
    }

    @Test("a segment that spoils while the next one fails does not delay playback")
    func twoFailuresInOneLane() {
        var origin = ScriptedOrigin.vod()
        origin.answer("s3.ts", .html, .media(100_000))
        origin.answer("s4.ts", .status(503), .media(100_000))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments == Self.names("s"))
    }

    @Test("if media cannot be decoded here, another variant is used")
    func unsupportedMedia() {
        var origin = ScriptedOrigin.twoVariants()
        let unsupported = SegmentFailure.media(MediaError(code: .unsupported, text: "a codec nobody knows"))
        origin.answer("a0.ts", .spoiled(unsupported))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.loadedSegments == Self.names("b"))
        origin.answer("b0.ts", .spoiled(unsupported))
        harness = .playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .badMedia)
        #expect(!harness.didPlayToEnd)
    }

    // MARK: First playlists

    @Test("R12, R31: a missing or invalid first playlist fails the item at once", arguments: [401, 403, 404, 410, nil])
    func badFirstPlaylist(status: Int?) {
        var origin = ScriptedOrigin()
        origin.answer("main.m3u8", status.map { .status($0) } ?? .html)
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd(by: .seconds(3))
        #expect(harness.error?.code == (status == nil ? .badPlaylist : .notFound))
        #expect(harness.requests.count == 1)
        #expect(harness.state.itemStatus == .failed)
        #expect(harness.state.rate == 0)
        #expect(harness.story.last == "paused")
    }

    @Test("R11: a first playlist that fails temporarily is requested again")
    func failingFirstPlaylist() {
        var origin = ScriptedOrigin.vod()
        let playlist = PlaylistText.numbered(0, count: 2, isEnded: true)
        origin.answer("vod.m3u8", .status(502), .failure(.connectionLost), .text(playlist))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.requests(of: "vod.m3u8").count == 3)
        origin.answer("vod.m3u8", .status(502))
        harness = .playing("vod.m3u8", from: origin)
        harness.runToEnd(by: .seconds(30))
        #expect(harness.error?.code == .network)
    }

    @Test("R32: a VOD playlist without segments is refused at the first attempt")
    func emptyPlaylist() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(count: 0))
        harness.runToEnd(by: .seconds(3))
        #expect(harness.error?.code == .badPlaylist)
        #expect(harness.requests.count == 1)
    }

    @Test("R29: a nested multivariant playlist is skipped; if all are nested, the item fails after a few requests")
    func nestedMultivariant() {
        var origin = ScriptedOrigin.twoVariants()
        let nested = ScriptedOrigin.Reply.text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmain.m3u8\n")
        origin.answer("a.m3u8", nested)
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.loadedSegments == Self.names("b"))
        origin.answer("b.m3u8", nested)
        harness = .playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .badPlaylist)
        #expect(harness.requests.count <= 5)
    }

    @Test(
        "R13, R19: a variant whose playlist cannot be loaded is abandoned",
        arguments: [ScriptedOrigin.Reply.html, .status(404), .status(403), .failure(.nameNotFound)])
    func brokenVariant(reply: ScriptedOrigin.Reply) {
        var origin = ScriptedOrigin.twoVariants()
        origin.answer("a.m3u8", reply)
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments == Self.names("b"))
        #expect(harness.requests(of: "a.m3u8").count == 1)
    }

    struct Dead: CustomTestStringConvertible {
        var reply: ScriptedOrigin.Reply
        var code: HLSError.Code
        var testDescription: String { "\(reply.body) is \(code.rawValue)" }
    }

    @Test(
        "an item whose variants are all dead fails with the cause",
        arguments: [
            Dead(reply: .status(404), code: .notFound), Dead(reply: .html, code: .badPlaylist),
            Dead(reply: .status(503), code: .network), Dead(reply: .failure(.cannotConnect), code: .network),
            Dead(reply: .failure(.refused), code: .refused),
            Dead(reply: .failure(.untrustedCertificate), code: .refused),
        ])
    func deadVariants(_ dead: Dead) {
        var origin = ScriptedOrigin.twoVariants()
        for name in ["a", "b"] { origin.answer("\(name).m3u8", dead.reply) }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd(by: .seconds(60))
        #expect(harness.isOver)
        #expect(harness.error?.code == dead.code)
        #expect(harness.mediaPaths.isEmpty)
        #expect(harness.violations.isEmpty)
    }

    @Test("an item without playable variants fails with the reasons")
    func nothingEligible() {
        var harness = EngineHarness.playing(
            "main.m3u8",
            from: {
                var origin = ScriptedOrigin()
                origin.answer(
                    "main.m3u8", .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"dvh1.05\"\na.m3u8\n"))
                return origin
            }()
        ) { $0.canPlayCodec = { _ in false } }
        harness.runToEnd(by: .seconds(1))
        #expect(harness.error?.code == .noEligibleVariant)
        #expect(harness.requests.count == 1)
    }

    // MARK: Keys and maps

    private static func encrypted(_ method: String = "AES-128") -> ScriptedOrigin {
        .vod { text in
            text.segments[0].tags = ["#EXT-X-KEY:METHOD=\(method),URI=\"key\"", "#EXT-X-MAP:URI=\"init.mp4\""]
        }
    }

    @Test("R50: a refused key fails the item; it is requested twice at most", arguments: [401, 403, 404])
    func refusedKey(status: Int) {
        var origin = Self.encrypted()
        origin.answer("key", .status(status))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd(by: .seconds(30))
        #expect(harness.error?.code == .contentKey)
        #expect(harness.error?.urlString == "https://host/key")
        #expect((1...2).contains(harness.requests(of: "key").count))
        #expect(harness.loadedSegments.isEmpty)
        #expect(!harness.story.contains("playing"))
    }

    @Test("R49: a key server that fails once delays the start and has no other effect")
    func failingKey() {
        var origin = Self.encrypted()
        origin.answer("key", .status(503), .failure(.timedOut), .media(16))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments == Self.names("s"))
        #expect(harness.requests(of: "s0.ts").count == 1)
    }

    @Test("N05: if a key override does not decrypt, the error names the segment, not the key URL")
    func unfitGivenKey() {
        var origin = Self.encrypted()
        origin.answer("s0.ts", .spoiled(.wrongKey))
        var harness = EngineHarness.playing("vod.m3u8", from: origin) {
            $0.keyRules.override = ContentKeyOverride(key: [UInt8](repeating: 1, count: 16))
        }
        harness.runToEnd(by: .seconds(30))
        #expect(harness.error?.code == .contentKey)
        #expect(harness.error?.cause == "the override key does not decrypt the segment")
        #expect(harness.error?.urlString == "https://host/s0.ts")
    }

    @Test("R50: a wrong key fails the item", arguments: [SegmentFailure.wrongKey, .badKey(byteCount: 17)])
    func unfitKey(failure: SegmentFailure) {
        var origin = Self.encrypted()
        origin.answer("s0.ts", .spoiled(failure))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd(by: .seconds(30))
        #expect(harness.error?.code == .contentKey)
        #expect(harness.error?.urlString == "https://host/key")
        let isKey = if case .wrongKey = failure { true } else { false }
        #expect(harness.requests(of: "key").count == (isKey ? 1 : 2))
    }

    @Test("R50: a key that is not a key once is loaded again")
    func passingBadKey() {
        var origin = Self.encrypted()
        origin.answer("s0.ts", .spoiled(.badKey(byteCount: 17)), .media(100_000))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd && harness.loadedSegments == Self.names("s"))
        #expect(harness.requests(of: "key").count == 2)
    }

    @Test(
        "R53: an unknown method is an error before any segment is requested", arguments: ["SAMPLE-AES-XYZ", "ROT-13"])
    func unknownMethod(method: String) {
        var harness = EngineHarness.playing("vod.m3u8", from: Self.encrypted(method))
        harness.runToEnd(by: .seconds(3))
        #expect(harness.error?.code == .contentKey)
        #expect(harness.mediaPaths.isEmpty)
    }

    @Test("R53: segments before an unknown encryption method are played")
    func unknownMethodLater() {
        var harness = EngineHarness.playing(
            "vod.m3u8", from: .vod { $0.segments[4].tags = [#"#EXT-X-KEY:METHOD=ROT-13,URI="key""#] })
        harness.runToEnd()
        #expect(harness.isOver)
        #expect(harness.error?.code == .contentKey)
        #expect(harness.loadedSegments == Self.names("s", 0..<4))
        #expect(harness.state.currentTime.seconds == 16)
        #expect(harness.story.suffix(2) == ["failedToPlayToEnd", "paused"])
        #expect(harness.requests(of: "key").isEmpty)
    }

    @Test("R70: a broken initialization section is loaded again before the item fails")
    func brokenMap() {
        var origin = Self.encrypted()
        let broken = SegmentFailure.badInitializationSection(MediaError(code: .malformed, text: "no moov"))
        origin.answer("s0.ts", .spoiled(broken), .media(100_000))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.requests(of: "init.mp4").count == 2)
        #expect(harness.loadedSegments == Self.names("s"))
    }

    @Test("a missing initialization section is looked for in another variant, then the item fails")
    func absentMap() {
        var origin = Self.encrypted()
        origin.answer("init.mp4", .status(404))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd(by: .seconds(60))
        #expect(harness.error?.code == .notFound || harness.error?.code == .network)
        #expect(harness.loadedSegments.isEmpty)
    }

    // MARK: Limits

    @Test("R74: unsuccessful requests are limited to 50 in five seconds and to 200 in all")
    func requestBucket() {
        var origin = ScriptedOrigin.vod(count: 1_000)
        origin.media = { _ in .status(404).after(.milliseconds(1)) }
        var harness = EngineHarness.playing("vod.m3u8", from: origin) {
            $0.retryPolicies.secondAttemptDelay = .zero
        }
        harness.runToEnd(by: .seconds(1_000))
        #expect(harness.isOver)
        // The 404s give up the origin before the request limit applies.
        #expect(harness.error?.code == .notFound)
        #expect(harness.requests.count <= 202)
        let times = harness.requests.map(\.began)
        for (index, time) in times.enumerated() {
            let count = times[index...].prefix { $0 - time < .seconds(5) }.count
            #expect(count <= 51)
        }
    }

    @Test("R74: an item that reaches the request limit fails with the server's last error")
    func causeOfLastRequest() {
        for (status, code) in [(404, HLSError.Code.notFound), (503, .network)] {
            var origin = ScriptedOrigin.vod(count: 1_000)
            origin.media = { _ in .status(status).after(.milliseconds(1)) }
            var harness = EngineHarness.playing("vod.m3u8", from: origin) {
                $0.retryPolicies.unsuccessfulRequestTotal = 6
                $0.retryPolicies.secondAttemptDelay = .zero
            }
            harness.runToEnd(by: .seconds(1_000))
            #expect(harness.error?.code == code)
            #expect(harness.requests.count <= 8)
        }
    }

    @Test("a segment that the safety rules refuse is skipped (R20, R55, R58)")
    func refusedSegment() {
        for code in [LoadingError.Code.refused, .untrustedCertificate] {
            var origin = ScriptedOrigin.vod()
            origin.answer("s5.ts", .failure(code))
            var harness = EngineHarness.playing("vod.m3u8", from: origin)
            harness.runToEnd()
            #expect(harness.error == nil)
            #expect(harness.didPlayToEnd)
            #expect(harness.skippedSequences == [5...5])
            #expect(harness.requests(of: "s5.ts").count == 1)
        }
    }

    @Test("an item whose segments are all refused fails as refused", arguments: [10, 400])
    func allRefused(count: Int) {
        for code in [LoadingError.Code.refused, .untrustedCertificate] {
            var origin = ScriptedOrigin.vod(count: count)
            origin.media = { _ in .failure(code) }
            var harness = EngineHarness.playing("vod.m3u8", from: origin)
            harness.runToEnd(by: .seconds(2_000))
            #expect(harness.error?.code == .refused)
            #expect(!harness.didPlayToEnd)
        }
    }

    @Test("media loaded before a failure is played")
    func playsWhatIsThere() {
        var origin = ScriptedOrigin.vod { text in
            text.segments[5].tags = [#"#EXT-X-KEY:METHOD=AES-128,URI="key""#]
        }
        origin.answer("key", .failure(.refused))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .refused)
        #expect(harness.state.currentTime.seconds == 20)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.story.suffix(2) == ["failedToPlayToEnd", "paused"])
    }
}
