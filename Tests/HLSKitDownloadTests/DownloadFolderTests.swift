import Foundation
import Glibc
import HLSKitLoading
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Download folder")
struct DownloadFolderTests {
    private func names(_ folder: String) -> [String] {
        (FileManager.default.subpaths(atPath: folder) ?? []).sorted()
    }

    private func segment(_ number: Int, _ file: DownloadJournal.File?, map: String? = nil) -> DownloadJournal.Segment {
        var segment = DownloadJournal.Segment(
            lane: "main", sequence: number, name: "\(number).ts", start: Int64(number), duration: 1)
        (segment.file, segment.map) = (file, map)
        return segment
    }

    @Test("S02: a file can be written twice at the same time")
    func sameName() throws {
        let scratch = try ScratchFolder()
        let folder = try DownloadFolder(path: scratch.path + "/d")
        let one = try DownloadFile(folder: folder, name: "key.bin")
        let other = try DownloadFile(folder: folder, name: "key.bin")
        for file in [one, other] { try file.write([1, 2, 3]) }
        #expect(try one.finish() == other.finish())
        #expect(try folder.bytes(of: "key.bin") == [1, 2, 3])
        #expect(names(folder.path) == ["journal.ndjson", "key.bin"])
    }

    @Test("S02: a closed folder can be opened, even if a process that is being started has the descriptor")
    func inheritedLock() throws {
        let scratch = try ScratchFolder()
        let path = scratch.path + "/d"
        let first = try DownloadFolder(path: path)
        let inherited = try #require(InheritedDescriptor(of: path + "/journal.ndjson"))
        first.closeJournal()
        #expect(throws: Never.self) { try DownloadFolder(path: path) }
        withExtendedLifetime(inherited) {}
    }

    @Test("S02: unfinished files of a killed run are removed, and other users' files are kept")
    func leftovers() throws {
        let scratch = try ScratchFolder()
        for name in ["d/key.bin.3.new", "d/main-01/1.ts.9.new", "d/mine/a.new", "d/a.txt"] {
            try scratch.write([1], to: name)
        }
        let folder = try DownloadFolder(path: scratch.path + "/d")
        #expect(names(folder.path) == ["a.txt", "journal.ndjson", "main-01", "mine", "mine/a.new"])
    }

    @Test("S02: discarded segments are removed for the next run with the resources only they needed")
    func discarded() throws {
        let scratch = try ScratchFolder()
        let folder = try DownloadFolder(path: scratch.path + "/d")
        let maps = try ["a", "b"].map { try folder.write(Array($0.utf8), to: "main-1/map-\($0).mp4") }
        let files = try (0..<3).map { try folder.write([UInt8($0)], to: "main-1/\($0).m4s") }
        let segments = (0..<3).map { segment($0, files[$0], map: maps[$0 == 2 ? 1 : 0].name) }
        try folder.add([.header(url: "u", identity: "")] + maps.map { .resource($0) } + segments.map { .segment($0) })
        folder.discard([segments[0], segments[2]])
        #expect(names(folder.path) == ["journal.ndjson", "main-1", "main-1/1.m4s", "main-1/map-a.mp4"])
        #expect(folder.verify() == 2)
        #expect(folder.journal.segments(of: "main") == [segments[1]])
    }

    @Test("S02: a changed file is removed")
    func damaged() throws {
        let scratch = try ScratchFolder()
        let folder = try DownloadFolder(path: scratch.path + "/d")
        let file = try folder.write([1, 2], to: "main-1/0.ts")
        try folder.add([.header(url: "u", identity: ""), .segment(segment(0, file))])
        try scratch.write([1, 3], to: "d/main-1/0.ts")
        #expect(folder.verify() == 1)
        folder.remove()
        #expect(names(scratch.path).isEmpty)
    }

    private static let evilJournal =
        DownloadJournal.Entry.header(url: "u", identity: "").line
        + Array("{\"file\":\"main-e/precious.txt\",\"bytes\":1,\"md5\":\"00\"}\n".utf8)

