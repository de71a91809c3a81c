import HLSKitCodec
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@Suite("Files wait for tracks that begin late", .timeLimit(.minutes(10)))
struct AwaitedTrackTests {
    private static let formats = [OutputFormat.mp4, .mkv]

    private static func write(
        _ fixture: PacketFixture, ofTrackAt index: Int, at seconds: Double, repeating count: Int = 1,
        to writer: any MediaWriter
    ) throws {
        let scale = Double(fixture.track.timescale)
        let first = fixture.samples.map(\.pts).min() ?? 0
        let length = fixture.samples.reduce(0) { $0 + $1.duration }
        for round in 0..<count {
            let offset = Int64(seconds * scale) - first + Int64(round) * length
            for sample in fixture.samples {
                try writer.write(
                    sample, ofTrackAt: index,
                    at: MediaTime(value: sample.pts + offset, timescale: fixture.track.timescale))
            }
        }
    }

    private static func kinds(_ name: String, in folder: TemporaryFolder) throws -> [MediaKind] {
        let reader = ContainerReader.Source(byteCount: Int64(try folder.bytes(name).count)) { offset, count in
            (try? folder.bytes(name)).map { Array($0.dropFirst(Int(offset)).prefix(count)) }
        }
        if name.hasSuffix("mkv") { return try ContainerReader(.matroska, source: reader).tracks.map(\.mediaType) }
        return try MP4InitializationSection(parsing: try folder.bytes(name)[...]).tracks.map(\.mediaType)
    }

    @Test("late audio or video is in the same file, if the item may have it", arguments: formats, [true, false])
    func late(_ format: OutputFormat, isAudioLate: Bool) throws {
        let (video, audio) = (try PacketFixture("h264-avcc"), try PacketFixture("aac"))
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("a.\(format.rawValue)"))
        let (first, second) = isAudioLate ? (video, audio) : (audio, video)
        (writer as? any TrackAwaitingWriter)?.awaitTracks(of: [.video, .audio])
        try writer.begin([first.track])
        try Self.write(first, ofTrackAt: 0, at: 0, repeating: 4, to: writer)
        try writer.begin([first.track, second.track])
        try Self.write(second, ofTrackAt: 1, at: 1, to: writer)
        try Self.write(first, ofTrackAt: 0, at: 6, to: writer)
        try writer.finish()
        #expect(folder.names == ["a.\(format.rawValue)"])
        #expect(try Set(Self.kinds(folder.names[0], in: folder)) == [.video, .audio])
    }

    @Test("the file begins without the track after 10 s, and at once if no track is awaited", arguments: [true, false])
    func limit(isAwaited: Bool) throws {
        let (video, audio) = (try PacketFixture("h264-avcc"), try PacketFixture("aac"))
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.mkv.makeWriter(path: folder.path("a.mkv"))
        let awaiting = try #require(writer as? any TrackAwaitingWriter)
        awaiting.awaitTracks(of: [.video, .audio])
        if !isAwaited { awaiting.awaitTracks(of: [.video]) }
        try writer.begin([video.track])
        try Self.write(video, ofTrackAt: 0, at: 0, to: writer)
        if isAwaited { try Self.write(video, ofTrackAt: 0, at: 10.1, to: writer) }
        try writer.begin([video.track, audio.track])
        try Self.write(audio, ofTrackAt: 1, at: 12, to: writer)
        try Self.write(video, ofTrackAt: 0, at: 12, repeating: 4, to: writer)
        try writer.finish()
        #expect(folder.names == ["a.2.mkv", "a.mkv"])
        #expect(try Self.kinds("a.mkv", in: folder) == [.video])
    }

    /// Returns a transport stream with video from `start` on, and with audio if there is any.
    private static func segment(
        _ tables: [PacketFixture], at start: Double, holding written: Int
    ) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try writer.begin(tables.map(\.track))
        for index in 0..<written { try write(tables[index], ofTrackAt: index, at: start, to: writer) }
        try writer.finish()
        return try folder.bytes("out")
    }

    enum Start: CaseIterable { case secondSegment, laterTables }

    @Test("audio that begins after the video is played into the same file", arguments: formats, Start.allCases)
    func played(_ format: OutputFormat, _ start: Start) throws {
        let tracks = [try PacketFixture("h264-annexb"), try PacketFixture("aac")]
        var files = ["b.ts": try Self.segment(tracks, at: 1.2, holding: 2)]
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:3\n"
        if start == .laterTables {
            // The first tables of the only segment do not name the audio.
            files["b.ts"] = try Self.segment([tracks[0]], at: 0, holding: 1) + (files["b.ts"] ?? [])
            text += "#EXTINF:2.4,\nb.ts\n#EXT-X-ENDLIST\n"
        } else {
            files["a.ts"] = try Self.segment(tracks, at: 0, holding: 1)
            text += "#EXTINF:1.2,\na.ts\n#EXTINF:1.2,\nb.ts\n#EXT-X-ENDLIST\n"
        }
        files["a.m3u8"] = Array(text.utf8)
        for isPaced in [true, false] {
            let sample = try VirtualSample(quality: nil, path: "a.m3u8", files: files) {
                if !isPaced { $0.pacing = .unpaced }
            }
            let folder = try TemporaryFolder()
            let writer = try format.makeWriter(path: folder.path("a.\(format.rawValue)"))
            sample.item.add(ClipWriter(writer, unlessBefore: MediaTime(value: 1, timescale: 1)))
            try sample.play()
            try writer.finish()
            #expect(folder.names == ["a.\(format.rawValue)"], "paced: \(isPaced)")
            #expect(try Set(Self.kinds(folder.names[0], in: folder)) == [.video, .audio], "paced: \(isPaced)")
        }
    }
}
