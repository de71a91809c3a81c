import HLSKitCore
import Synchronization
import Testing

@Suite("Clips begin at 0")
struct ClipWriterTests {
    private final class Sink: SampleWriter {
        let mediaTypes: Set<MediaKind>
        private let log = Mutex<[String]>([])
        var lines: [String] { log.withLock { $0 } }

        init(_ mediaTypes: Set<MediaKind>) { self.mediaTypes = mediaTypes }

        func begin(_ tracks: [MediaTrack]) throws(HLSError) { log.withLock { $0.append("\(tracks.count) tracks") } }
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(HLSError) {
            log.withLock { $0.append("\(index) at \(itemTime.seconds)") }
        }
        func flush() {}
        func finish() throws(HLSError) { log.withLock { $0.append("end") } }
    }

    private static let tracks = [
        MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 1000),
        MediaTrack(id: 2, mediaType: .audio, codec: .aac, timescale: 1000),
    ]

    private func write(_ items: [(index: Int, milliseconds: Int64)], to writer: ClipWriter) throws {
        for item in items {
            let sample = MediaSample(
                trackID: item.index, pts: item.milliseconds, dts: item.milliseconds, isSync: true, data: SampleData([0])
            )
            try writer.write(
                sample, ofTrackAt: item.index, at: MediaTime(value: item.milliseconds, timescale: 1000))
        }
    }

    @Test("the earliest sample is at 0, whichever arrives first, and offsets are kept")
    func bothKinds() throws {
        let sink = Sink([.video, .audio])
        let writer = ClipWriter(sink, startingAt: MediaTime(value: 60, timescale: 1))
        try writer.begin(Self.tracks)
        try write([(1, 59_980), (1, 60_000), (0, 58_000), (0, 58_040), (1, 60_020)], to: writer)
        try writer.finish()
        #expect(
            sink.lines == [
                "2 tracks", "0 at 0.0", "0 at 0.04", "1 at 1.98", "1 at 2.0", "1 at 2.02", "end",
            ])
    }

    @Test(
        "the clip begins with the video that its first frame needs, and with the audio of that time, in decoding order",
        arguments: [true, false])
    func audioLeadIn(videoIsFirst: Bool) throws {
        let sink = Sink([.video, .audio])
        // The start is unknown if it counts from the end, for example.
        let writer = ClipWriter(sink)
        writer.beginLeadIn(before: MediaTime(value: 60, timescale: 1))
        try writer.begin(Self.tracks)
        let video = [(0, 58_000), (0, 59_000), (0, 60_000)] as [(Int, Int64)]
        let audio = [(1, 57_000), (1, 57_999), (1, 58_500), (1, 59_500), (1, 60_000)] as [(Int, Int64)]
        try write(videoIsFirst ? video + audio : audio + video, to: writer)
        try write([(1, 60_500), (0, 61_000)], to: writer)
        try writer.finish()
        #expect(
            sink.lines == [
                "2 tracks", "0 at 0.0", "1 at 0.5", "0 at 1.0", "1 at 1.5",
            ] + (videoIsFirst ? ["0 at 2.0", "1 at 2.0"] : ["1 at 2.0", "0 at 2.0"]) + ["1 at 2.5", "0 at 3.0", "end"])
    }

    @Test("without video, a clip begins with the first audio that it must contain")
    func audioOnly() throws {
        let sink = Sink([.audio])
        let writer = ClipWriter(sink, startingAt: MediaTime(value: 60, timescale: 1))
        try writer.begin([Self.tracks[1]])
        try write([(0, 57_000), (0, 59_900), (0, 60_000), (0, 60_100)], to: writer)
        try writer.finish()
        #expect(sink.lines == ["1 tracks", "0 at 0.0", "0 at 0.1", "end"])
    }

    @Test(
        "media before the requested start is reported if it is noticed",
        arguments: [(58_000, true), (49_000, true), (59_950, false)])
    func leadIn(first: Int64, isReported: Bool) throws {
        let sink = Sink([.video])
        let notes = Mutex<[String]>([])
        let writer = ClipWriter(
            sink, startingAt: MediaTime(value: 60, timescale: 1),
            note: { text in notes.withLock { $0.append(text) } })
        try writer.begin([Self.tracks[0]])
        try write([(0, first), (0, 60_000)], to: writer)
        try writer.finish()
        let leadIn = Double(60_000 - first) / 1000
        #expect(sink.lines == ["1 tracks", "0 at 0.0", "0 at \(leadIn)", "end"])
        let note = "the file begins \(leadIn) s before the requested start, at the previous sync frame"
        let hint = "; the mp4 file of a download hides up to 10 s"
        #expect(notes.withLock(\.self) == (isReported ? [note + hint] : []))
    }

    @Test("with one kind of media a clip does not wait long for another; changed tracks keep the offset")
    func oneKind() throws {
        let sink = Sink([.video, .audio])
        let writer = ClipWriter(sink)
        try writer.begin([Self.tracks[0]])
        try write([(0, 60_000), (0, 61_000)], to: writer)
        try writer.begin(Self.tracks)
        #expect(sink.lines == ["1 tracks"])
        try write([(0, 62_001)], to: writer)
        #expect(sink.lines == ["1 tracks", "0 at 0.0", "0 at 1.0", "2 tracks", "0 at 2.001"])
        try write([(1, 60_500)], to: writer)
        #expect(sink.lines.last == "1 at 0.5")
    }

    @Test("an item played from its start keeps its times; a later one begins at 0", arguments: [(900, 900), (6010, 0)])
    func joined(first: Int64, written: Int64) throws {
        let sink = Sink([.video, .audio])
        let writer = ClipWriter(sink, unlessBefore: MediaTime(value: 1, timescale: 1))
        try writer.begin(Self.tracks)
        try write([(0, first), (1, first + 5), (0, first + 40)], to: writer)
        try writer.finish()
        let times = [written, written + 5, written + 40].map { Double($0) / 1000 }
        #expect(sink.lines == ["2 tracks", "0 at \(times[0])", "1 at \(times[1])", "0 at \(times[2])", "end"])
    }

    @Test("held-back samples are written at the end")
    func short() throws {
        let sink = Sink([.video, .audio])
        let writer = ClipWriter(sink)
        try writer.begin([Self.tracks[0]])
        try write([(0, 60_000)], to: writer)
        try writer.finish()
        #expect(sink.lines == ["1 tracks", "0 at 0.0", "end"])
    }
}
