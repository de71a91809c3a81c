import Foundation
import TestSupport
import Testing

@testable import HLSKitCore

@Suite("folder of a download")
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

    @Test("S02: a file may be written twice at the same time")
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

    @Test("S02: what was being written when an earlier run was killed is removed, what others put there is not")
    func leftovers() throws {
        let scratch = try ScratchFolder()
        for name in ["d/key.bin.3.new", "d/main-01/1.ts.9.new", "d/mine/a.new", "d/a.txt"] {
            try scratch.write([1], to: name)
        }
        let folder = try DownloadFolder(path: scratch.path + "/d")
        #expect(names(folder.path) == ["a.txt", "journal.ndjson", "main-01", "mine", "mine/a.new"])
    }

    @Test("S02: what turned out to be of no use is gone for the next run, and what only it needed")
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

    @Test("S02: a file that is not as it was is removed")
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
}