    @Test("a folder with a planted link removes nothing elsewhere, and is refused")
    func plantedLink() throws {
        let scratch = try ScratchFolder()
        for name in ["victim/precious.txt", "victim/a.new", "victim/b.part"] { try scratch.write([1], to: name) }
        try scratch.write(Self.evilJournal, to: "d/journal.ndjson")
        symlink(scratch.path + "/victim", scratch.path + "/d/main-e")
        let error = #expect(throws: HLSError.self) { try DownloadFolder(path: scratch.path + "/d") }
        #expect(error?.text.contains("is a link") == true, "\(error?.text ?? "")")
        #expect(names(scratch.path + "/victim") == ["a.new", "b.part", "precious.txt"])
    }

    @Test("a link that appears while the folder is in use is not followed")
    func lateLink() throws {
        let scratch = try ScratchFolder()
        for name in ["victim/precious.txt", "victim/a.new"] { try scratch.write([1], to: name) }
        try scratch.write(Self.evilJournal, to: "d/journal.ndjson")
        let folder = try DownloadFolder(path: scratch.path + "/d")
        symlink(scratch.path + "/victim", scratch.path + "/d/main-e")
        #expect(throws: HLSError.self) { try folder.write([1], to: "main-e/1.ts") }
        #expect(throws: HLSError.self) { try folder.bytes(of: "main-e/precious.txt") }
        _ = folder.verify()
        folder.discard("main-e/precious.txt")
        folder.remove()
        #expect(names(scratch.path + "/victim") == ["a.new", "precious.txt"])
    }

    @Test("a folder or journal that is a link or a pipe is refused and not followed", arguments: [true, false])
    func linkedFolder(isFolder: Bool) throws {
        let scratch = try ScratchFolder()
        try scratch.write(Array("keep".utf8), to: "victim/journal.ndjson")
        if isFolder {
            symlink(scratch.path + "/victim", scratch.path + "/d")
        } else {
            mkdir(scratch.path + "/d", 0o777)
            symlink(scratch.path + "/victim/journal.ndjson", scratch.path + "/d/journal.ndjson")
        }
        let error = #expect(throws: HLSError.self) { try DownloadFolder(path: scratch.path + "/d") }
        #expect(error?.text.contains("is a link") == true, "\(error?.text ?? "")")
        #expect(FileManager.default.contents(atPath: scratch.path + "/victim/journal.ndjson") == Data("keep".utf8))
        mkdir(scratch.path + "/p", 0o777)
        mkfifo(scratch.path + "/p/journal.ndjson", 0o666)
        #expect(throws: HLSError.self) { try DownloadFolder(path: scratch.path + "/p") }
    }

    @Test("another user's folder is refused", .enabled(if: geteuid() == 0, "needs root"))
    func foreignFolder() throws {
        let scratch = try ScratchFolder()
        for name in ["d", "d/main-1"] {
            let folder = try DownloadFolder(path: scratch.path + "/d")
            _ = try folder.write([1], to: "main-1/0.ts")
            folder.closeJournal()
            chown("\(scratch.path)/\(name)", 12345, 12345)
            let error = #expect(throws: HLSError.self) { try DownloadFolder(path: scratch.path + "/d") }
            #expect(error?.text.contains("belongs to another user") == true, "\(error?.text ?? "")")
            chown("\(scratch.path)/\(name)", 0, 0)
        }
    }

    @Test("a folder that was moved and replaced is not mistaken for the original")
    func replaced() throws {
        let scratch = try ScratchFolder()
        let folder = try DownloadFolder(path: scratch.path + "/d")
        #expect(throws: Never.self) { try folder.checkPlace() }
        rename(scratch.path + "/d", scratch.path + "/away")
        mkdir(scratch.path + "/d", 0o777)
        #expect(throws: HLSError.self) { try folder.checkPlace() }
        #expect(throws: HLSError.self) { try folder.move(to: scratch.path + "/end") }
        folder.remove()
        #expect(names(scratch.path) == ["away", "d"])
    }
}
