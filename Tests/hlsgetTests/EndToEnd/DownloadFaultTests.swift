import Foundation
import TestSupport
import Testing

@Suite("hlsget download from faulty servers", .timeLimit(.minutes(2)))
struct DownloadFaultTests {
    private func names(in folder: ScratchFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(
        "R1, R70: an initialization section that is not there once, or is none, is asked for again",
        arguments: [FaultyOrigin.Fault.status("404 Not Found"), .bytes(FaultyOrigin.page)])
    func map(_ fault: FaultyOrigin.Fault) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try CutStream.files(), ["v-init.mp4": (fault, 1)])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "download", "--strict", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try await FaultyOrigin.pictures("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("S02: files of the same contents under several URLs, and a rendition that is listed twice")
    func equalFiles() async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        let list = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        var number = 0
        let lines = list.flatMap { line -> [String] in
            guard line.hasPrefix("#EXTINF") else { return [line] }
            number += 1
            return ["#EXT-X-MAP:URI=\"v-init.mp4?n=\(number)\"", line]
        }
        files["v.m3u8"] = Array((lines.joined(separator: "\n") + "\n").utf8)
        let master = String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
        let media = master.split(separator: "\n").first { $0.contains("TYPE=AUDIO") } ?? ""
        files["master.m3u8"] = Array(master.replacing(media, with: "\(media)\n\(media)").utf8)
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "download", "--audio", "all", "--connections", "16", "-o", "a.mp4", "\(server.url)/master.m3u8",
                in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("21 segments"))
        }
        #expect(try names(in: folder) == ["a.mp4"])
        #expect(try await FaultyOrigin.pictures("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("S02: what turns out to be unreadable is loaded again by the next run")
    func unreadable() async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        // It begins as media does.
        let broken = Array((files["v3.m4s"] ?? []).prefix(2000)) + Array(repeating: 0xFF, count: 500)
        let faulty = FaultyOrigin(files, ["v3.m4s": (.bytes(broken), .max)])
        try await withServer(answering: faulty.answer) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("cannot be read"), "\(result.errors)")
            #expect(try names(in: folder) == ["a.mp4", "a.mp4.download"])
        }
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "download", "--overwrite", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("1 damaged loaded again"), "\(result.errors)")
        }
        #expect(try names(in: folder) == ["a.mp4"])
        #expect(try await FaultyOrigin.pictures("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("S03: sound that the first part of a stream does not have", .enabled(if: ProbedFile.isAvailable))
    func bumper() async throws {
        let folder = try ScratchFolder()
        let master = SampleMedia.folder + "/master.m3u8"
        for (name, options) in [("silent.ts", ["--no-audio"]), ("whole.ts", [])] {
            let result = try await hlsget(
                ["--fast", "--to", "4", "--quality", "180p", "-o", name, master] + options, in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            silent.ts
            #EXT-X-DISCONTINUITY
            #EXTINF:4,
            whole.ts
            #EXT-X-ENDLIST

            """
        try folder.write(Array(text.utf8), to: "list.m3u8")
        for (format, parts) in [("ts", ["a.ts"]), ("mkv", ["a.mkv", "a.2.mkv"]), ("mp4", ["a.mp4", "a.2.mp4"])] {
            let result = try await hlsget("download", "-o", "a.\(format)", "list.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let last = try ProbedFile(parts.last ?? "", in: folder)
            #expect(Set(last.streams.map(\.type)) == ["video", "audio"], "\(format)")
            #expect(parts.allSatisfy { FileManager.default.fileExists(atPath: "\(folder.path)/\($0)") })
        }
    }
}
