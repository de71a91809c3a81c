import HLSKitCore
import HLSKitMedia
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitSimulation

/// Samples are remuxed while a break ahead of them is cancelled. No sample may be missing or repeated.
@Suite("Remuxing and breaks that come and go", .ownThread, .timeLimit(.minutes(10)))
struct BreakCopyTests {
    private final class Copies: SampleWriter {
        struct Places: Sendable {
            var frames: [Int] = []
            var audio: [Int] = []
        }

        let mediaTypes: Set<MediaKind>
        private let state = Mutex((tracks: [MediaKind](), places: Places()))
        var places: Places { state.withLock(\.places) }

        init(_ types: Set<MediaKind>) { mediaTypes = types }

        func begin(_ tracks: [MediaTrack]) { state.withLock { $0.tracks = tracks.map(\.mediaType) } }
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) {
            let time = itemTime.seconds
            state.withLock { state in
                if state.tracks[index] == .video {
                    state.places.frames.append(Int((time * 25).rounded()))
                } else {
                    state.places.audio.append(Int((time * 48_000 / 1024).rounded()))
                }
            }
        }
        func flush() {}
        func finish() {}
    }

    struct Way: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var decodes: Set<MediaKind> = []
        var pacing = PlayerConfiguration.Pacing.realTime
        var kilobitsPerSecond = 20_000
        var hasAudio = false
    }

    private static let ways = [
        Way(testDescription: "copied"),
        Way(testDescription: "copied and decoded", decodes: [.video]),
        Way(testDescription: "sound as well", hasAudio: true),
        Way(testDescription: "sound as well, and decoded", decodes: [.video, .audio], hasAudio: true),
        Way(testDescription: "as fast as it comes", pacing: .unpaced, kilobitsPerSecond: 450),
        Way(
            testDescription: "as fast as it comes, and decoded", decodes: [.video, .audio], pacing: .unpaced,
            kilobitsPerSecond: 450, hasAudio: true),
    ]

    private static func serve(_ request: SimulatedRequest) -> SimulatedResponse? {
        let path = request.urlString.prefix { $0 != "?" }
        guard path.hasPrefix("https://main.invalid/") else { return nil }
        switch path.dropFirst("https://main.invalid/".count) {
        case "index.m3u8":
            return .playlist(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",DEFAULT=YES,AUTOSELECT=YES,URI="a/index.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.42C00A,mp4a.40.2",AUDIO="a"
                0/index.m3u8

                """)
        case "a/index.m3u8":
            let segments = (0..<10).map { "#EXTINF:2.0,\n\($0).m4s\n" }.joined()
            return .playlist(
                "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n"
                    + "#EXT-X-MAP:URI=\"init.mp4\"\n\(segments)#EXT-X-ENDLIST\n")
        case "a/init.mp4":
            return SimulatedResponse(contentType: "audio/mp4", body: SyntheticMedia.audioInitializationSection)
        case let name where name.hasPrefix("a/"):
            guard let index = Int(name.dropFirst(2).prefix { $0 != "." }) else { return .notFound }
            return SimulatedResponse(
                contentType: "audio/mp4", body: SyntheticMedia.audioSegment(index, duration: .seconds(2)))
        default: return nil
        }
    }

    private static func play(
        _ way: Way, breakAt time: Double, act: @escaping @Sendable (Player, VirtualClock) async throws -> Void
    ) throws -> Copies.Places {
        let queue = try VirtualQueue(
            ["main": 20, "ad": 6], over: "1000,\(way.kilobitsPerSecond),20\n",
            change: {
                $0.decodesWithoutOutput = way.decodes
                $0.pacing = way.pacing
            }, answer: { way.hasAudio ? serve($0) : nil })
        let copies = Copies(way.hasAudio ? [.video, .audio] : [.video])
        try queue.clock.run {
            let item = queue.item("main", to: copies)
            let player = try Player(item: item, configuration: queue.configuration)
            let stream = player.events()
            let events = [BreakTests.event(at: time, ["ad"])]
            InterstitialEventController(primaryPlayer: player).setEvents(events, for: item)
            player.play()
            let user = Task(executorPreference: queue.clock) { try await act(player, queue.clock) }
            let end = Task(executorPreference: queue.clock) {
                try? await queue.clock.sleep(for: .seconds(120))
                await player.close()
            }
            for await event in stream where event.isLast { break }
            try await user.value
            end.cancel()
            await player.close()
        }
        return copies.places
    }

    private static func gaps(_ frames: [Int]) -> [String] {
        zip(frames, frames.dropFirst()).filter { $0.1 - $0.0 != 1 }.map { "\($0.0) \($0.1)" }
    }

    @Test(
        "a break removed around its time loses no sample, at or inside a segment",
        arguments: ways, [8.0, 7.0])
    func takenAway(_ way: Way, _ time: Double) throws {
        var (cutCount, wholeCount) = (0, 0)
        let isPaced = way.pacing == .realTime
        let moments = isPaced ? stride(from: -0.08, through: 0.32, by: 0.04) : stride(from: 2, through: 8, by: 0.75)
        for moment in moments.map({ time + $0 }) {
            let places = try Self.play(way, breakAt: time) { player, clock in
                try await clock.sleep(for: .seconds(moment))
                InterstitialEventController(primaryPlayer: player).events = []
            }
            let (frames, audio) = (places.frames, places.audio)
            let gaps = Self.gaps(frames)
            #expect(gaps.isEmpty, "at \(moment): \(frames.count) \(gaps)")
            #expect([500, 650].contains(frames.count), "at \(moment)")
            if frames.count == 650 { cutCount += 1 } else { wholeCount += 1 }
            guard way.hasAudio, frames.count == 500 else { continue }
            let silences = Self.gaps(audio)
            #expect(silences.isEmpty, "at \(moment): \(audio.count) \(silences)")
            #expect(audio.count == 938, "at \(moment)")
        }
        #expect(wholeCount > 2 && cutCount > 1, "\(wholeCount) \(cutCount)")
    }

    @Test(
        "a break removed and set again is written as if it had stayed",
        arguments: ways.filter { $0.pacing == .realTime })
    func setAgain(_ way: Way) throws {
        let events = [BreakTests.event(at: 7, ["ad"])]
        let places = try Self.play(way, breakAt: 7) { player, clock in
            let controller = InterstitialEventController(primaryPlayer: player)
            try await clock.sleep(for: .seconds(6.7))
            for pause in [0, 5, 20, 30, 45, 20, 30] {
                controller.events = []
                try await clock.sleep(for: .milliseconds(pause))
                controller.events = events
                try await clock.sleep(for: .milliseconds(15))
            }
        }
        #expect(Self.gaps(places.frames).isEmpty, "\(Self.gaps(places.frames))")
        #expect(places.frames.count == 650)
    }
}
