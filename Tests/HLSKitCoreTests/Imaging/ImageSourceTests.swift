import HLSKitCodec
import HLSKitEngine
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@Suite("Image sources", .timeLimit(.minutes(10))) struct ImageSourceTests {
    private static func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 1000) }

    // MARK: I-frame playlists

    /// Returns the sample with an I-frame playlist, whose entries end with the first frame of each segment.
    private static func withIFrames() throws -> (TableTransport, ranges: [Range<UInt64>]) {
        var table = try SampleImages.resources()
        let rendition = try SampleMedia.rendition("video-360p")
        let section = try MP4InitializationSection(parsing: rendition.initializationSection[...])
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-I-FRAMES-ONLY\n"
        text += "#EXT-X-MAP:URI=\"video-360p.mp4\",BYTERANGE=\"\(rendition.initializationSection.count)@0\"\n"
        var start = rendition.initializationSection.count
        var ranges: [Range<UInt64>] = []
        for segment in rendition.segments {
            var demuxer = FragmentedMP4Demuxer(initialization: section)
            var events: [DemuxerEvent] = []
            var count = 0
            while !events.contains(where: { if case .sample = $0 { true } else { false } }) {
                try demuxer.append(segment[count...count], to: &events)
                count += 1
            }
            text += "#EXTINF:4,\n#EXT-X-BYTERANGE:\(count)@\(start)\nvideo-360p.mp4\n"
            ranges.append(UInt64(start)..<UInt64(start + count))
            start += segment.count
        }
        table[SampleImages.base + "iframes.m3u8"] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        let line =
            "\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000,CODECS=\"avc1.4d401e\",RESOLUTION=640x360,URI=\"iframes.m3u8\"\n"
        table[SampleImages.master]? += Array(line.utf8)
        return (TableTransport(table), ranges)
    }

    @Test("L02: I-frame playlists are preferred: one byte range per image, and nothing else")
    func iFrames() async throws {
        let (transport, ranges) = try Self.withIFrames()
        let generator = SampleImages.generator(transport)
        generator.maximumSize = PixelSize(width: 160, height: 0)
        let results = await generator.collect([1, 5, 6.5, 39].map(Self.seconds))
        #expect(results.map { $0.actual?.seconds } == [0, 4, 8, 36])
        #expect(results.map { $0.image?.width } == [160, 160, 160, 160])
        let media = transport.requests.filter { $0.resourceClass == .segment }
        #expect(Set(media.map(\.byteRange)) == [ranges[0], ranges[1], ranges[2], ranges[9]])
        #expect(media.count == 4)
        #expect(transport.urls.count == 7)
    }

    @Test("L02: if I-frames are too far away, a variant provides the image")
    func iFramesTooFar() async throws {
        let (transport, _) = try Self.withIFrames()
        let generator = SampleImages.generator(transport)
        generator.setExact()
        generator.maximumSize = PixelSize(width: 160, height: 0)
        let results = await generator.collect([4, 5.2].map(Self.seconds))
        #expect(results.map { $0.actual?.seconds } == [4, 5.2])
        #expect(transport.urls.contains(SampleImages.base + "video-180p.m3u8"))
    }

    @Test("L01: a broken I-frame playlist is skipped", arguments: ["", "<html>", "#EXTM3U\n#EXT-X-ENDLIST\n"])
    func brokenIFrames(_ text: String) async throws {
        var table = try SampleImages.resources()
        table[SampleImages.base + "iframes.m3u8"] = Array(text.utf8)
        let line = "\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000,URI=\"iframes.m3u8\"\n"
        table[SampleImages.master]? += Array(line.utf8)
        let generator = SampleImages.generator(TableTransport(table))
        #expect(try await generator.image(at: Self.seconds(4)).actualTime == Self.seconds(4))
    }

    // MARK: Bare files

    /// Returns all frames of a bare file with the times at which a player shows them.
    private static func frames(of bytes: [UInt8], _ makeDemuxer: () -> any Demuxer) throws -> [(Duration, VideoFrame)] {
        var demuxer = makeDemuxer()
        var events: [DemuxerEvent] = []
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        var timeline = ItemTimeline()
        var tracks: [MediaTrack] = []
        var decoder: VideoDecoder?
        var placement: ItemTimeline.Placement?
        var frames: [VideoFrame] = []
        for event in events {
            if case .tracks(let found) = event { tracks = found }
            guard case .sample(let sample) = event, let track = tracks.first(where: { $0.id == sample.trackID }) else {
                continue
            }
            let placed = timeline.placement(
                for: 0, lane: .main, firstPTS: sample.pts, track: track, segmentStart: .zero)
            guard track.mediaType == .video else { continue }
            placement = placement ?? placed
            let known = try decoder ?? VideoDecoder(track: track)
            decoder = known
            try known.decode(sample, to: &frames)
        }
        try decoder?.drain(to: &frames)
        let offset = placement?.offset ?? .zero
        return frames.map { (ItemTimeline.duration($0.pts, $0.timescale) + offset, $0) }
    }

    struct File: Sendable, CustomStringConvertible {
        var name: String
        var demuxer: @Sendable () -> any Demuxer
        var twin: String?
        var description: String { name }
    }

    @Test(
        "L02: bare files give the exact frame of each time",
        arguments: [
            File(name: "ts-h264-aac.ts") { TransportStreamDemuxer() },
            File(name: "ts-192.m2ts") { TransportStreamDemuxer() },
            File(name: "mp4/progressive.mp4") { ProgressiveMP4Demuxer() },
            File(name: "mp4/moov-last.mp4", demuxer: { ProgressiveMP4Demuxer() }, twin: "mp4/progressive.mp4"),
            File(name: "mp4/indexed.mp4") { ProgressiveMP4Demuxer() },
            File(name: "mp4/avc-negative-cts.mp4") { FragmentedMP4Demuxer(initialization: nil) },
        ])
    func bareFile(_ file: File) async throws {
        let bytes = try SampleImages.fixture(file.name)
        let videoFrames = try Self.frames(of: try SampleImages.fixture(file.twin ?? file.name), file.demuxer)
        let url = SampleImages.base + file.name
        let generator = SampleImages.generator(TableTransport([url: bytes]), url: url)
        generator.setExact()
        let results = await generator.collect(videoFrames.map { MediaTime($0.0) })
        #expect(results.count == videoFrames.count && videoFrames.count > 5)
        for (result, (time, frame)) in zip(results, videoFrames) {
            #expect(result.actual == MediaTime(time))
            let image = try StillImage(frame)
            let isSame = result.image == image
            #expect(isSame, "at \(time)")
        }
    }

    @Test("L01: only the needed frames' samples are loaded from an MP4 file")
    func ranges() async throws {
        let bytes = try SampleImages.fixture("mp4/progressive.mp4")
        let url = SampleImages.base + "a.mp4"
        let transport = TableTransport([url: bytes], pieceByteCount: 512)
        let generator = SampleImages.generator(transport, url: url)
        let (_, actual) = try await generator.image(at: Self.seconds(0.2))
        #expect(actual == .zero)
        let media = transport.requests.last
        #expect(media?.byteRange?.count == 1549)
    }

    // MARK: Times

    @Test("L02: with inexact durations, a frame is found in the previous or next segment")
    func inexactDurations() async throws {
        let transport = try SampleImages.transport { table in
            let url = SampleImages.base + "video-180p.m3u8"
            let text = String(decoding: table[url] ?? [], as: UTF8.self)
            table[url] = Array(text.replacing("#EXTINF:4.000000", with: "#EXTINF:3.960000").utf8)
        }
        let generator = SampleImages.generator(transport, url: SampleImages.base + "video-180p.m3u8")
        generator.setExact()
        let results = await generator.collect([3.98, 7.96, 11.92].map(Self.seconds))
        #expect(results.map { $0.actual?.seconds } == [3.96, 7.96, 11.92])
    }

    @Test("L02: the time range equals the playlist's")
    func timeRange() async throws {
        let generator = SampleImages.generator(try SampleImages.transport())
        let range = try await generator.loadTimeRange()
        #expect(range == MediaTimeRange(start: .zero, duration: Self.seconds(40)))
    }
}
