import Foundation
import HLSKitAsset
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("I01: Audio tracks inside segments", .timeLimit(.minutes(10)))
struct AudioInsideTests {
    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/\(name)")))
    }

    /// Returns 20 s of segments with video, English audio of 440 Hz and German audio of 880 Hz.
    private static func files(_ container: Container) throws -> [String: [UInt8]] {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:20"]
        var files: [String: [UInt8]] = [:]
        switch container {
        case .transportStream:
            lines += ["#EXTINF:20,", "ts-languages.ts"]
        case .fragments:
            let file = try bytes("mp4/languages.mp4")
            var scanner = MP4HeaderScanner()
            let found = try scanner.append(file[...])
            let header = try found ?? scanner.finish()
            let section = try MP4InitializationSection(parsing: header.bytes[...])
            let segments = try #require(MP4FileSegments(section, target: .seconds(4)))
            let ids = segments.tracks.filter { $0.mediaType != .text }.map(\.id)
            files["head.mp4"] = try MP4InitializationSection.fragmented(header.bytes, keeping: ids)
            lines.append(#"#EXT-X-MAP:URI="head.mp4""#)
            let ends = segments.starts.dropFirst() + [segments.end]
            for (index, end) in ends.enumerated() {
                let fragment = try #require(segments.fragment(index, of: ids, maximumGap: 100))
                files["s\(index).m4s"] = fragment.head + fragment.ranges.flatMap { file[$0] }
                lines += ["#EXTINF:\((end - segments.starts[index]).seconds),", "s\(index).m4s"]
            }
        }
        files["a.m3u8"] = Array((lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").utf8)
        files["main.m3u8"] = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\na.m3u8\n".utf8)
        return files
    }

    enum Container: String, Sendable, CaseIterable { case transportStream, fragments }

    private static func sample(
        _ files: [String: [UInt8]], path: String = "a.m3u8", end: Duration = .seconds(60),
        change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> VirtualSample {
        try VirtualSample(end: end, quality: nil, path: path, files: files, change: change)
    }

    private static func languages(_ sample: VirtualSample) -> [String?] {
        sample.events.elements.compactMap { event -> String?? in
            guard case .mediaSelectionChanged(let selection) = event.kind else { return nil }
            return .some(selection[.audible]?.extendedLanguageTag)
        }
    }

    @Test(
        "each track is an option, and the preferred one plays, with and without a multivariant playlist",
        arguments: Container.allCases, ["a.m3u8", "main.m3u8"])
    func options(_ container: Container, path: String) throws {
        for language in ["en", "de"] {
            let sample = try Self.sample(try Self.files(container), path: path, end: .seconds(6))
            sample.item.audio = try QualityExpression(parsing: "lang=\(language)", for: .renditions)
            let writer = CapturingWriter()
            sample.item.add(writer)
            var group: MediaSelectionGroup?
            try sample.play { _ in group = sample.item.mediaSelectionGroup(for: .audible) ?? group }
            #expect(group?.options.map(\.extendedLanguageTag) == ["en", "de"])
            #expect(group?.options.map(\.displayName) == ["Audio en", "Audio de"])
            #expect(group?.defaultOption?.extendedLanguageTag == "en" && group?.allowsEmptySelection == false)
            #expect(Self.languages(sample) == [language])
            #expect(abs(writer.pitch - (language == "de" ? 880 : 440)) < 20, "\(writer.pitch)")
            #expect(writer.frames.count >= 55)
        }
    }

    @Test("an unmatched track preference fails with the list of tracks", arguments: ["a.m3u8", "main.m3u8"])
    func unmatched(_ path: String) throws {
        let sample = try Self.sample(try Self.files(.transportStream), path: path)
        sample.item.audio = try QualityExpression(parsing: "lang=fr", for: .renditions)
        sample.item.add(CapturingWriter())
        try sample.play()
        let error = try #require(sample.item.error)
        #expect(error.code == .noEligibleVariant)
        #expect(error.cause == "no audio rendition matches \"lang=fr\"")
        #expect(error.detail == "available: Audio en (en), Audio de (de)")
    }

    @Test("criteria and the user's languages select among the tracks", arguments: [true, false])
    func automatic(byCriteria: Bool) throws {
        let sample = try Self.sample(try Self.files(.transportStream), end: .seconds(6)) {
            if !byCriteria { $0.preferredLanguages = ["de-AT"] }
        }
        if byCriteria {
            sample.player.setMediaSelectionCriteria(MediaSelectionCriteria(preferredLanguages: ["de"]), for: .audible)
        }
        let writer = CapturingWriter()
        sample.item.add(writer)
        try sample.play()
        #expect(abs(writer.pitch - 880) < 20, "\(writer.pitch)")
        #expect(Self.languages(sample) == ["de"])
    }

    @Test("a track selected during playback is heard within a second", arguments: ["a.m3u8", "main.m3u8"])
    func change(_ path: String) throws {
        let sample = try Self.sample(try Self.files(.fragments), path: path, end: .seconds(20))
        let writer = CapturingWriter()
        sample.item.add(writer)
        var isChosen = false
        var results: [Bool] = []
        try sample.play { time in
            guard !isChosen, time >= .seconds(6), let group = sample.item.mediaSelectionGroup(for: .audible),
                let german = group.options.last
            else { return }
            isChosen = true
            results.append(sample.item.select(german, in: group))
        }
        #expect(results == [true])
        #expect(Self.languages(sample) == ["en", "de"])
        #expect(sample.timeControlChanges.count { $0.new == .playing } == 1)
        func pitch(_ range: Range<Double>) -> Double {
            let sounds = writer.sounds.filter { range.contains($0.time.seconds) }
            let length = sounds.reduce(0) { $0 + $1.length.seconds }
            return Double(sounds.reduce(0) { $0 + $1.riseCount }) / max(length, 0.001)
        }
        #expect(abs(pitch(0..<5.5) - 440) < 20, "\(pitch(0..<5.5))")
        #expect(abs(pitch(7.5..<19) - 880) < 20, "\(pitch(7.5..<19))")
        #expect(writer.largestAudioGap < .milliseconds(100))
        #expect(writer.frames.count >= 195)
    }

    @Test("a stream's only audio is an option, and no change is reported", arguments: ["a.m3u8", "main.m3u8"])
    func single(_ path: String) throws {
        var files = try Self.files(.transportStream)
        files["a.m3u8"] = Array(
            "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:2,\nts-h264-aac.ts\n#EXT-X-ENDLIST\n".utf8)
        let sample = try Self.sample(files, path: path)
        sample.item.add(CapturingWriter())
        var group: MediaSelectionGroup?
        var selected: MediaSelectionOption?
        try sample.play { _ in
            group = sample.item.mediaSelectionGroup(for: .audible) ?? group
            selected = sample.item.currentMediaSelection[.audible] ?? selected
        }
        #expect(group?.options.count == 1)
        #expect(selected != nil && selected == group?.options.first)
        #expect(Self.languages(sample).isEmpty)
    }

    @Test("an asset has the same options, with the data by which a player finds them", arguments: Container.allCases)
    func asset(_ container: Container) async throws {
        var bodies: [String: [UInt8]] = [:]
        for (name, body) in try Self.files(container) { bodies["https://h.example/\(name)"] = body }
        bodies["https://h.example/ts-languages.ts"] = try Self.bytes("ts-languages.ts")
        for name in ["a.m3u8", "main.m3u8"] {
            let asset = Asset(urlString: "https://h.example/\(name)", options: .table(TableTransport(bodies)))
            let group = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
            #expect(group.options.map(\.extendedLanguageTag) == ["en", "de"])
            #expect(group.options.map(\.displayName) == ["Audio en", "Audio de"])
            #expect(try await asset.loadMediaSelectionGroup(for: .visual) == nil)
        }
    }

    // MARK: Options

    private static func track(_ id: Int, _ language: String?, _ codec: MediaCodec = .aac) -> MediaTrack {
        MediaTrack(id: id, mediaType: .audio, codec: codec, timescale: 90_000, language: language)
    }

    @Test("options have distinct names, and undecodable ones come last")
    func names() throws {
        let strange = MediaCodec(rawValue: "xxxx")
        let tracks = [
            Self.track(5, "deu", strange), Self.track(6, "deu"), Self.track(7, "deu"), Self.track(8, nil),
            MediaTrack(id: 9, mediaType: .video, codec: .h264, timescale: 90_000),
        ]
        let options = AudioTrackOptions(tracks, canDecode: CodecRegistry.canDecode)
        #expect(options.options.map(\.displayName) == ["Audio de", "Audio de 2", "Audio", "Audio de 3"])
        #expect(options.options.map(\.isPlayable) == [true, true, true, false])
        #expect(options.options.map(\.isDefault) == [true, false, false, false])
        #expect(Set(options.options.map(\.id)).count == 4)
        #expect(options.options.map { options.track(of: $0)?.id } == [6, 7, 8, 5])
        let other = AudioTrackOptions([Self.track(1, "de"), Self.track(2, "fr")], canDecode: CodecRegistry.canDecode)
        #expect(other.options.first?.id == options.options.first?.id)
        #expect(AudioTrackOptions([], canDecode: CodecRegistry.canDecode).group == nil)
    }

    @Test("a rule selects the preferred track, or none without a preference")
    func rule() throws {
        let tracks = [Self.track(1, "eng"), Self.track(2, "deu"), Self.track(3, "deu")]
        func rule(_ change: (inout SelectionTerms) -> Void) -> AudioTrackRule? {
            var terms = SelectionTerms()
            change(&terms)
            return AudioTrackRule(terms)
        }
        #expect(rule { _ in } == nil)
        #expect(rule { $0.choice = .none } == nil)
        let german = MediaSelectionCriteria(preferredLanguages: ["de"])
        #expect(rule { $0.criteria = german }?.track(among: tracks, canDecode: CodecRegistry.canDecode)?.id == 2)
        #expect(rule { ($0.criteria, $0.isAutomatic) = (german, false) } == nil)
        let last = AudioTrackOptions(tracks, canDecode: CodecRegistry.canDecode).options[2].id
        #expect(
            rule { ($0.criteria, $0.choice) = (german, .option(last)) }?.track(
                among: tracks, canDecode: CodecRegistry.canDecode)?.id == 3)
        let french = try QualityExpression(parsing: "lang=fr", for: .renditions)
        #expect(rule { $0.preference = french }?.track(among: tracks, canDecode: CodecRegistry.canDecode) == nil)
        let english = try QualityExpression(parsing: "lang=en", for: .renditions)
        #expect(
            rule { $0.preference = english }?.track(
                among: Array(tracks.reversed()), canDecode: CodecRegistry.canDecode)?.id
                == 1)
        #expect(rule { $0.preference = english }?.track(among: [], canDecode: CodecRegistry.canDecode) == nil)
    }

    @Test("if the playlist declares the audio, its language selects the track, and tracks are not options")
    func declared() throws {
        var files = try Self.files(.transportStream)
        files["main.m3u8"] = Array(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
            a.m3u8

            """.utf8)
        let sample = try Self.sample(files, path: "main.m3u8", end: .seconds(6))
        sample.item.audio = try QualityExpression(parsing: "lang=de", for: .renditions)
        let writer = CapturingWriter()
        sample.item.add(writer)
        var group: MediaSelectionGroup?
        try sample.play { _ in group = sample.item.mediaSelectionGroup(for: .audible) ?? group }
        #expect(group?.options.map(\.displayName) == ["English", "Deutsch"])
        #expect(abs(writer.pitch - 880) < 20, "\(writer.pitch)")
    }
}
