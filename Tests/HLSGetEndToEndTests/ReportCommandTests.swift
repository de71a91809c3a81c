import Foundation
import TestSupport
import Testing

@Suite("hlsget report", .ownThread, .timeLimit(.minutes(10)))
struct ReportCommandTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    private static func text(_ name: String, in folder: ScratchFolder) throws -> String {
        try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
    }

    @Test("Q12: play --report writes a page, and report makes the same one from the written lines")
    func samePage() async throws {
        let folder = try ScratchFolder()
        let played = try await hlsget(
            "--fast", "--no-decode", "--to", "12", "--report", "r.html", "--progress", "json", Self.master, in: folder)
        #expect(played.status == 0, "\(played.errors)")
        let page = try Self.text("r.html", in: folder)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
        #expect(page.contains("hlsget/") && page.contains("f-body"))
        #expect(!page.contains("could not be read") && !page.contains("does not know"))
        try folder.write(Array(played.errors.utf8), to: "log")
        let reported = try await hlsget("report", "log", in: folder)
        #expect(reported.status == 0, "\(reported.errors)")
        // The pages are equal apart from the name of the log.
        let body = String(decoding: reported.output, as: UTF8.self).replacing(" · log</p>", with: "</p>")
        #expect(body == page)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/r.html")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("Q12: two logs, standard input, and an access log with the lines of one session are accepted")
    func logs() async throws {
        let folder = try ScratchFolder()
        let played = try await hlsget(
            "--fast", "--no-decode", "--to", "8", "-q", "--progress", "json", "--access-log", "a.log", Self.master,
            in: folder)
        try folder.write(Array(played.errors.utf8), to: "log")
        let pair = try await hlsget("report", "log", "log", "-o", "pair.html", in: folder)
        #expect(pair.status == 0 && pair.output.isEmpty, "\(pair.errors)")
        #expect(try Self.text("pair.html", in: folder).contains("<main class=\"pair\">"))
        let both = try await hlsget("report", "log", "a.log", in: folder)
        #expect(String(decoding: both.output, as: UTF8.self).contains("<h3>Access log</h3>"))
        let input = try await hlsget(["report", "-"], in: folder, input: folder.path + "/log")
        #expect(input.status == 0 && String(decoding: input.output, as: UTF8.self).contains("standard input"))
    }

    @Test("an empty error log next to other logs is accepted")
    func emptyErrorLog() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(#"{"v":1,"event":"progress","item_time":1,"time":1}"#.utf8), to: "log")
        try folder.write([], to: "errors")
        let both = try await hlsget("report", "log", "errors", in: folder)
        #expect(both.status == 0 && both.errors.isEmpty && !both.output.isEmpty, "\(both.errors)")
        for logs in [["errors"], ["errors", "errors"]] {
            let empty = try await hlsget(["report"] + logs, in: folder)
            #expect(empty.status == 5 && empty.output.isEmpty, "\(empty.errors)")
        }
    }

    @Test("Q12: a failed session has a report, too, and one that never began leaves no file")
    func failures() async throws {
        let folder = try ScratchFolder()
        let failed = try await hlsget("--report", "r.html", folder.path + "/none.m3u8", in: folder)
        #expect(failed.status == 3, "\(failed.errors)")
        #expect(try Self.text("r.html", in: folder).contains("It ended with an error: "))
        let taken = try await hlsget("--report", "r.html", "--fast", Self.master, in: folder)
        #expect(taken.status == 9 && taken.errorLines.count == 1, "\(taken.errors)")
        let refused = try await hlsget(
            "--report", "new.html", "--record-trace", "none/trace", "--fast", Self.master, in: folder)
        #expect(refused.status == 9, "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/new.html"))
    }

    @Test(
        "Q12: mistakes have one line and their exit status",
        arguments: [
            (["report"], 64), (["report", "none"], 3), (["report", "text"], 5), (["report", "log", "-o", "text"], 9),
            (["report", "log", "-o", "none/r.html"], 9), (["report", "log", "log", "log"], 64),
            (["--report", "x", "--access-log", "x", "y.m3u8"], 64),
        ] as [([String], Int32)])
    func mistakes(arguments: [String], status: Int32) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("Hello\nWorld\n".utf8), to: "text")
        try folder.write(Array(#"{"v":1,"event":"progress","item_time":1,"time":1}"#.utf8), to: "log")
        let result = try await hlsget(arguments, in: folder)
        #expect(result.status == status, "\(result.errors)")
        #expect(!result.errors.isEmpty && result.output.isEmpty)
        #expect(try Self.text("text", in: folder) == "Hello\nWorld\n")
    }
}
