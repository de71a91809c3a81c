import HLSKitEngine
import HLSKitMedia
import HLSKitPlayback
import HLSKitSimulation
import TestSupport
import Testing

/// The stream has twelve segments of four parts. Eight exist at the start, and four are made during loading.
@Suite("Preload hints over a socket", .timeLimit(.minutes(10)))
struct PreloadHintSocketTests {
    private static func play(
        _ addressing: LowLatencyOrigin.Addressing, breakCount: Int = 0
    ) async throws -> (play: Play, media: [String]) {
        var origin = LowLatencyOrigin()
        origin.addressing = addressing
        origin.segmentCount = 12
        let server = try SteppedLowLatencyServer(origin, breakCount: breakCount)
        defer { server.stop() }
        var configuration = PlayerConfiguration.unpaced()
        configuration.decodesWithoutOutput = [.video]
        let play = try await Play.toEnd(PlayerItem(urlString: server.url), configuration)
        #expect(play.error == nil)
        #expect(play.didPlayToEnd)
        #expect(play.losses.isEmpty)
        #expect(play.state.statistics.numberOfDamagedSamples == 0)
        return (play, server.media)
    }

    @Test("M05: an open range delivers a segment's partial segments as they are made, in one response")
    func ranges() async throws {
        let (play, media) = try await Self.play(.ranges)
        let open = media.filter { $0.hasSuffix("-") || !$0.contains(" ") }
        #expect((3...6).contains(open.count), "\(media)")
        let parts = play.segments.filter { $0.mediaDuration == .milliseconds(500) }
        #expect(parts.count >= 16)
        // Requests are for parts listed at the start, and once for each of four segments. The last segment may also be
        // requested whole, because its playlist has ended.
        #expect(media.count <= open.count + 4, "\(media)")
        let made = open.filter { !$0.hasSuffix("/11.m4s") }
        #expect(Set(made).count == made.count, "\(media)")
    }

    @Test("M05: after a lost connection in a growing range, the rest arrives over another one")
    func resets() async throws {
        let (play, media) = try await Self.play(.ranges, breakCount: 2)
        let whole = try await Self.play(.ranges)
        #expect(
            play.state.statistics.numberOfDecodedVideoFrames == whole.play.state.statistics.numberOfDecodedVideoFrames)
        #expect(media.count == whole.media.count + 2, "\(media)")
        // The new request starts at the missing byte, which is in the middle of a part.
        #expect(media.contains { $0.hasSuffix("-") && !whole.media.contains($0) }, "\(media)")
    }

    @Test("M05: partial segments with their own files arrive in chunks, each requested once")
    func files() async throws {
        let (play, media) = try await Self.play(.files)
        #expect(Set(media).count == media.count, "\(media)")
        #expect(play.segments.count >= 18)
    }
}
