import Foundation
import HLSKitCore
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import TestSupport
import Testing

/// Tests the descriptions of tracks in files: what a remuxer writes is read again.
@Suite("Descriptions of tracks in files", .timeLimit(.minutes(10)))
struct TrackDescriptionTests {
    private static let options = AssetOptions(transport: PlayerConfiguration.unpaced().transport)

    struct Form: Sendable, CustomTestStringConvertible {
        var container: Remuxer.Container
        var isFragmented = false
        var indexByteCount: Int64 = 1 << 15
        var testDescription: String {
            "\(container)\(isFragmented ? " in fragments" : "")\(indexByteCount == 0 ? ", index last" : "")"
        }
    }

    static let forms = [
        Form(container: .mkv), Form(container: .mp4), Form(container: .mp4, isFragmented: true),
        Form(container: .mp4, indexByteCount: 0),
    ]

    private struct Source {
        var track: MediaTrack
        var samples: [MediaSample]

        init(_ name: String) throws {
            let fixture = try PacketFixture(name)
            (track, samples) = (fixture.track, fixture.samples)
        }

        /// Subtitles.
        init(id: Int, language: String) {
            track = MediaTrack(id: id, mediaType: .text, codec: .webVTT, timescale: 1000, language: language)
            let data = SampleData(Array("text".utf8))
            samples = [MediaSample(trackID: id, pts: 0, dts: 0, duration: 100, isSync: true, data: data)]
        }
    }

    private static func write(_ fixtures: [Source], to path: String, _ form: Form) throws {
        let writer = Remuxer(
            file: try OutputFile(path: path), container: form.container, isFragmented: form.isFragmented,
            indexByteCount: form.indexByteCount, mediaTypes: [.video, .audio, .text])
        try writer.begin(fixtures.map(\.track))
        for (index, fixture) in fixtures.enumerated() {
            for sample in fixture.samples {
                try writer.write(
                    sample, ofTrackAt: index, at: MediaTime(value: sample.pts, timescale: fixture.track.timescale))
            }
        }
        try writer.finish()
    }

    private static func tracks(_ path: String) async throws -> [MediaTrack] {
        let asset = Asset(urlString: "file://\(path)", options: options)
        var found: [MediaTrack] = []
        for track in try await asset.load(.tracks) {
            found.append(try #require(try await track.load(.formatDescriptions).first))
        }
        return found
    }

    private static func label(_ name: String?, _ change: (inout MediaTrackLabel) -> Void = { _ in }) -> MediaTrackLabel
    {
        var label = MediaTrackLabel()
        label.name = name
        change(&label)
        return label
    }

    @Test("S03: names, roles and languages of tracks are read as they were written", arguments: forms)
    func labels(_ form: Form) async throws {
        let folder = try ScratchFolder()
        var audio = [try Source("aac"), try Source("aac"), try Source("aac")]
        audio[0].track.language = "en"
        audio[0].track.label = Self.label("English, \"first\"")
        audio[1].track.language = "pt-BR"
        audio[1].track.label = Self.label("Português") { $0.isDefault = true }
        audio[2].track.language = "en-GB"
        audio[2].track.label = Self.label(nil) { $0.describesVideo = true }
        for index in audio.indices { audio[index].track.id = index + 1 }
        var texts = ["zh-Hans", "zh-Hant", "x-dorf"].enumerated().map { Source(id: 10 + $0, language: $1) }
        texts[0].track.label = Self.label("简体")
        texts[1].track.label = Self.label("繁體 (SDH)") { $0.describesAudio = true }
        texts[2].track.label = Self.label("Forced") { $0.isForced = true }
        let fixtures = audio + texts
        let path = folder.path + "/a.\(form.container == .mkv ? "mkv" : "mp4")"
        try Self.write(fixtures, to: path, form)

        let found = try await Self.tracks(path)
        #expect(found.map(\.label) == fixtures.map(\.track.label))
        #expect(found.map(\.language) == ["eng", "pt-BR", "en-GB", "zh-Hans", "zh-Hant", "x-dorf"])
    }

    @Test("I01: options of a file have the names and roles of its tracks", arguments: forms.prefix(2))
    func options(_ form: Form) async throws {
        let folder = try ScratchFolder()
        var audio = [try Source("aac"), try Source("aac"), try Source("aac")]
        for index in audio.indices {
            audio[index].track.id = index + 1
            audio[index].track.language = "en"
        }
        audio[1].track.label = Self.label("Main") { $0.isDefault = true }
        audio[2].track.label = Self.label("Main") { $0.describesVideo = true }
        let path = folder.path + "/a.\(form.container == .mkv ? "mkv" : "mp4")"
        try Self.write(audio, to: path, form)
        let asset = Asset(urlString: "file://\(path)", options: Self.options)
        let group = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
        #expect(group.options.map(\.displayName) == ["Audio en", "Main", "Main 2"])
        #expect(group.options.map(\.isDefault) == [false, true, false])
        #expect(
            group.options.map { $0.mediaCharacteristics.contains(.describesVideoForAccessibility) } == [
                false, false, true,
            ])
        let track = try #require(try await asset.load(.tracks).last)
        #expect(try await track.load(.mediaCharacteristics).contains(.describesVideoForAccessibility))
    }
}
