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
        var text = Source(id: 4, language: "en")
        text.track.label = Self.label("Main")
        try Self.write(audio + [text], to: path, form)
        let asset = Asset(urlString: "file://\(path)", options: Self.options)
        let group = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
        #expect(group.options.map(\.displayName) == ["Audio en", "Main", "Main 2"])
        #expect(group.options.map(\.isDefault) == [false, true, false])
        #expect(
            group.options.map { $0.mediaCharacteristics.contains(.describesVideoForAccessibility) } == [
                false, false, true,
            ])
        // Names are unique within a group.
        let texts = try await asset.loadMediaSelectionGroup(for: .legible)
        #expect(texts?.options.map(\.displayName) == ["Main"])
        let track = try #require(try await asset.load(.tracks).last { $0.mediaType == .audio })
        #expect(try await track.load(.mediaCharacteristics).contains(.describesVideoForAccessibility))
    }

    private static func picture() throws -> Source {
        var fixture = try Source("hevc")
        fixture.track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9)
        fixture.track.masteringDisplayColorVolume = MasteringDisplayColorVolume(
            primaries: MasteringDisplayColorVolume.Primaries(
                red: .init(x: 0.708, y: 0.292), green: .init(x: 0.17, y: 0.797), blue: .init(x: 0.131, y: 0.046),
                whitePoint: .init(x: 0.3127, y: 0.329)), luminance: 0.005...1000)
        fixture.track.contentLightLevelInfo = ContentLightLevelInfo(
            maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
        return fixture
    }

    /// Returns the track after it was written to Matroska, then as that file's segments, and then to MP4.
    private static func copied(_ fixture: Source) async throws -> [MediaTrack] {
        let folder = try ScratchFolder()
        try write([fixture], to: folder.path + "/a.mkv", Form(container: .mkv))
        let item = PlayerItem(urlString: "file://\(folder.path)/a.mkv")
        let writer = Remuxer(file: try OutputFile(path: folder.path + "/a.mp4"), container: .mp4)
        item.add(writer)
        let play = try await Play.toEnd(item, .unpaced())
        #expect(play.error == nil && play.didPlayToEnd)
        try writer.finish()
        return try await tracks(folder.path + "/a.mkv") + tracks(folder.path + "/a.mp4")
    }

    @Test("S03: HDR and Dolby Vision of a Matroska file are kept in MP4", arguments: [8, 5])
    func highDynamicRange(profile: UInt8) async throws {
        var fixture = try Self.picture()
        fixture.track.dolbyVision =
            [1, 0, profile << 1, 6 << 3 | 5, profile == 8 ? 0x10 : 0] + [UInt8](repeating: 0, count: 19)
        let found = try await Self.copied(fixture)
        #expect(found.map(\.dolbyVision) == [fixture.track.dolbyVision, fixture.track.dolbyVision])
        for track in found {
            #expect(track.masteringDisplayColorVolume == fixture.track.masteringDisplayColorVolume)
            #expect(track.contentLightLevelInfo == fixture.track.contentLightLevelInfo)
            #expect(track.colorInformation?.transferCharacteristics == 16)
        }
        #expect(found.last?.sampleEntry == (profile == 5 ? "dvh1" : "hvc1"))
    }

    @Test("S03: spherical and stereoscopic video of a Matroska file is kept in MP4")
    func sphere() async throws {
        var fixture = try Self.picture()
        fixture.track.stereoMode = 2
        fixture.track.sphericalMapping = SphericalMapping(
            .equirectangular(top: 1 << 28, bottom: 1 << 28, left: 0, right: 0), yaw: 30 << 16, pitch: -(10 << 16))
        let found = try await Self.copied(fixture)
        #expect(found.map(\.stereoMode) == [2, 2])
        #expect(found.map(\.sphericalMapping) == [fixture.track.sphericalMapping, fixture.track.sphericalMapping])
    }
}
