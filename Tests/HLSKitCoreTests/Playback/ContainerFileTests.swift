import Foundation
import HLSKitCore
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

/// Tests files in containers that are not part of HLS, made by `scripts/make-container-fixtures`.
@Suite("Files that libavformat reads", .timeLimit(.minutes(10)))
struct ContainerFileTests {
    private static func url(_ name: String) -> String { "file://\(SampleMedia.fixtures)/media/containers/\(name)" }
    private static let options = AssetOptions(transport: PlayerConfiguration.unpaced().transport)

    struct File: Sendable, CustomTestStringConvertible {
        var name: String
        var frameCount = 0
        var audio: ClosedRange<Double>
        var testDescription: String { name }
    }

    @Test(
        "A15: all frames and audio of a file play",
        arguments: [
            File(name: "film.mkv", frameCount: 65, audio: 12.9...13.2),
            File(name: "clip.webm", frameCount: 5, audio: 0.95...1.1),
            File(name: "clip.avi", frameCount: 5, audio: 0.9...1.2), File(name: "sound.wav", audio: 0.5...0.5),
            File(name: "sound.aiff", audio: 0.5...0.5), File(name: "sound.caf", audio: 0.5...0.5),
            File(name: "sound.flac", audio: 0.5...0.5), File(name: "sound.ogg", audio: 0.45...0.6),
        ])
    func plays(_ file: File) async throws {
        let writer = CapturingWriter()
        let play = try await Play.toEnd(try PlayerItem(Self.url(file.name), to: writer), .unpaced())
        #expect(play.error == nil && play.didPlayToEnd, "\(String(describing: play.error))")
        #expect(writer.frames.count == file.frameCount)
        #expect(writer.frames.map(\.time) == writer.frames.map(\.time).sorted())
        let length = writer.sounds.last.map { ($0.time + $0.length) / .seconds(1) } ?? 0
        #expect(file.audio.contains((length * 1000).rounded() / 1000), "\(length)")
        #expect(abs(writer.pitch - 440) < 20, "\(writer.pitch)")
        #expect(play.state.duration.isNumeric)
    }

    @Test("A15: a seek shows the same frames as playback from the start", arguments: [1.0, 5.9, 7, 12.5])
    func seek(_ start: Double) async throws {
        let whole = CapturingWriter()
        _ = try await Play.toEnd(try PlayerItem(Self.url("film.mkv"), to: whole), .unpaced())
        let late = CapturingWriter()
        let item = try PlayerItem(Self.url("film.mkv"), to: late)
        item.startPosition = .time(MediaTime(seconds: start, preferredTimescale: 1000))
        let play = try await Play.toEnd(item, .unpaced())
        #expect(play.error == nil && play.didPlayToEnd)
        #expect(abs(late.frames.count - Int((13 - start) * 5)) <= 1, "\(late.frames.count)")
        #expect(late.frames.map(\.hash) == Array(whole.frames.map(\.hash).suffix(late.frames.count)))
        #expect(late.frames.map(\.time) == Array(whole.frames.map(\.time).suffix(late.frames.count)))
    }

    @Test("I01: audio of a file is chosen by language", arguments: [("lang=en", 440.0), ("lang=de", 880)])
    func audio(_ preference: String, pitch: Double) async throws {
        let writer = CapturingWriter()
        let item = try PlayerItem(Self.url("film.mkv"), to: writer)
        item.audio = try QualityExpression(parsing: preference, for: .renditions)
        let play = try await Play.toEnd(item, .unpaced())
        #expect(play.error == nil)
        #expect(abs(writer.pitch - pitch) < 20, "\(writer.pitch)")
        #expect(writer.frames.count == 65)
    }

