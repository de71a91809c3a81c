import Foundation
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

private final class TimedWriter: FrameWriter, AudioWriter {
    struct Entry: Sendable {
        var item: Double
        var host: Double
        /// The hash in the form of ``SampleMedia/frameHashes(of:)``, or empty for audio.
        var hash = ""
    }

    let mediaTypes: Set<MediaKind> = [.video, .audio]
    private let clock: VirtualClock
    private let state = Mutex<[Entry]>([])

    init(_ clock: VirtualClock) { self.clock = clock }

    var entries: [Entry] { state.withLock { $0 } }

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        let hash = String(try frame.digest().prefix(8))
        note(frame.itemTime, hash: hash)
    }

    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) { note(buffer.itemTime, hash: "") }

    func begin(_ tracks: [MediaTrack]) {}
    func flush() {}
    func finish() {}

    private func note(_ time: MediaTime?, hash: String) {
        let entry = Entry(item: time?.seconds ?? .nan, host: clock.now.offset.seconds, hash: hash)
        state.withLock { $0.append(entry) }
    }
}

@Suite("I-frames of a player", .timeLimit(.minutes(10)))
struct PlayerTrickPlayTests {
    /// Returns the sample with an I-frame playlist. Each entry is the start of a segment of four seconds, cut at an
    /// arbitrary position after the frame.
    private static func bench(
        withFrames: Bool = true, _ change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> (bench: VirtualBench, writer: TimedWriter) {
        let media = try SampleMedia.rendition("video-180p")
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:4", "#EXT-X-I-FRAMES-ONLY"]
        lines.append("#EXT-X-MAP:URI=\"i-init.mp4\"")
        var files = ["i-init.mp4": media.initializationSection]
        for (index, segment) in media.segments.enumerated() {
            files["i\(index).m4s"] = Array(segment.prefix(segment.count / 2 + index))
            lines += ["#EXTINF:\(media.durations[index]),", "i\(index).m4s"]
        }
        files["i.m3u8"] = Array((lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").utf8)
        let sample = try String(contentsOfFile: SampleMedia.folder + "/master.m3u8", encoding: .utf8)
        let iFrames = "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=40000,CODECS=\"avc1.4d400d\",URI=\"i.m3u8\"\n"
        files["trick.m3u8"] = Array((sample + (withFrames ? iFrames : "")).utf8)
        let bench = try VirtualBench("trick.m3u8", files: files, change: change)
        let writer = TimedWriter(bench.clock)
        bench.item.add(writer)
        return (bench, writer)
    }

    @Test(
        "G11: at 8 I-frames arrive at their time without audio; at 1 the media continues from there"
    )
    func forward() throws {
        let (bench, writer) = try Self.bench()
        let keeper = EventKeeper(bench.player)
        let results = try bench.play { bench in
            try await bench.pass(.seconds(2))
            let flags = [bench.item.canPlayFastForward, bench.item.canPlayReverse, bench.item.canPlaySlowForward]
            bench.player.rate = 8
            let before = writer.entries.count
            try await bench.pass(.seconds(3))
            let state = bench.player.state
            let during = Array(writer.entries.dropFirst(before))
            bench.player.rate = 1
            let place = bench.time
            try await bench.pass(.seconds(3))
            return (flags, state, during, place, Array(writer.entries.dropFirst(before + during.count)), bench.time)
        }
        #expect(results.0 == [true, true, true])
        #expect(results.1.rate == 8)
        #expect(results.1.timebaseRate == 8)
        let hashes = try SampleMedia.frameHashes(of: "180p")
        let frames = results.2
        // The frame at the current position, then one every four seconds.
        #expect(frames.map(\.item).map { Int($0.rounded()) } == Array(stride(from: 0, to: 4 * frames.count, by: 4)))
        #expect(frames.count >= 5)
        for frame in frames { #expect(frame.hash == hashes[Int((frame.item * 25).rounded())]) }
        for (one, next) in zip(frames.dropFirst(), frames.dropFirst(2)) {
            #expect(abs(next.host - one.host - 0.5) < 0.001)
        }
        let place = results.3
        let media = results.4.filter { !$0.hash.isEmpty }
        #expect(abs(try #require(media.first).item - place) < 0.041)
        for (one, next) in zip(media, media.dropFirst()) { #expect(abs(next.item - one.item - 0.04) < 0.001) }
        #expect(results.4.contains { $0.hash.isEmpty && $0.item > place })
        #expect((place + 2...place + 3).contains(results.5))
        let events = try bench.clock.run { await keeper.all() }
        #expect(!events.story.contains("stalled"))
        #expect(events.rates.suffix(2) == ["8.0 setRateCalled", "1.0 setRateCalled"])
        #expect(!events.contains { if case .timeJumped = $0.kind { true } else { false } })
    }

    @Test(
        "C12: JPEG I-frames are played, each as ffmpeg decodes it",
        .enabled(if: FFmpegFrames.isThere))
    func jpeg() throws {
        let file = try FragmentedFile(SampleImages.fixture("mjpg-iframes.mp4"))
        let hashes = try FFmpegFrames.hashes(of: "\(SampleMedia.fixtures)/media/mjpg-iframes.mp4").map {
            $0.prefix(8)
        }
        let sample = try String(contentsOfFile: SampleMedia.folder + "/master.m3u8", encoding: .utf8)
        let line = "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5000,CODECS=\"mjpg\",RESOLUTION=160x90,URI=\"j.m3u8\"\n"
        let bench = try VirtualBench(
            "trick.m3u8",
            files: [
                "j.mp4": file.bytes, "j.m3u8": Array(file.iFramePlaylist(named: "j.mp4", seconds: 4).utf8),
                "trick.m3u8": Array((sample + line).utf8),
            ])
        let writer = TimedWriter(bench.clock)
        bench.item.add(writer)
        let frames = try bench.play { bench in
            try await bench.pass(.seconds(2))
            bench.player.rate = 8
            let before = writer.entries.count
            try await bench.pass(.seconds(3))
            return Array(writer.entries.dropFirst(before))
        }
        #expect(frames.count >= 5)
        for (number, frame) in frames.enumerated() {
            #expect(abs(frame.item - Double(number * 4)) < 0.001)
            #expect(frame.hash == hashes[number])
        }
    }

    @Test("G11: at -4 I-frames arrive backwards, each at its time, and the rate is 0 at the start")
    func reverse() throws {
        let (bench, writer) = try Self.bench()
        let output = VideoOutput()
        try bench.item.add(output)
        let keeper = EventKeeper(bench.player)
        let results = try bench.play { bench in
            _ = try await bench.seek(30_000)
            bench.player.pause()
            try await bench.pass(.seconds(1))
            let before = writer.entries.count
            bench.player.rate = -4
            try await bench.pass(.seconds(3))
            let state = bench.player.state
            let pulled = try output.copyFrame(for: state.currentTime)?.displayTime.seconds
            try await bench.pass(.seconds(7))
            return (state, pulled, Array(writer.entries.dropFirst(before)), bench.player.state, bench.item.status)
        }
        #expect(results.0.timebaseRate == -4)
        let now = results.0.currentTime.seconds
        #expect((17...22).contains(now))
        #expect(results.1 == (now / 4).rounded(.up) * 4)
        let hashes = try SampleMedia.frameHashes(of: "180p")
        let frames = results.2
        #expect(frames.map(\.item).map { Int($0.rounded()) } == [28, 24, 20, 16, 12, 8, 4, 0])
        for frame in frames { #expect(frame.hash == hashes[Int((frame.item * 25).rounded())]) }
        for (one, next) in zip(frames, frames.dropFirst()) { #expect(abs(next.host - one.host - 1) < 0.001) }
        #expect(results.3.rate == 0)
        #expect(results.3.currentTime.seconds == 0)
        #expect(results.3.timeControlStatus == .paused)
        let events = try bench.clock.run { await keeper.all() }
        #expect(events.rates.suffix(2) == ["-4.0 setRateCalled", "0.0 reachedStart"])
        #expect(events.story.suffix(3) == ["playing", "didPlayToEnd", "paused"])
    }

    @Test("G11: without an I-frame playlist the item's flags say so")
    func without() throws {
        let (bench, _) = try Self.bench(withFrames: false)
        let flags = try bench.play { bench in
            let early = bench.item.canPlaySlowForward
            try await bench.pass(.seconds(2))
            let item = bench.item
            return [
                early, item.canPlayFastForward, item.canPlayReverse, item.canPlaySlowReverse, item.canPlayFastReverse,
                item.canPlaySlowForward,
            ]
        }
        #expect(flags == [false, false, false, false, false, true])
    }

    @Test("H08: the reverse end time does not affect forward playback, and is copied")
    func endTimes() throws {
        let (bench, writer) = try Self.bench()
        #expect(bench.item.reversePlaybackEndTime == nil)
        bench.item.reversePlaybackEndTime = MediaTime(value: 10, timescale: 1)
        #expect(bench.item.copy().reversePlaybackEndTime?.seconds == 10)
        let (start, end) = try bench.play { bench in
            try await bench.pass(.seconds(2))
            let start = bench.time
            _ = try await bench.seek(20_000)
            bench.player.rate = -8
            try await bench.pass(.seconds(4))
            return (start, bench.player.state)
        }
        #expect(start > 1)
        #expect(end.currentTime.seconds == 10)
        #expect(end.rate == 0)
        #expect(writer.entries.last?.item == 12)
    }
}
