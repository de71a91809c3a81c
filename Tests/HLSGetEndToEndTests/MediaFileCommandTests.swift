import Foundation
import TestSupport
import Testing

@Suite("hlsget with media files", .ownThread, .timeLimit(.minutes(10))) struct MediaFileCommandTests {
    private static let languages = "\(SampleMedia.fixtures)/media/mp4/languages.mp4"

    private func document(_ path: String) async throws -> [String: Any] {
        let result = try await hlsget(["inspect", "--json", path])
        #expect(result.status == 0 && result.errors.isEmpty)
        return try #require(JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
    }

    struct File: Sendable, CustomTestStringConvertible {
        var name: String
        var container: String
        var codecs: [String]
        var testDescription: String { name }
    }

    @Test(
        "inspect shows container, duration and tracks of a file",
        arguments: [
            File(name: "mp4/languages.mp4", container: "MP4", codecs: ["h264", "aac", "aac", "tx3g"]),
            File(name: "mp4/indexed.mp4", container: "fragmented MP4", codecs: ["h264", "aac"]),
            File(name: "ts-languages.ts", container: "MPEG-2 transport stream", codecs: ["h264", "aac", "aac"]),
            File(name: "packed.mp3", container: "packed audio", codecs: ["mp3"]),
            File(
                name: "containers/film.mkv", container: "Matroska", codecs: ["h264", "opus", "opus", "subrip", "ass"]),
            File(name: "containers/sound.aiff", container: "AIFF", codecs: ["pcm_s24be"]),
            File(name: "containers/sound.flac", container: "FLAC", codecs: ["flac"]),
        ])
    func inspect(_ file: File) async throws {
        let document = try await document("\(SampleMedia.fixtures)/media/\(file.name)")
        #expect(document["kind"] as? String == "file")
        #expect(document["container"] as? String == file.container)
        #expect((document["duration"] as? Double ?? 0) > 0.4)
        let tracks = try #require(document["tracks"] as? [[String: Any]])
        #expect(tracks.compactMap { $0["codec"] as? String } == file.codecs)
        if file.name.contains("languages") {
            #expect(tracks.dropFirst().prefix(2).map { $0["language"] as? String } == ["eng", "deu"])
            #expect(tracks.first?["width"] as? Int == 64)
            #expect(tracks.allSatisfy { $0["playable"] as? Bool == true })
        }
    }

    private static func file(_ name: String, describedBy boxes: [UInt8]) throws -> [UInt8] {
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/mp4/\(name)")))
        var end = 0
        for name in ["moov", "trak", "mdia", "minf", "stbl", "stsd", "hvc1"] {
            // The first match is a box, because no brand has any of these names.
            let at = try #require((0..<bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual(name.utf8) }) - 4
            let size = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            bytes.replaceSubrange(at..<at + 4, with: big(size + boxes.count, 4))
            end = at + size
        }
        bytes.insert(contentsOf: boxes, at: end)
        return bytes
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (1...count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - $0))) }
    }

    private static func box(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        big(payload.count + 8, 4) + Array(name.utf8) + payload
    }

    @Test("inspect shows the colours and HDR grading of a file")
    func highDynamicRange() async throws {
        let places = [8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450].flatMap { Self.big($0, 2) }
        let boxes =
            Self.box("colr", Array("nclx".utf8) + [9, 16, 9].flatMap { Self.big($0, 2) } + [0])
            + Self.box("mdcv", places + Self.big(10_000_000, 4) + Self.big(50, 4))
            + Self.box("clli", Self.big(1000, 2) + Self.big(400, 2))
        let folder = try ScratchFolder()
        let path = try folder.write(try Self.file("hvc1.mp4", describedBy: boxes), to: "hdr.mp4")
        let tracks = try #require(try await document(path)["tracks"] as? [[String: Any]])
        let track = try #require(tracks.first)
        #expect(track["codec"] as? String == "hevc")
        #expect(
            ["color_primaries", "transfer_function", "matrix"].map { track[$0] as? String }
                == ["bt2020", "smpte2084", "bt2020nc"])
        let display = try #require(track["mastering_display"] as? [String: Any])
        #expect(
            ["red", "green", "blue", "white_point"].map { display[$0] as? [Double] } == [
                [0.708, 0.292], [0.17, 0.797], [0.131, 0.046], [0.3127, 0.329],
            ])
        #expect(display["minimum_luminance"] as? Double == 0.005 && display["maximum_luminance"] as? Double == 1000)
        #expect(track["content_light_level"] as? [String: Int] == ["maximum": 1000, "maximum_frame_average": 400])

        let table = try await hlsget(["inspect", path])
        let text = String(decoding: table.output, as: UTF8.self)
        #expect(
            text.contains(
                "bt2020/smpte2084/bt2020nc, graded on 0.005-1000 cd/m2, pixels up to 1000, frames up to 400 cd/m2"))
        let plain = try await document("\(SampleMedia.fixtures)/media/mp4/hvc1.mp4")["tracks"] as? [[String: Any]]
        #expect(plain?.first?["mastering_display"] == nil && plain?.first?["content_light_level"] == nil)
    }

    @Test("a file larger than the playlist limit is inspected over HTTP, too")
    func large() async throws {
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: Self.languages)))
        bytes += [1, 0x10, 0, 0] + Array("free".utf8) + [UInt8](repeating: 0, count: 0x110_0000 - 8)
        let file = bytes
        try await withServer(answering: { connection, _ in connection.respond(file) }) { server in
            let document = try await document("\(server.url)/film.mp4")
            #expect(document["container"] as? String == "MP4")
        }
    }

    @Test("inspect shows a file as a table, and reports a file that is neither media nor playlist")
    func table() async throws {
        let result = try await hlsget(["inspect", Self.languages])
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == 0)
        #expect(text.contains("media file: MP4, 0:20") && text.contains("TRACKS") && text.contains("64x36"))
        let folder = try ScratchFolder()
        try folder.write(Array("neither".utf8), to: "x.txt")
        let other = try await hlsget(["inspect", "x.txt"], in: folder)
        #expect(other.status == 5)
    }

    @Test("K03: captions saves a subtitle track of a file", arguments: ["srt", "vtt"])
    func captions(_ format: String) async throws {
        let list = try await hlsget(["captions", "--list", Self.languages])
        #expect(list.status == 0 && String(decoding: list.output, as: UTF8.self).hasPrefix("subtitles           fr"))
        let result = try await hlsget(["captions", "-q", "-f", format, Self.languages])
        #expect(result.status == 0, "\(result.errors)")
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
        let times = lines.filter { $0.contains("-->") }.map { $0.replacing(",", with: ".") }
        #expect(times == ["00:00:01.000 --> 00:00:03.000", "00:00:05.500 --> 00:00:07.000"])
        #expect(lines.contains("One") && lines.contains("Two"))
    }

    @Test("a text track with chapters is shown as chapters", arguments: ["list", "inspect"])
    func chapterTrack(_ command: String) async throws {
        let file = "\(SampleMedia.fixtures)/media/mp4/tagged.mp4"
        let result = try await hlsget([command, file])
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == 0 && text.contains("chapters") && !text.contains("cannot be played"), "\(text)")
        let tracks = try #require(try await document(file)["tracks"] as? [[String: Any]])
        #expect(tracks.map { $0["chapters"] as? Bool } == [nil, true])
    }

    private static let tagged = "\(SampleMedia.fixtures)/media/mp4/tagged.mp4"

    @Test("list and inspect show metadata and chapters of a file", arguments: ["list", "inspect"])
    func metadata(_ command: String) async throws {
        let result = try await hlsget([command, Self.tagged])
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == 0)
        for part in ["METADATA", "title", "A test", "Some one", "CHAPTERS", "One", "Two", "0.200"] {
            #expect(text.contains(part), "\(part)")
        }
        let json = try await hlsget([command, "--json", Self.tagged])
        let document = try #require(JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
        let metadata = try #require(document["metadata"] as? [[String: Any]])
        let title = try #require(metadata.first { $0["name"] as? String == "title" })
        #expect(title["value"] as? String == "A test" && title["key"] as? String == "com.apple.itunes/©nam")
        let chapters = try #require(document["chapters"] as? [[String: Any]])
        #expect(chapters.map { $0["title"] as? String } == ["One", "Two"])
        #expect(chapters.map { $0["start"] as? Double } == [0, 0.2])
    }

    private static func words(_ name: String, in folder: ScratchFolder) throws -> (title: String?, chapters: [String]) {
        let output = try Tool.run(
            ["/usr/bin/ffprobe", "-v", "error", "-show_chapters", "-show_format", "-of", "json", name], in: folder.path)
        let document = try #require(JSONSerialization.jsonObject(with: Data(output)) as? [String: Any])
        let format = document["format"] as? [String: Any]
        let chapters = (document["chapters"] as? [[String: Any]] ?? []).map { chapter in
            let start = (chapter["start_time"] as? String).flatMap(Double.init) ?? .nan
            return "\(start) \((chapter["tags"] as? [String: Any])?["title"] as? String ?? "")"
        }
        return ((format?["tags"] as? [String: Any])?["title"] as? String, chapters)
    }

    @Test(
        "download and play keep the title and chapters of a file", .enabled(if: ProbedFile.isAvailable),
        arguments: [["download"], ["--fast"], []], ["mp4", "mkv"])
    func keepsMetadata(_ command: [String], ending: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(command + ["-q", "-o", "x.\(ending)", Self.tagged], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let words = try Self.words("x.\(ending)", in: folder)
        #expect(words.title == "A test" && words.chapters == ["0.0 One", "0.2 Two"], "\(words)")
    }

    @Test(
        "download and play write the session data of a stream", .enabled(if: ProbedFile.isAvailable),
        arguments: ["download", "play"], ["mp4", "mkv"])
    func sessionData(_ command: String, ending: String) async throws {
        let folder = try ScratchFolder()
        let chapters = """
            [{"start-time":0,"titles":[{"title":"One","language":"en"}]},
             {"start-time":5,"duration":35,"titles":[{"title":"Two","language":"en"}]}]
            """
        try folder.write(Array(chapters.utf8), to: "chapters.json")
        let list = """
            #EXTM3U
            #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.title",VALUE="A film",LANGUAGE="en"
            #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="chapters.json"
            #EXT-X-STREAM-INF:BANDWIDTH=100000
            file://\(SampleMedia.folder)/video-180p.m3u8

            """
        try folder.write(Array(list.utf8), to: "m.m3u8")
        let output = ["-q", "--allow-file", "-o", "x.\(ending)"]
        let result = try await hlsget([command] + output + ["m.m3u8"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let words = try Self.words("x.\(ending)", in: folder)
        #expect(words.title == "A film" && words.chapters == ["0.0 One", "5.0 Two"], "\(words)")
        let part = try await hlsget(
            [command, "-q", "--allow-file", "--from", "8", "--to", "12", "-o", "y.\(ending)", "m.m3u8"], in: folder)
        #expect(part.status == 0, "\(part.errors)")
        #expect(try Self.words("y.\(ending)", in: folder).chapters == ["0.0 Two"])
        try folder.write(Array("no chapters".utf8), to: "chapters.json")
        let other = try await hlsget([command, "--allow-file", "-o", "z.\(ending)", "m.m3u8"], in: folder)
        #expect(other.status == 0 && other.errors.contains("metadata of the stream is left out"), "\(other.errors)")
        #expect(try Self.words("z.\(ending)", in: folder).title == "A film")
    }

    private static let film = "\(SampleMedia.fixtures)/media/containers/film.mkv"

    @Test(
        "A15: download and play write a Matroska file to other containers", .enabled(if: ProbedFile.isAvailable),
        arguments: [["download"], ["--fast"]], ["mp4", "mkv"])
    func matroska(_ command: [String], ending: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(command + ["-q", "-o", "x.\(ending)", Self.film], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let streams = try ProbedFile("x.\(ending)", in: folder, hasChapters: true).streams
        #expect(streams.map(\.type).filter { $0 != "data" }.sorted() == ["audio", "video"])
        let words = try Self.words("x.\(ending)", in: folder)
        #expect(words.title == "A film" && words.chapters == ["0.0 One", "5.0 Two"], "\(words)")
        let list = try await hlsget(["inspect", "--json", "x.\(ending)"], in: folder)
        #expect(list.status == 0, "\(list.errors)")
    }

    @Test("A15: captions and thumbnails are made of a Matroska file")
    func matroskaCaptions() async throws {
        let folder = try ScratchFolder()
        let captions = try await hlsget(["captions", "-q", "-f", "srt", Self.film])
        #expect(captions.status == 0, "\(captions.errors)")
        let text = String(decoding: captions.output, as: UTF8.self)
        #expect(text.contains("00:00:07,503 --> 00:00:09,003") && text.contains("<i>One</i>"), "\(text)")
        let images = try await hlsget(["thumbnails", "-q", "--count", "3", Self.film], in: folder)
        #expect(images.status == 0, "\(images.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
    }

    @Test("A15: audio files that hlsget writes can be read", arguments: ["wav", "mka", "mkv"])
    func ownFiles(_ ending: String) async throws {
        let folder = try ScratchFolder()
        let written = try await hlsget(
            ["--fast", "-q", "--to", "8", "-o", "x.\(ending)", SampleMedia.folder + "/master.m3u8"], in: folder)
        #expect(written.status == 0, "\(written.errors)")
        let played = try await hlsget(["--fast", "-f", "null", "--json", "x.\(ending)"], in: folder)
        #expect(played.status == 0, "\(played.errors)")
        let list = try await hlsget(["inspect", "--json", "x.\(ending)"], in: folder)
        let document = try #require(JSONSerialization.jsonObject(with: Data(list.output)) as? [String: Any])
        #expect(abs((document["duration"] as? Double ?? 0) - 8) < 0.3)
    }

    @Test("A15: a WAV file keeps its samples across the segments it is read in", arguments: [["--fast"], []])
    func exactAudio(_ options: [String]) async throws {
        let folder = try ScratchFolder()
        let samples = (0..<13 * 11_025).map { UInt16($0 % 30_011) }
        func bytes(_ number: Int, _ count: Int = 4) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let payload = samples.flatMap { bytes(Int($0), 2) }
        try folder.write(
            Array("RIFF".utf8) + bytes(36 + payload.count) + Array("WAVEfmt ".utf8) + bytes(16) + bytes(1, 2)
                + bytes(1, 2) + bytes(11_025) + bytes(22_050) + bytes(2, 2) + bytes(16, 2) + Array("data".utf8)
                + bytes(payload.count) + payload, to: "a.wav")
        let result = try await hlsget(options + ["-q", "-f", "s16le", "-o", "b.raw", "a.wav"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let written = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/b.raw"))
        #expect(Array(written) == payload)
    }

    @Test("download keeps a subtitle track of a file", .enabled(if: ProbedFile.isAvailable), arguments: ["mp4", "mkv"])
    func downloadSubtitles(_ ending: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["download", "-q", "--subs", "all", "-o", "x.\(ending)", Self.languages], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let text = try ProbedFile("x.\(ending)", in: folder).streams.filter { $0.type == "subtitle" }
        #expect(text.map(\.language) == ["fre"] || text.map(\.language) == ["fra"])
        let captions = try await hlsget(["captions", "-q", "-f", "srt", "x.mp4"], in: folder)
        if ending == "mp4" {
            #expect(captions.status == 0, "\(captions.errors)")
            #expect(String(decoding: captions.output, as: UTF8.self).contains("00:00:05,500 --> 00:00:07,000\nTwo"))
        }
    }

    @Test(
        "download remuxes a file's samples", .enabled(if: ProbedFile.isAvailable),
        arguments: ["mp4", "mkv", "ts"])
    func download(_ ending: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["download", "-q", "--audio", "lang=de", "-o", "x.\(ending)", Self.languages], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let probed = try ProbedFile("x.\(ending)", in: folder)
        #expect(probed.streams.map(\.type).sorted() == ["audio", "video"])
        let frames = try ProbedFile.frames("x.\(ending)", in: folder)
        let expected = try ProbedFile.frames(Self.languages, in: folder)
        #expect(frames == expected)
    }

    @Test("download takes all audio tracks of a file", .enabled(if: ProbedFile.isAvailable))
    func allAudio() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["download", "-q", "--audio", "all", "-o", "x.mkv", Self.languages], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let sounds = try ProbedFile("x.mkv", in: folder).streams.filter { $0.type == "audio" }
        #expect(sounds.map(\.language) == ["eng", "ger"])
    }
}
