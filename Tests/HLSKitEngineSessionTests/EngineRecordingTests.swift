import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@Suite("Engine, recordings")
struct EngineRecordingTests {
    private static func preferences(isFixed: Bool = false) -> PlayerItemPreferences {
        var preferences = PlayerItemPreferences()
        preferences.variantPolicy = .best(isFixed: isFixed)
        return preferences
    }

    /// The best variant is not the first one: 1 and 3 Mbit/s.
    private static func origin(count: Int = 20) -> ScriptedOrigin {
        var origin = ScriptedOrigin.multivariant(["b": 1_000_000, "a": 3_000_000])
        for name in ["a", "b"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: count, prefix: name, isEnded: true)))
        }
        return origin
    }

    @Test("a recording selects the best variant and keeps it on a slow link", arguments: [true, false])
    func keeps(isPaced: Bool) {
        var origin = Self.origin()
        // The link has a fifth of the required bandwidth.
        origin.media = { _ in .media(1_500_000) }
        origin.bytesPerSecond = { _ in 75_000 }
        var harness = EngineHarness.playing("main.m3u8", from: origin, preferences: Self.preferences()) {
            $0.pacing = isPaced ? .realTime : .unpaced
        }
        harness.runToEnd(by: .seconds(3600))
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence == [1])
        #expect(harness.loadedSegments == (0..<20).map { "a\($0).ts" })
        #expect(harness.violations.isEmpty)
    }

    @Test("a missing segment comes from another variant; the best one returns after a minute of media")
    func comesBack() {
        var origin = Self.origin(count: 40)
        origin.media = { $0.path == "a5.ts" ? .status(404) : .media(100_000) }
        var harness = EngineHarness.playing("main.m3u8", from: origin, preferences: Self.preferences()) {
            $0.pacing = .unpaced
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence == [1, 0, 1])
        #expect(harness.loadedSegments == (0..<40).map { (5..<20).contains($0) ? "b\($0).ts" : "a\($0).ts" })
        #expect(harness.skippedSequences.isEmpty)
    }

    @Test("only the segment that no variant has is lost", arguments: [[5], [3, 11, 12, 35]])
    func goneEverywhere(gone: [Int]) {
        var origin = ScriptedOrigin.multivariant(["c": 500_000, "b": 1_000_000, "a": 3_000_000])
        for name in ["a", "b", "c"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 40, prefix: name, isEnded: true)))
        }
        origin.media = { request in
            let number = Int(request.path.dropFirst().prefix { $0.isNumber }) ?? 0
            return gone.contains(number) ? .status(404) : .media(100_000)
        }
        // On this fast link, a minute of media is in flight before the missing segment is known.
        var harness = EngineHarness.playing("main.m3u8", from: origin, preferences: Self.preferences()) {
            $0.pacing = .unpaced
            $0.parallelLoading.connections = 30
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Set(harness.skippedSequences) == Set(gone.map { $0...$0 }))
        let best = (0..<40).filter { !gone.contains($0) }.map { "a\($0).ts" }
        #expect(Set(harness.loadedSegments.suffix(20)).isSubset(of: best))
        #expect(Set(best).isSubset(of: harness.loadedSegments))
        #expect(harness.variantSequence.count <= 1 + 3 * gone.count)
        #expect(harness.violations.isEmpty)
    }

    @Test("if the output cannot change formats, a missing segment is lost")
    func fixed() {
        var origin = Self.origin(count: 20)
        origin.media = { $0.path == "a5.ts" ? .status(404) : .media(100_000) }
        var harness = EngineHarness.playing("main.m3u8", from: origin, preferences: Self.preferences(isFixed: true)) {
            $0.pacing = .unpaced
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.variantSequence == [1])
        #expect(harness.skippedSequences == [5...5])
    }

    @Test("before its first media, a fixed output may be given another variant for good")
    func fixedLater() {
        var origin = Self.origin(count: 4)
        origin.answer("a.m3u8", .status(404))
        var harness = EngineHarness.playing("main.m3u8", from: origin, preferences: Self.preferences(isFixed: true)) {
            $0.pacing = .unpaced
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.loadedSegments == (0..<4).map { "b\($0).ts" })
    }

    @Test("a live stream that is too fast for the link falls back to a lower variant before losing media")
    func live() {
        var origin = ScriptedOrigin.multivariant(["b": 1_000_000, "a": 3_000_000])
        for name in ["a", "b"] {
            var broadcast = Broadcast()
            broadcast.prefix = name
            broadcast.laterCount = 40
            origin.broadcast("\(name).m3u8", broadcast)
        }
        origin.media = { .media($0.path.hasPrefix("a") ? 1_500_000 : 500_000) }
        origin.bytesPerSecond = { _ in 250_000 }
        var harness = EngineHarness.playing("main.m3u8", from: origin, preferences: Self.preferences()) {
            $0.pacing = .unpaced
            $0.parallelLoading.connections = 1
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.missedSequences.isEmpty && harness.skippedSequences.isEmpty)
        #expect(harness.variantSequence == [1, 0])
        #expect(harness.loadedSegments.first?.hasPrefix("a") == true)
    }

    // MARK: Nothing to play

    @Test("an item that consists only of gaps fails")
    func onlyGaps() {
        let origin = ScriptedOrigin.vod(count: 3) { text in
            for index in text.segments.indices { text.segments[index].tags.append("#EXT-X-GAP") }
        }
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.cause == "every segment is missing")
        #expect(!harness.didPlayToEnd)
    }

    @Test("an item whose segments are all unreadable fails, although its tracks are known")
    func unreadable() {
        var origin = ScriptedOrigin.vod(count: 3)
        let failure = SegmentFailure.media(MediaError(code: .malformed, text: "cut off"))
        origin.media = { _ in .spoiled(failure) }
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .badMedia)
        #expect(!harness.didPlayToEnd)
    }
}
