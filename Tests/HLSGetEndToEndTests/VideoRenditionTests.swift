import Foundation
import TestSupport
import Testing

@Suite("Video renditions", .ownThread, .timeLimit(.minutes(10)))
struct VideoRenditionTests {
    /// Returns a folder with the sample's lowest variant and the next one as a second camera angle.
    private static func folder() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Main",DEFAULT=YES,AUTOSELECT=YES
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Dugout",URI="\(SampleMedia.folder)/video-360p.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=127446,CODECS="avc1.4d400d",VIDEO="v"
            \(SampleMedia.folder)/video-180p.m3u8

            """
        try folder.write(Array(master.utf8), to: "master.m3u8")
        return folder
    }

    private static func frames(
        of file: String, _ options: [String] = [], in folder: ScratchFolder
    ) async throws -> (size: String?, count: Int) {
        let result = try await hlsget(
            ["--fast", "--allow-file", "-f", "framemd5", "-o", "-"] + options + [file], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        let size = lines.first { $0.hasPrefix("#dimensions 0: ") }.map { String($0.dropFirst("#dimensions 0: ".count)) }
        return (size, lines.count { !$0.hasPrefix("#") })
    }

    @Test(
        "I03: --video selects a rendition for playback and downloads",
        arguments: [
            ([], "320x180"), (["--video", "name=Main"], "320x180"), (["--video", "name=Dugout"], "640x360"),
        ] as [([String], String)])
    func selected(_ options: [String], _ size: String) async throws {
        let folder = try Self.folder()
        let played = try await Self.frames(of: "master.m3u8", options, in: folder)
        #expect(played == (size, 1000))
        let result = try await hlsget(
            ["download", "-q", "--allow-file", "-o", "a.mp4"] + options + ["master.m3u8"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Self.frames(of: "a.mp4", in: folder) == (size, 1000))
    }

    @Test("I03: an unknown rendition is an error, and the list shows the expression of each")
    func listed() async throws {
        let folder = try Self.folder()
        for arguments in [["--fast", "-f", "null"], ["download", "-o", "a.mp4"]] {
            let result = try await hlsget(
                arguments + ["--allow-file", "--video", "name=Bench", "master.m3u8"], in: folder)
            #expect(result.status == 6, "\(result.errors)")
            #expect(result.errors.contains("no video rendition matches"), "\(result.errors)")
        }
        let list = try await hlsget("list", "--allow-file", "master.m3u8", in: folder)
        let text = String(decoding: list.output, as: UTF8.self)
        #expect(list.status == 0 && text.contains("VIDEO RENDITIONS"), "\(list.errors)")
        #expect(text.contains("--video") && text.contains("name=Dugout"), "\(text)")
    }
}