    @Test("I01, K03: subtitles of a file become cues: SubRip and Advanced SubStation", arguments: ["en", "fr"])
    func subtitles(_ language: String) async throws {
        let item = PlayerItem(urlString: Self.url("film.mkv"))
        item.subtitles = try QualityExpression(parsing: "lang=\(language)", for: .renditions)
        let collector = CueCollector()
        try item.add(collector)
        let play = try await Play.toEnd(item, .unpaced())
        #expect(play.error == nil)
        let lines = collector.cues.map { "\($0.timeRange.start.seconds)-\($0.timeRange.end.seconds) \($0.text)" }
        #expect(lines == ["1.003-3.003 One & two", "7.503-9.003 Three"])
        if language == "en" { #expect(collector.cues.first?.payload.contains("<i>One</i>") == true) }
    }

    @Test("A06, A09, A10: an asset has tracks, options, metadata and chapters of its file")
    func asset() async throws {
        let asset = Asset(urlString: Self.url("film.mkv"), options: Self.options)
        let (duration, tracks, isPlayable) = try await asset.load(.duration, .tracks, .isPlayable)
        #expect(abs(duration.seconds - 13) < 0.1 && isPlayable)
        #expect(tracks.map(\.mediaType) == [.video, .audio, .audio, .text, .text])
        #expect(try await tracks.first?.load(.naturalSize) == PixelSize(width: 64, height: 36))
        #expect(try await tracks.first?.load(.nominalFrameRate) == 5)
        for track in tracks { #expect(try await track.load(.isPlayable)) }
        let audible = try await asset.loadMediaSelectionGroup(for: .audible)
        #expect(audible?.options.map(\.extendedLanguageTag) == ["en", "de"])
        let legible = try await asset.loadMediaSelectionGroup(for: .legible)
        #expect(legible?.options.map(\.extendedLanguageTag) == ["en", "fr"])
        let title = try await asset.load(.commonMetadata).first { $0.commonKey == .title }
        #expect(try await title?.load(.stringValue) == "A film")
        let (metadata, failure) = try await asset.loadFileMetadata([])
        #expect(failure == nil && metadata.chapters.map(\.title) == ["One", "Two"])
        #expect(metadata.chapters.map(\.start) == [.zero, .seconds(5)])
        #expect(metadata.tags.contains { $0.name == "creation_time" && $0.value.hasPrefix("2024-05-06T07:08:09") })
        #expect(!metadata.tags.contains { $0.name == "encoder" })
    }

    @Test("a track that cannot be decoded is reported, and the others are played", arguments: [true, false])
    func undecodable(takesSamples: Bool) async throws {
        let folder = try ScratchFolder()
        let item = PlayerItem(urlString: Self.url("vp8.webm"))
        let writer: any MediaWriter =
            takesSamples ? try OutputFormat.mkv.makeWriter(path: folder.path + "/a.mkv") : CapturingWriter()
        item.add(writer)
        let play = try await Play.toEnd(item, .unpaced())
        try writer.finish()
        #expect(play.error == nil && play.didPlayToEnd && !writer.isEmpty)
        let omitted = play.events.compactMap { event in
            if case .recoverableError(let error) = event.kind, error.code == .trackOmitted { error.cause } else { nil }
        }
        #expect(omitted == ["video omitted: vp8 cannot be decoded"])
    }

    @Test(
        "a file that only begins like a container is one clear error", arguments: ["Matroska", "fLaC", "caff", "OggS"])
    func damaged(_ start: String) async throws {
        let folder = try ScratchFolder()
        let head = start == "Matroska" ? [0x1A, 0x45, 0xDF, 0xA3] : Array(start.utf8)
        let path = try folder.write(head + [UInt8](repeating: 7, count: 5000), to: "a")
        let play = try await Play.toEnd(try PlayerItem("file://\(path)", to: CapturingWriter()), .unpaced())
        #expect(play.error?.code == .badMedia && play.error?.cause == "the file cannot be read")
        await #expect { try await Asset(urlString: "file://\(path)", options: Self.options).load(.tracks) } throws: {
            ($0 as? HLSError)?.code == .badMedia
        }
    }

    @Test("a file that was cut off is played as far as it goes")
    func truncated() async throws {
        let folder = try ScratchFolder()
        let bytes = Array(try Data(contentsOf: try #require(URL(string: Self.url("film.mkv")))))
        let path = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "a.mkv")
        let writer = CapturingWriter()
        _ = try await Play.toEnd(try PlayerItem("file://\(path)", to: writer), .unpaced())
        #expect((20...40).contains(writer.frames.count), "\(writer.frames.count)")
    }
}
