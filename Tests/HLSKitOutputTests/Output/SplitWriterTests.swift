import HLSKitCore
import Synchronization
import Testing

@Suite("Splitting recordings into files")
struct SplitWriterTests {
    private final class Sink: SampleWriter, NumberedFiles {
        let mediaTypes: Set<MediaKind> = [.video, .audio]
        let name: String
        private let log = Mutex<[String]>([])
        var lines: [String] { log.withLock { $0 } }
        var paths: [String] { [name] }
        var finishedPaths: [String] { lines.last == "end" ? [name] : [] }

        init(_ name: String) { self.name = name }

        func begin(_ tracks: [MediaTrack]) throws(HLSError) {}
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(HLSError) {
            log.withLock { $0.append("\(index == 0 ? "v" : "a")\(Int((itemTime.seconds * 1000).rounded()))") }
        }
        func flush() {}
        func finish() throws(HLSError) { log.withLock { $0.append("end") } }
    }

    private final class Folder: Sendable {
        private let sinks = Mutex<[Sink]>([])
        var parts: [[String]] { sinks.withLock { $0.map(\.lines) } }

        func writer(_ limit: SplitWriter.Limit, firstLength: MediaTime? = nil) throws -> SplitWriter {
            try SplitWriter(limit, firstLength: firstLength) { [self] number throws(HLSError) in
                let sink = Sink("\(number)")
                sinks.withLock { $0.append(sink) }
                return SplitWriter.Part(sink)
            }
        }
    }

    private static let tracks = [
        MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 1000),
        MediaTrack(id: 2, mediaType: .audio, codec: .aac, timescale: 1000),
    ]

    private func write(_ index: Int, _ milliseconds: Int64, sync: Bool = true, size: Int = 1, to writer: SplitWriter)
        throws
    {
        let sample = MediaSample(
            trackID: index, pts: milliseconds, dts: milliseconds, isSync: sync,
            data: SampleData([UInt8](repeating: 0, count: size)))
        try writer.write(sample, ofTrackAt: index, at: MediaTime(value: milliseconds, timescale: 1000))
    }

    @Test("each file begins at 0 with an independent frame, and audio follows its time, early or late")
    func times() throws {
        let folder = Folder()
        let writer = try folder.writer(.duration(MediaTime(value: 2, timescale: 1)))
        try writer.begin(Self.tracks)
        for time in [0, 900, 1800, 2100] as [Int64] { try write(1, time, to: writer) }
        try write(0, 0, to: writer)
        try write(0, 1000, sync: false, to: writer)
        try write(0, 1500, to: writer)
        try write(0, 2000, sync: false, to: writer)
        try write(0, 2500, to: writer)
        try write(1, 2400, to: writer)
        try write(1, 2600, to: writer)
        try write(0, 3000, to: writer)
        try write(0, 4500, to: writer)
        try write(1, 4600, to: writer)
        try writer.finish()
        #expect(
            folder.parts == [
                ["v0", "v1000", "a0", "a900", "v1500", "v2000", "a1800", "a2100", "a2400", "end"],
                ["v0", "v500", "a100", "end"], ["v0", "a100", "end"],
            ])
        #expect(writer.finishedPaths == ["1", "2", "3"])
    }

    @Test("the first file may be shorter, such as the rest of the hour; lengths count from its end")
    func firstLength() throws {
        let folder = Folder()
        let writer = try folder.writer(
            .duration(MediaTime(value: 3, timescale: 1)), firstLength: MediaTime(value: 1, timescale: 1))
        try writer.begin([Self.tracks[0]])
        for time in stride(from: 10_000 as Int64, through: 18_000, by: 500) { try write(0, time, to: writer) }
        try writer.finish()
        #expect(folder.parts.map(\.count) == [3, 7, 7, 4])
        #expect(folder.parts[1].first == "v0")
    }

    @Test("an unsplittable format or an invalid length is refused before any file is made")
    func formats() throws {
        for format in OutputFormat.allCases where ![.ts, .mp4, .mkv, .aac, .mp3].contains(format) {
            #expect(throws: HLSError.self) {
                try format.makeSplitWriter(every: .seconds(1)) { _ in
                    Issue.record("a file is asked for")
                    return "x"
                }
            }
        }
        for length in [Duration.zero, .seconds(-1)] {
            #expect(throws: HLSError.self) { try OutputFormat.ts.makeSplitWriter(every: length) { _ in "x" } }
            #expect(throws: HLSError.self) {
                try OutputFormat.ts.makeSplitWriter(every: .seconds(1), firstLength: length) { _ in "x" }
            }
        }
        let refusal = HLSError(code: .diskFull, cause: "no place")
        #expect {
            try OutputFormat.ts.makeSplitWriter(every: .seconds(1)) { _ throws(HLSError) in throw refusal }
        } throws: { ($0 as? HLSError)?.code == .diskFull }
    }

    @Test("lengths count from the start, so they stay in step with the clock")
    func step() throws {
        let folder = Folder()
        let writer = try folder.writer(.duration(MediaTime(value: 10, timescale: 1)))
        try writer.begin([Self.tracks[0]])
        for time in stride(from: 0, through: 60_000, by: 4000) { try write(0, Int64(time), to: writer) }
        try writer.finish()
        // The writer splits at 12, 20, 32, 40, 52 and 60 s, the first samples from each multiple of 10 s on.
        #expect(folder.parts.map { $0.count - 1 } == [3, 2, 3, 2, 3, 2, 1])
    }

    @Test("file sizes stay below the limit if upcoming media is like earlier media")
    func sizes() throws {
        let folder = Folder()
        let writer = try folder.writer(.byteCount(1000))
        try writer.begin([Self.tracks[0]])
        for time in 0..<10 { try write(0, Int64(time) * 1000, size: 300, to: writer) }
        try writer.finish()
        #expect(folder.parts.map { $0.count - 1 } == [3, 3, 3, 1])
    }

    @Test("an ended track does not keep a file open")
    func endedTrack() throws {
        let folder = Folder()
        let writer = try folder.writer(.duration(MediaTime(value: 10, timescale: 1)))
        try writer.begin(Self.tracks)
        for time in stride(from: 0, through: 100_000, by: 10_000) {
            if time < 10_000 { try write(1, Int64(time), to: writer) }
            try write(0, Int64(time), to: writer)
        }
        #expect(writer.finishedPaths.count >= 9)
        try writer.finish()
        #expect(folder.parts.count == 11 && folder.parts.allSatisfy { $0.last == "end" })
    }
}
