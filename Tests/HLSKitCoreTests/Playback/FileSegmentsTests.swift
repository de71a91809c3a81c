import Foundation
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitAsset

@Suite("Media files read as segments", .timeLimit(.minutes(10)))
struct FileSegmentsTests {
    private static let url = "https://h.example/films/a.mp4?token=1"

    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/\(name)")))
    }

    private static func configuration(_ transport: any ResourceTransport) -> PlayerConfiguration {
        var configuration = PlayerConfiguration.unpaced()
        configuration.transport = transport
        return configuration
    }

    private func play(
        _ file: [UInt8], from start: Duration? = nil, takesRanges: Bool = true, audio: String? = nil
    ) async throws -> (writer: CapturingWriter, play: Play, rangeByteCount: Int, requests: [TransportRequest]) {
        let transport = TableTransport([Self.url: file], pieceByteCount: 4096, takesRanges: takesRanges)
        let writer = CapturingWriter()
        let item = try PlayerItem(Self.url, to: writer)
        if let start { item.startPosition = .time(MediaTime(start)) }
        if let audio { item.audio = try QualityExpression(parsing: audio, for: .renditions) }
        let play = try await Play.toEnd(item, Self.configuration(transport))
        let count = transport.requests.compactMap(\.byteRange).reduce(0) { $0 + $1.count }
        return (writer, play, count, transport.requests)
    }

    @Test("A15: a seek loads header and media by byte ranges, and shows the same frames")
    func seek() async throws {
        let file = try Self.bytes("mp4/languages.mp4")
        let whole = try await play(file)
        #expect(whole.play.error == nil && whole.writer.frames.count == 200)
        let late = try await play(file, from: .seconds(17))
        #expect(late.play.error == nil && late.play.didPlayToEnd)
        #expect(late.writer.frames.first?.time == .seconds(17))
        #expect(late.writer.frames.map(\.hash) == Array(whole.writer.frames.map(\.hash).suffix(30)))
        // Except for the header, which is read with the bytes after it, no earlier media is loaded.
        let media = late.requests.compactMap(\.byteRange).filter { $0.lowerBound > 0 }
        #expect(!media.isEmpty && media.allSatisfy { $0.lowerBound > UInt64(file.count / 3) })
        #expect(late.requests.allSatisfy { $0.byteRange != nil })
        #expect(late.play.state.duration == whole.play.state.duration)
    }

    @Test("a server that ignores ranges sends the file once, and it plays during the download")
    func noRanges() async throws {
        let file = try Self.bytes("mp4/languages.mp4")
        let whole = try await play(file)
        let plain = try await play(file, takesRanges: false)
        #expect(plain.play.error == nil && plain.play.didPlayToEnd)
        #expect(plain.writer.frames.map(\.hash) == whole.writer.frames.map(\.hash))
        // The name of the file leads to a range request for the first bytes.
        #expect(plain.rangeByteCount == FileOpening.range.count)
    }

    @Test("a truncated file plays up to its end, each frame once")
    func truncated() async throws {
        let file = try Self.bytes("mp4/languages.mp4")
        let cut = try await play(Array(file.prefix(file.count * 3 / 5)))
        let times = cut.writer.frames.map(\.time)
        #expect(times.count > 90 && times.count < 150)
        #expect(Set(times).count == times.count)
    }

    struct Wish: Sendable, CustomTestStringConvertible {
        var audio: String
        var language: String?
        var testDescription: String { audio }
    }

    @Test(
        "I01: a file's audio tracks are audible options, selected by language",
        arguments: [
            Wish(audio: "lang=de", language: "de"), Wish(audio: "lang=en", language: "en"),
            Wish(audio: "lang=fr", language: nil),
        ])
    func audio(_ preference: Wish) async throws {
        let found = try await play(try Self.bytes("mp4/languages.mp4"), audio: preference.audio)
        guard let language = preference.language else {
            #expect(found.play.error?.code == .noEligibleVariant)
            #expect(found.play.error?.cause.contains("no audio rendition matches") == true)
            return
        }
        #expect(found.play.error == nil)
        let selections = found.play.events.compactMap { event -> String? in
            guard case .mediaSelectionChanged(let selection) = event.kind else { return nil }
            return selection[.audible]?.extendedLanguageTag
        }
        #expect(selections.last == language)
        // 440 Hz is English, and 880 Hz is German.
        let pitch = found.writer.pitch
        #expect(abs(pitch - (language == "de" ? 880 : 440)) < 20, "\(pitch)")
    }

    enum Packets: Sendable, CaseIterable { case plain, stamped }

    /// Returns the stream. With `stamped`, four bytes precede each packet, as in `.m2ts`.
    private static func stream(_ packets: Packets) throws -> [UInt8] {
        let bytes = try bytes("ts-languages.ts")
        guard packets == .stamped else { return bytes }
        return stride(from: 0, to: bytes.count, by: 188).flatMap {
            [0, 0, 0, 0] + bytes[$0..<min($0 + 188, bytes.count)]
        }
    }

    @Test("a transport stream is read in segments found by its timestamps", arguments: Packets.allCases)
    func transportStream(_ packets: Packets) async throws {
        let file = try Self.stream(packets)
        let plain = try await play(file, takesRanges: false)
        #expect(plain.writer.frames.count == 200)
        let parts = try await play(file)
        #expect(parts.play.error == nil && parts.play.didPlayToEnd)
        #expect(parts.writer.frames.map(\.hash) == plain.writer.frames.map(\.hash))
        #expect(
            parts.requests.contains { FileKey($0.urlString, of: Self.url) == nil && $0.byteRange?.lowerBound ?? 0 > 0 })
        for start in [5.9, 6.1, 13, 19] {
            let late = try await play(file, from: .seconds(start))
            #expect(late.play.error == nil && late.play.didPlayToEnd)
            let hashes = late.writer.frames.map(\.hash)
            #expect(abs(hashes.count - Int((20 - start) * 10)) <= 1, "\(start): \(hashes.count)")
            #expect(hashes == Array(plain.writer.frames.map(\.hash).suffix(hashes.count)))
            let first = try #require(late.writer.frames.first?.time.seconds)
            #expect(abs(first - start) < 0.11)
        }
    }

    @Test("an end time is reached if its segment was cut before it", arguments: [5.5, 6, 7.9])
    func endTime(_ end: Double) async throws {
        let transport = TableTransport([Self.url: try Self.stream(.plain)], pieceByteCount: 4096)
        let writer = CapturingWriter([.video, .audio])
        let item = try PlayerItem(Self.url, to: writer)
        item.forwardPlaybackEndTime = MediaTime(seconds: end, preferredTimescale: 1000)
        let play = try await Play.toEnd(item, Self.configuration(transport))
        #expect(play.error == nil)
        #expect(abs(writer.frames.count - Int(end * 10)) <= 1, "\(writer.frames.count)")
        let last = try #require(writer.sounds.last)
        #expect(abs((last.time + last.length) - .milliseconds(Int64(end * 1000))) < .milliseconds(2))
    }

    @Test(
        "frames up to an end time are present if segments are shorter than listed", arguments: [4.0, 4.2, 4.38, 4.6])
    func endTimeBehindMedia(_ end: Double) async throws {
        let list = try String(contentsOfFile: "\(SampleMedia.folder)/video-180p.m3u8", encoding: .utf8)
            .replacing("#EXTINF:4.000000", with: "#EXTINF:4.400000")
        let media = Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.folder)/video-180p.mp4")))
        let url = "https://h.example/a/list.m3u8"
        let transport = TableTransport(
            [url: Array(list.utf8), "https://h.example/a/video-180p.mp4": media], pieceByteCount: 4096)
        let writer = CapturingWriter([.video])
        let item = try PlayerItem(url, to: writer)
        item.forwardPlaybackEndTime = MediaTime(seconds: end, preferredTimescale: 1000)
        let play = try await Play.toEnd(item, Self.configuration(transport))
        #expect(play.error == nil)
        #expect(abs(Double(writer.frames.count) - end * 25) <= 2, "\(writer.frames.count)")
    }

    @Test("I01: a transport stream's audio tracks are selected by language", arguments: ["en", "de"])
    func streamAudio(_ language: String) async throws {
        let found = try await play(try Self.stream(.plain), audio: "lang=\(language)")
        #expect(found.play.error == nil)
        #expect(found.writer.frames.count == 200)
        let pitch = found.writer.pitch
        #expect(abs(pitch - (language == "de" ? 880 : 440)) < 20, "\(pitch)")
    }

    @Test("I01: an asset has its file's options")
    func groups() async throws {
        let asset = Asset(
            urlString: Self.url, options: .table(TableTransport([Self.url: try Self.bytes("mp4/languages.mp4")])))
        let group = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
        #expect(group.options.map(\.extendedLanguageTag) == ["en", "de"])
        #expect(group.defaultOption?.extendedLanguageTag == "en")
        #expect(group.options.allSatisfy { $0.isPlayable })
        let legible = try #require(try await asset.loadMediaSelectionGroup(for: .legible))
        #expect(legible.options.map(\.extendedLanguageTag) == ["fr"])
        #expect(legible.options.allSatisfy { $0.isPlayable } && legible.defaultOption == nil)
        #expect(
            try await asset.load(.availableMediaCharacteristicsWithMediaSelectionOptions) == [.audible, .legible])
        #expect(try await asset.load(.isPlayable))
    }

    /// Converts the file to QuickTime, with another brand and sample entry, and with languages as numbers.
    private static func quickTime(_ file: [UInt8]) throws -> [UInt8] {
        var file = file
        let mdhd = [[0x15, 0xC7], [0x10, 0xB5], [0x1A, 0x41]] as [[UInt8]]
        for (old, new) in [("ftypisom", "ftypqt  "), ("tx3g", "text")] {
            let at = try #require(file.indices.first { file[$0...].starts(with: old.utf8) })
            file.replaceSubrange(at..<at + new.utf8.count, with: new.utf8)
        }
        for (packed, number) in zip(mdhd, [0, 2, 1] as [UInt8]) {
            let boxes = file.indices.filter { file[$0...].starts(with: "mdhd".utf8) }
            let at = try #require(boxes.first { file[($0 + 24)...].starts(with: packed) }) + 24
            file.replaceSubrange(at..<at + 2, with: [0, number])
        }
        return file
    }

    @Test(
        "I01, K03: a subtitle track of a file is chosen by language and shown, also after a seek",
        arguments: [false, true], [0.0, 6])
    func subtitles(isQuickTime: Bool, start: Double) async throws {
        let file = try Self.bytes("mp4/languages.mp4")
        let item = PlayerItem(urlString: Self.url)
        item.subtitles = try QualityExpression(parsing: "lang=fr", for: .renditions)
        item.startPosition = .time(MediaTime(seconds: start, preferredTimescale: 1000))
        let collector = CueCollector()
        try item.add(collector)
        let transport = TableTransport([Self.url: isQuickTime ? try Self.quickTime(file) : file], pieceByteCount: 4096)
        let play = try await Play.toEnd(item, Self.configuration(transport))
        #expect(play.error == nil && play.didPlayToEnd)
        let lines = collector.cues.map { "\($0.timeRange.start.seconds)-\($0.timeRange.end.seconds) \($0.text)" }
        #expect(lines == (start > 0 ? ["5.5-7.0 Two"] : ["1.0-3.0 One", "5.5-7.0 Two"]))
        #expect(collector.cues.allSatisfy { $0.language == "fr" })
    }

    @Test("I01: languages and subtitles of a QuickTime file are options")
    func quickTimeGroups() async throws {
        let file = try Self.quickTime(Self.bytes("mp4/languages.mp4"))
        let asset = Asset(urlString: Self.url, options: .table(TableTransport([Self.url: file])))
        let audible = try await asset.loadMediaSelectionGroup(for: .audible)
        #expect(audible?.options.map(\.extendedLanguageTag) == ["en", "de"])
        let legible = try await asset.loadMediaSelectionGroup(for: .legible)
        #expect(legible?.options.map(\.extendedLanguageTag) == ["fr"])
    }

    @Test(
        "keys of parts are read as they are written",
        arguments: ["#track=1,2&segment=83", "#track=3", "#track=1&header"])
    func keys(_ fragment: String) {
        #expect(FileKey(Self.url + fragment, of: Self.url)?.fragment == fragment)
        #expect(FileKey(Self.url + fragment + "x", of: Self.url)?.fragment != fragment)
        #expect(FileKey(Self.url, of: Self.url) == nil)
    }
}
