import Foundation
import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("The start of a download", .timeLimit(.minutes(10)))
struct DownloadStartTests {
    private struct Outcome: Sendable {
        var files: [String] = []
        var names: Set<String> = []
        var notes: [String] = []
        var bytes: [[UInt8]] = []

        func section() throws -> MP4InitializationSection {
            try MP4InitializationSection(parsing: try #require(bytes.first)[...])
        }

        func track(_ type: MediaKind, _ language: String?) throws -> MediaTrack {
            try #require(
                try section().tracks.first { $0.mediaType == type && (language == nil || $0.language == language) })
        }

        func samples(_ type: MediaKind, language: String? = nil) throws -> [MediaSample] {
            let track = try track(type, language)
            var (demuxer, events) = (ProgressiveMP4Demuxer(), [DemuxerEvent]())
            try demuxer.append(try #require(bytes.first)[...], to: &events)
            try demuxer.finish(to: &events)
            return events.compactMap { event in
                if case .sample(let sample) = event, sample.trackID == track.id { sample } else { nil }
            }
        }
    }

    private static func download(
        _ segments: [[UInt8]], _ durations: [String], isPackedMeanwhile: Bool,
        change: (inout DownloadConfiguration) -> Void
    ) throws -> Outcome {
        let clock = VirtualClock()
        let folder = try ScratchFolder()
        let asked = Recorder<String>()
        let transport = SimulatedTransport(over: try NetworkTrace(parsing: "1000,50000,20\n".utf8), clock: clock) {
            request in
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            asked.append(name, at: .zero)
            if name == "a.m3u8" { return SimulatedResponse(body: Array(RepeatedFrames.playlist(durations).utf8)) }
            let number = Int(name.dropFirst().prefix { $0 != "." }) ?? -1
            return segments.indices.contains(number) ? SimulatedResponse(body: segments[number]) : .notFound
        }
        var configuration = DownloadConfiguration(
            urlString: "https://sample.invalid/a.m3u8", loading: AssetOptions(clock: clock, transport: transport))
        configuration.fileFormat = isPackedMeanwhile ? .mp4 : nil
        change(&configuration)
        var outcome = try clock.run { [configuration] in
            let notes = Mutex<[String]>([])
            let task = try await DownloadTask(configuration, folder: folder.path + "/d")
            _ = try await task.run()
            let files = try await task.write(to: folder.path + "/a.mp4", format: .mp4) { text in
                notes.withLock { $0.append(text) }
            }
            let bytes = try files.paths.map { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) }
            return Outcome(files: files.paths, notes: notes.withLock(\.self), bytes: bytes)
        }
        outcome.names = Set(asked.elements)
        return outcome
    }

    @Test(
        "frames from the start on are in the file if its segment begins between sync frames",
        arguments: [(3.3, 2, 90), (3.5, 3, 102), (3.2, 2, 90), (9.3, 8, 270), (0.2, 0, 0)], [true, false])
    func betweenSyncFrames(_ test: (start: Double, segment: Int, frame: Int), isPackedMeanwhile: Bool) throws {
        let frames = try RepeatedFrames()
        // The segments begin with frames 0, 36, 66, 96 and so on. The last one has no sync frame.
        let starts = [0] + (0..<9).map { 36 + 30 * $0 } + [300]
        var segments = try zip(starts, starts.dropFirst()).map { try frames.segment($0..<$1) }
        segments[9] = try frames.segment(starts[9]..<starts[9] + 6)
        let outcome = try Self.download(
            segments, ["1.2"] + [String](repeating: "1", count: 8) + ["0.2"], isPackedMeanwhile: isPackedMeanwhile
        ) { $0.startPosition = .time(MediaTime(seconds: test.start, preferredTimescale: 1000)) }
        #expect(outcome.files.count == 1)
        let numbers = (0..<10).filter { outcome.names.contains("s\($0).ts") }
        #expect(numbers == Array(test.segment..<10))
        let samples = try outcome.samples(.video)
        #expect(samples.first?.isSync == true)
        #expect(samples.count == starts[9] + 6 - test.frame, "\(outcome.notes)")
    }

    @Test("audio that begins late is in the file with all audio", arguments: [true, false])
    func lateAudio(isPackedMeanwhile: Bool) throws {
        let frames = try RepeatedFrames()
        let segments = try (0..<4).map { number in
            try frames.segment(
                30 * number..<30 * (number + 1), languages: number < 2 ? ["eng"] : ["eng", "deu"])
        }
        let outcome = try Self.download(
            segments, ["1", "1", "1", "1"], isPackedMeanwhile: isPackedMeanwhile
        ) { $0.audio = .all }
        #expect(outcome.files.count == 1)
        #expect(!outcome.notes.contains { $0.contains("omitted") }, "\(outcome.notes)")
        #expect(try outcome.section().tracks.filter { $0.mediaType == .audio }.map(\.language) == ["eng", "deu"])
        let (first, second) = (
            try outcome.samples(.audio, language: "eng"), try outcome.samples(.audio, language: "deu")
        )
        #expect(first.count >= 4 * 15 && second.count >= 2 * 15 && second.count <= 2 * 16)
        let start = try #require(second.first).pts - (try #require(first.first).pts)
        let timescale = try outcome.track(.audio, "deu").timescale
        #expect(abs(Double(start) / Double(timescale) - 2) < 0.1, "\(start)")
        #expect(try outcome.samples(.video).count == 120)
    }
}
