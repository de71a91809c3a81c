import HLSKitCore
import TestSupport
import Testing

/// Each test runs in a separate process, so that no other test occupies the threads of the pool. The clock runs at ten
/// times real time, so 40 s of a live stream take 4 s.
@Suite("Live streams", .timeLimit(.minutes(10)))
struct PlayerLiveTests {
    @Test("M08: from the oldest segment of a sliding window to the end nothing is lost or repeated")
    func sliding() async {
        await #expect(processExitsWith: .success) { try await Self.everyFrame(.sliding) }
    }

    @Test("M08: from the start of an EVENT playlist to the end nothing is lost or repeated")
    func event() async {
        await #expect(processExitsWith: .success) { try await Self.everyFrame(.event) }
    }

    private static func everyFrame(_ kind: LiveOrigin.Kind) async throws {
        let (origin, writer, play) = try await play(kind, listed: 3) { $0.startPosition = .oldest }

        #expect(play.losses.isEmpty)
        #expect(writer.frames.map(\.hash) == (try SampleMedia.frameHashes(of: "180p")))
        #expect(writer.firstBreak == nil)
        #expect(writer.largestAudioGap < .microseconds(10))
        #expect(play.state.duration.isNumeric)
        for (name, times) in origin.playlistRequests {
            // Reloads wait half a target duration after an unchanged playlist, and a whole one otherwise (RFC 8216
            // §6.3.4).
            for (last, next) in zip(times, times.dropFirst()) {
                #expect(next - last > .milliseconds(1900), "\(name) at \(next)")
            }
        }
    }

    @Test("M01: without a preference playback starts three target durations before the edge")
    func holdBack() async {
        await #expect(processExitsWith: .success) {
            let (_, writer, play) = try await Self.play(.sliding, listed: 7) { _ in }

            #expect(play.losses.isEmpty)
            // Segments 2 to 6 are listed. Segment 4 starts 12 s before the end of the last one.
            #expect(writer.frames.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p")[400...]))
        }
    }

    private static func play(
        _ kind: LiveOrigin.Kind, listed: Int, _ change: (PlayerItem) -> Void
    ) async throws -> (LiveOrigin, CapturingWriter, Play) {
        let clock = FastClock(factor: 10)
        let origin = try LiveOrigin(kind, clock: clock, listed: listed)
        defer { origin.stop() }
        let writer = CapturingWriter()
        var configuration = PlayerConfiguration.unpaced()
        configuration.sourceClock = SourceClock(clock)
        let play = try await Play.toEnd(try PlayerItem(origin.url, to: writer, change), configuration)
        #expect(play.error == nil)
        #expect(play.didPlayToEnd)
        return (origin, writer, play)
    }
}
