import Foundation
import HLSKitEngine
import HLSKitLoading
import HLSKitOutput
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Writing the output file during a download", .timeLimit(.minutes(10)))
struct DownloadPackingTests {
    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    private func packedAfterwards(
        as format: OutputFormat = .mp4, without missing: String? = nil,
        _ change: @escaping @Sendable (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> Data {
        try SampleServer.packed(as: format, meanwhile: false, without: missing, change)
    }

    @Test("S02: without an output file, all segments are synced to disk when the download ends")
    func syncedAlone() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            _ = try await task.run()
            #expect(!task.folder.needsSync)
        }
    }

    @Test(
        "S02: the file equals one written afterwards byte by byte, and is mostly done after loading",
        arguments: [OutputFormat.mp4, .ts, .mkv])
    func same(format: OutputFormat) throws {
        let expected = try packedAfterwards(as: format)
        let server = try SampleServer()
        let path = server.folder.path + "/a.\(format.rawValue)"
        try server.clock.run {
            let task = try await server.task { $0.fileFormat = format }
            _ = try await task.run()
            let part = DownloadFolder.byteCount(of: server.folder.path + "/d/output.\(format.rawValue).part") ?? 0
            #expect(part > expected.count / 2, "\(part) of \(expected.count)")
            _ = try await task.write(to: path, format: format)
            await task.removeFolder()
        }
        #expect(try SampleServer.isSame(bytes(path), expected, as: format))
        #expect(DownloadFolder.byteCount(of: server.folder.path + "/d") == nil)
    }

    @Test("S02: a partial download with subtitles and all audio also gives the same file")
    func choices() throws {
        let change: @Sendable (inout DownloadConfiguration) -> Void = {
            $0.startPosition = .time(.seconds(9))
            $0.endPosition = .time(.seconds(31))
            ($0.audio, $0.subtitles) = (.all, .all)
        }
        #expect(try SampleServer.packed(as: .mp4, meanwhile: true, change) == packedAfterwards(change))
    }

    @Test("S02: if a segment is missing at the end, the file equals one written afterwards")
    func missing() throws {
        // Includes all subtitles, so that the missing segment changes the file.
        let change: @Sendable (inout DownloadConfiguration) -> Void = { $0.subtitles = .all }
        let expected = try packedAfterwards(without: "subtitles-en-3.vtt", change)
        #expect(try expected != packedAfterwards(change))
        #expect(
            try SampleServer.packed(
                as: .mp4, meanwhile: true, without: "subtitles-en-3.vtt", change) == expected)
    }

    @Test("S02: a resumed run also writes the media that the earlier run left")
    func resumed() throws {
        let expected = try packedAfterwards()
        let server = try SampleServer()
        let path = server.folder.path + "/a.mp4"
        try server.clock.run {
            let first = try await server.task { $0.fileFormat = .mp4 }
            await first.resume(untilStored: 7)
            first.suspend()
            await #expect(throws: HLSError.self) { _ = try await first.result() }
            // Packed media is removed as soon as no run writes to it.
            #expect(DownloadFolder.byteCount(of: server.folder.path + "/d/output.mp4.part") == nil)
            let result = try await first.run()
            #expect(result.resumedSegmentCount >= 7)
            _ = try await first.write(to: path, format: .mp4)
        }
        #expect(try bytes(path) == expected)
    }

    @Test("S02: a format other than the expected one is written from the beginning")
    func otherFormat() throws {
        let expected = try packedAfterwards(as: .ts)
        let server = try SampleServer()
        let path = server.folder.path + "/a.ts"
        try server.clock.run {
            let task = try await server.task { $0.fileFormat = .mp4 }
            _ = try await task.run()
            _ = try await task.write(to: path, format: .ts)
            #expect(DownloadFolder.byteCount(of: server.folder.path + "/d/output.mp4.part") == nil)
        }
        #expect(try bytes(path) == expected)
    }

    @Test("S02: a file without its final name is not synced; if it never gets one, segments are synced")
    func synced() throws {
        let server = try SampleServer()
        try server.folder.write([1], to: "a.mp4")
        try server.clock.run {
            let task = try await server.task { $0.fileFormat = .mp4 }
            _ = try await task.run()
            #expect(task.folder.needsSync)
            await #expect(throws: HLSError.self) {
                _ = try await task.write(to: server.folder.path + "/a.mp4", format: .mp4)
            }
            #expect(!task.folder.needsSync)
            _ = try await task.write(to: server.folder.path + "/b.mp4", format: .mp4)
        }
        #expect(try bytes(server.folder.path + "/b.mp4") == packedAfterwards())
    }

    @Test("S02: recoverable files count at once and are synced on request")
    func delayed() throws {
        let scratch = try ScratchFolder()
        let folder = try DownloadFolder(path: scratch.path + "/d")
        let file = try DownloadFile(folder: folder, name: "main-1/0.ts")
        try file.write([1, 2])
        var segment = DownloadJournal.Segment(lane: "main", sequence: 0, name: "0.ts", start: 0, duration: 1)
        segment.file = try file.finish(syncs: false)
        try folder.add([.header(url: "u", identity: ""), .segment(segment)], syncs: false)
        #expect(folder.needsSync)
        #expect(folder.stored(segment) == segment)
        // Reads the journal as the next run would if this run had been killed.
        let bytes = [UInt8](try self.bytes(scratch.path + "/d/journal.ndjson"))
        #expect(DownloadJournal(parsing: bytes)?.segments(of: "main") == [segment])
        try folder.sync()
        #expect(!folder.needsSync)
        #expect(folder.verify() == 0)
    }
}
