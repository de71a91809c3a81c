import Foundation
import TestSupport
import Testing

@Suite("Names, roles and languages of tracks in files", .ownThread, .timeLimit(.minutes(10)))
struct TrackDescriptionCommandTests {
    private static func folder() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        for name in try FileManager.default.contentsOfDirectory(atPath: SampleMedia.folder)
        where name.hasPrefix("subtitles-en") {
            files[name] = FileManager.default.contents(atPath: SampleMedia.folder + "/" + name).map(Array.init)
        }
        files["b.m3u8"] = files["a.m3u8"]
        for name in ["t.m3u8", "u.m3u8"] { files[name] = files["subtitles-en.m3u8"] }
        files["master.m3u8"] = Array(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Original",LANGUAGE="en",DEFAULT=YES,URI="a.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Described",LANGUAGE="en-GB",\
            CHARACTERISTICS="public.accessibility.describes-video",URI="b.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="简体",LANGUAGE="zh-Hans",URI="subtitles-en.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="繁體",LANGUAGE="zh-Hant",\
            CHARACTERISTICS="public.accessibility.describes-music-and-sound",URI="t.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Signs",LANGUAGE="en",FORCED=YES,URI="u.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=127446,RESOLUTION=320x180,AUDIO="a",SUBTITLES="s"
            v.m3u8

            """.utf8)
        files["inside.m3u8"] = Array(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Original",LANGUAGE="zh-Hant",DEFAULT=YES
            #EXT-X-STREAM-INF:BANDWIDTH=127446,AUDIO="a"
            ts.m3u8

            """.utf8)
        files["ts.m3u8"] = Array("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:2,\nx.ts\n#EXT-X-ENDLIST\n".utf8)
        files["x.ts"] = FileManager.default.contents(atPath: "\(SampleMedia.fixtures)/media/ts-h264-aac.ts").map(
            Array.init)
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        return folder
    }

    private static func tracks(_ name: String, in folder: ScratchFolder) async throws -> [String] {
        let result = try await hlsget(["inspect", "--json", name], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let document = try #require(JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
        let tracks = try #require(document["tracks"] as? [[String: Any]])
        return tracks.filter { $0["type"] as? String != "video" }.map { track in
            let facts = ["type", "language", "name", "characteristics"].compactMap { track[$0] as? String }
            return (facts + ["default", "forced"].filter { track[$0] as? Bool == true }).joined(separator: " ")
        }
    }

    private static let expected = [
        "audio eng Original default", "audio en-GB Described public.accessibility.describes-video", "text zh-Hans 简体",
        "text zh-Hant 繁體 "
            + "public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound",
        "text eng Signs forced",
    ]

    @Test(
        "S03: tracks of a written file are shown and chosen, and keep their description in another format",
        arguments: [("mp4", "mkv"), ("mkv", "mp4")])
    func described(_ format: String, _ other: String) async throws {
        let folder = try Self.folder()
        let options = ["download", "-q", "--audio", "all", "--subs", "all"]
        let first = try await hlsget(options + ["-o", "a.\(format)", "master.m3u8"], in: folder)
        #expect(first.status == 0, "\(first.errors)")
        #expect(try await Self.tracks("a.\(format)", in: folder) == Self.expected)
        let second = try await hlsget(options + ["-o", "b.\(other)", "a.\(format)"], in: folder)
        #expect(second.status == 0, "\(second.errors)")
        #expect(try await Self.tracks("b.\(other)", in: folder) == Self.expected)

        for command in ["list", "inspect"] {
            let table = String(decoding: try await hlsget([command, "b.\(other)"], in: folder).output, as: UTF8.self)
            for part in ["Described", "audio description", "简体", "SDH", "Signs", "forced"] {
                #expect(table.contains(part), "\(part) in \(table)")
            }
        }
        for (command, number) in [(["download"], 1), (["--fast"], 2)] {
            let chosen = try await hlsget(
                command + ["-q", "--audio", "name=Described", "-o", "c\(number).mkv", "b.\(other)"], in: folder)
            #expect(chosen.status == 0, "\(chosen.errors)")
            #expect(try await Self.tracks("c\(number).mkv", in: folder) == [Self.expected[1]])
        }
    }

    @Test(
        "S03: audio inside the variant, and audio alone, has the name of its rendition",
        arguments: [
            ["download", "inside.m3u8"], ["--fast", "inside.m3u8"], ["download", "--no-video", "master.m3u8"],
            ["--fast", "--no-video", "master.m3u8"],
        ])
    func single(_ command: [String]) async throws {
        let folder = try Self.folder()
        let result = try await hlsget(command + ["-q", "-o", "a.mkv"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let language = command.contains("inside.m3u8") ? "zh-Hant" : "eng"
        #expect(try await Self.tracks("a.mkv", in: folder) == ["audio \(language) Original default"])
    }

    @Test("a name that only repeats kind and language is not written")
    func nameless() async throws {
        let folder = try ScratchFolder()
        let film = "\(SampleMedia.fixtures)/media/mp4/languages.mp4"
        let result = try await hlsget(
            ["download", "-q", "--audio", "all", "--subs", "all", "-o", "a.mkv", film], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Self.tracks("a.mkv", in: folder) == ["audio eng default", "audio ger", "text fre"])
    }
}
