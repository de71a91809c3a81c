import Foundation
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitSimulation
import HLSKitTime
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("A stuck decoder", .timeLimit(.minutes(10)))
struct StuckDecoderTests {
    /// A decoder that returns nothing from one sample on, not even at the end.
    private final class StuckDecoder: VideoDecoding {
        private let decoder: VideoDecoder
        private let firstStuckPTS: Int64
        private var isStuck = false

        init(_ decoder: VideoDecoder, from pts: Int64) {
            self.decoder = decoder
            firstStuckPTS = pts
        }

        var skipsUnreferencedFrames: Bool {
            get { decoder.skipsUnreferencedFrames }
            set { decoder.skipsUnreferencedFrames = newValue }
        }
        var hasFirstFrame: Bool { !isStuck && decoder.hasFirstFrame }

        func decode(_ sample: MediaSample, to frames: inout [VideoFrame]) throws(CodecError) {
            if sample.pts >= firstStuckPTS { isStuck = true }
            if !isStuck { try decoder.decode(sample, to: &frames) }
        }

        func drain(to frames: inout [VideoFrame]) throws(CodecError) {
            if !isStuck { try decoder.drain(to: &frames) }
        }

        func decodeFirstFrame(to frames: inout [VideoFrame]) {
            if !isStuck { decoder.decodeFirstFrame(to: &frames) }
        }
    }

    /// Makes decoders. The first `stuckCount` of them are stuck from `second` of the media on.
    private final class Decoders: Sendable {
        private let made = Mutex(0)
        private let stuckCount: Int
        private let second: Int

        init(stuckCount: Int, from second: Int) {
            self.stuckCount = stuckCount
            self.second = second
        }

        var count: Int { made.withLock { $0 } }

        func make(_ track: MediaTrack, _ threadCount: Int) throws(CodecError) -> TrackDecoder? {
            guard track.mediaType == .video else { return try TrackDecoder.libavcodec(track, threadCount) }
            let number = made.withLock { made in
                made += 1
                return made
            }
            let decoder = try VideoDecoder(track: track, threadCount: 1)
            guard number <= stuckCount else { return .video(decoder) }
            let pts = second == 0 ? Int64.min : Int64(second) * Int64(track.timescale)
            return .video(StuckDecoder(decoder, from: pts))
        }
    }

    private struct Outcome: Sendable {
        var times: [Duration] = []
        var decoderCount = 0
        var damage: [String] = []
        var kinds: [PlayerEvent.Kind] = []
        /// The clock time at the end of the last frame, when the item has played or failed.
        var end: Duration?
        var error: HLSError?
        var logged: [String] = []

        var reported: [HLSError] {
            kinds.compactMap { if case .recoverableError(let error) = $0 { error } else { nil } }
        }
        var didPlayToEnd: Bool { kinds.contains { if case .didPlayToEnd = $0 { true } else { false } } }
    }

    /// Plays the sample's video with decoders that get stuck. The video is 40 s long with a sync sample every 4 s.
    private static func play(stuckCount: Int, from second: Int) throws -> Outcome {
        let (clock, notebook) = (VirtualClock(), Notebook())
        let decoders = Decoders(stuckCount: stuckCount, from: second)
        let network = NetworkTrace(constant: LinkConditions(bitsPerSecond: 10_000_000, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: network, clock: clock) { request in
            let name = String(request.urlString.split(separator: "/").last ?? "")
            guard let file = FileManager.default.contents(atPath: "\(SampleMedia.folder)/\(name)") else {
                return SimulatedResponse(status: 404)
            }
            return SimulatedResponse(body: [UInt8](file))
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.makeDecoder = { track, threadCount throws(CodecError) in
            try decoders.make(track, threadCount)
        }
        configuration.logger = notebook.logger(.info)
        let player = Player(configuration: configuration)
        let frames = FrameLog(clock: clock)
        let item = PlayerItem(urlString: "https://sample.invalid/video-180p.m3u8")
        item.add(frames)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        clock.advance(by: .seconds(60))
        return try clock.run {
            var outcome = Outcome()
            await player.close()
            for await event in events {
                outcome.kinds.append(event.kind)
                switch event.kind {
                case .didPlayToEnd, .itemStatusChanged(.failed): outcome.end = event.hostTime.offset
                default: break
                }
            }
            outcome.times = frames.frames.map(\.itemTime)
            outcome.decoderCount = decoders.count
            outcome.damage = notebook.lines.filter { $0.message == "media is damaged" }
                .map { "\($0.metadata["cause"] ?? "")" }
            outcome.error = item.error
            outcome.logged = item.errorLog?.events.compactMap(\.errorComment) ?? []
            return outcome
        }
    }

    @Test("F19: it restarts at the next sync sample; the missing media is reported and skipped")
    func nudged() throws {
        let found = try Self.play(stuckCount: 1, from: 4)
        #expect(found.decoderCount == 2)
        #expect(found.damage.count == 1)
        let line = try #require(found.damage.first)
        #expect(
            line.hasPrefix("no video can be decoded (") && line.hasSuffix("): the decoder was restarted"), "\(line)")
        #expect(found.reported.map(\.code) == [.badMedia])
        #expect(found.logged.contains { $0.contains("no video can be decoded") }, "\(found.logged)")
        let (before, after) = (found.times.filter { $0 < .seconds(8) }, found.times.filter { $0 >= .seconds(8) })
        #expect(before.count > 90 && before.allSatisfy { $0 < .seconds(4) })
        #expect(after.count == 800 && after.first == .seconds(8))
        #expect(found.didPlayToEnd && found.error == nil)
    }

    @Test("F19: a decoder that stays stuck is nudged and reported once, and the item plays to its end")
    func stuckAgain() throws {
        let found = try Self.play(stuckCount: .max, from: 4)
        #expect(found.decoderCount == 2)
        #expect(found.damage.count == 1)
        #expect(found.reported.map(\.code) == [.badMedia])
        #expect(found.times.count > 90 && found.times.allSatisfy { $0 < .seconds(4) })
        #expect(found.didPlayToEnd && found.error == nil)
        #expect(
            found.end.map { (.seconds(40)...Duration.seconds(43)).contains($0) } == true,
            "\(String(describing: found.end))")
    }

    @Test("F19: if no frame ever arrives, the item fails at its end, and the log has the reason")
    func neverGives() throws {
        let found = try Self.play(stuckCount: .max, from: 0)
        #expect(found.decoderCount == 2)
        #expect(found.times.isEmpty)
        #expect(!found.didPlayToEnd)
        #expect(found.error?.code == .badMedia)
        #expect(found.end.map { $0 >= .seconds(40) } == true, "\(String(describing: found.end))")
        #expect(found.kinds.contains { if case .itemStatusChanged(.failed) = $0 { true } else { false } })
        #expect(found.logged.contains { $0.contains("no video can be decoded") }, "\(found.logged)")
    }

    @Test("a working decoder is created once, and nothing is reported")
    func works() throws {
        let found = try Self.play(stuckCount: 0, from: 0)
        #expect(found.decoderCount == 1)
        #expect(found.times.count == 1000)
        #expect(found.damage.isEmpty && found.reported.isEmpty && found.didPlayToEnd)
    }
}
