import Foundation
import HLSKitLoading
import HLSKitOutput
import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("S02: Downloads with thin files instead of segments", .timeLimit(.minutes(10)))
struct DownloadThinTests {
    private static let change: @Sendable (inout DownloadConfiguration) -> Void = {
        $0.thinning = ThinningPlan.Limits(batchByteCount: 1, busyByteCount: 1)
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    private func segments(_ server: SampleServer) -> (whole: [String], thin: [String]) {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: server.folder.path + "/d")) ?? []
        let media = names.filter { $0.contains("/") && !$0.contains("/map-") }
        return (media.filter { !$0.hasSuffix(".thin") }, media.filter { $0.hasSuffix(".thin") })
    }

    private func outputs(_ server: SampleServer) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: server.folder.path + "/d")) ?? []
        return names.filter { $0.hasPrefix("output") }.sorted()
    }

    private func expected(_ format: OutputFormat = .mp4) throws -> Data {
        try SampleServer.packed(as: format, meanwhile: false)
    }

    private func interrupt(_ server: SampleServer, after count: Int) throws {
        try server.clock.run {
            let task = try await server.task {
                Self.change(&$0)
                $0.fileFormat = .mp4
            }
            await task.resume(untilStored: count)
            task.suspend()
            await #expect(throws: HLSError.self) { _ = try await task.result() }
        }
    }

    /// - Returns: The number of segments from the earlier run.
    private func resume(_ server: SampleServer, to path: String) throws -> Int {
        let count = try server.clock.run {
            let task = try await server.task {
                Self.change(&$0)
                $0.fileFormat = .mp4
            }
            let result = try await task.run()
            _ = try await task.write(to: path, format: .mp4)
            await task.removeFolder()
            return result.resumedSegmentCount
        }
        #expect(DownloadFolder.byteCount(of: server.folder.path + "/d") == nil)
        return count
    }

    @Test("the file is the same, and packed media is stored once", arguments: [OutputFormat.mp4, .ts, .mkv])
    func same(format: OutputFormat) throws {
        let expected = try expected(format)
        let server = try SampleServer()
        let path = server.folder.path + "/a.\(format.rawValue)"
        try server.clock.run {
            let task = try await server.task {
                Self.change(&$0)
                $0.fileFormat = format
            }
            _ = try await task.run()
            let (whole, thin) = segments(server)
            // The last segments of each playlist are not due yet, and Matroska holds samples back.
            #expect(thin.count > (format == .mkv ? 0 : 2 * whole.count), "\(whole.count) \(thin.count)")
            #expect(Set(whole).isDisjoint(with: thin.map { String($0.dropLast(5)) }))
            _ = try await task.write(to: path, format: format)
            await task.removeFolder()
        }
        #expect(try SampleServer.isSame(bytes(path), expected, as: format))
        #expect(DownloadFolder.byteCount(of: server.folder.path + "/d") == nil)
    }

    @Test("an interrupted download continues from there, however often")
    func resumed() throws {
        let server = try SampleServer()
        try interrupt(server, after: 10)
        #expect(segments(server).thin.count >= 2)
        #expect(outputs(server) == ["output.mp4.part"])
        try interrupt(server, after: 15)
        #expect(segments(server).thin.count >= 4)
        #expect(outputs(server) == ["output-2.mp4.part"])
        let path = server.folder.path + "/a.mp4"
        #expect(try resume(server, to: path) >= 15)
        #expect(try bytes(path) == expected())
    }

    @Test("only damaged packed media is loaded again")
    func damaged() throws {
        let server = try SampleServer()
        try interrupt(server, after: 9)
        let (whole, thin) = segments(server)
        let part = server.folder.path + "/d/output.mp4.part"
        var packed = try bytes(part)
        packed[packed.count / 3] ^= 0xFF
        try packed.write(to: URL(fileURLWithPath: part))
        let path = server.folder.path + "/a.mp4"
        let count = try resume(server, to: path)
        #expect(count >= whole.count && count < whole.count + thin.count, "\(count) of \(whole.count) + \(thin.count)")
        #expect(try bytes(path) == expected())
    }

    @Test("if the packed file was deleted, its segments count as not loaded")
    func gone() throws {
        let server = try SampleServer()
        try interrupt(server, after: 9)
        let whole = segments(server).whole
        try FileManager.default.removeItem(atPath: server.folder.path + "/d/output.mp4.part")
        let path = server.folder.path + "/a.mp4"
        #expect(try resume(server, to: path) <= whole.count)
        #expect(try bytes(path) == expected())
    }

    @Test("another format is written from thin files, and a file can be written twice")
    func twice() throws {
        let server = try SampleServer()
        let path = server.folder.path
        try server.clock.run {
            let task = try await server.task {
                Self.change(&$0)
                $0.fileFormat = .mp4
            }
            _ = try await task.run()
            for (name, format) in [("a.mp4", OutputFormat.mp4), ("b.mp4", .mp4), ("c.ts", .ts)] {
                _ = try await task.write(to: "\(path)/\(name)", format: format)
            }
            await task.removeFolder()
        }
        #expect(try bytes(path + "/a.mp4") == expected())
        #expect(try bytes(path + "/b.mp4") == expected())
        #expect(try bytes(path + "/c.ts") == expected(.ts))
        #expect(DownloadFolder.byteCount(of: path + "/d") == nil)
    }

    @Test("playlists in the folder name whole files, and new segments stay whole")
    func playlists() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task {
                Self.change(&$0)
                $0.fileFormat = .mp4
            }
            await task.resume(untilStored: 9)
            let before = segments(server)
            #expect(!before.thin.isEmpty)
            try await task.writePlaylists()
            #expect(segments(server).thin.isEmpty)
            #expect(segments(server).whole.count >= before.whole.count + before.thin.count)
            _ = try await task.result()
            #expect(segments(server).thin.isEmpty)
            #expect(task.folder.verify() == 0)
        }
        _ = try bytes(server.folder.path + "/d/index.m3u8")
    }

    @Test("players of the stream get the same bytes in the meantime")
    func playing() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task {
                Self.change(&$0)
                $0.fileFormat = .mp4
            }
            _ = try await task.run()
            #expect(!segments(server).thin.isEmpty)
            let count = server.mediaRequests.count
            let frames = try await server.play(task.makePlayerItem(), seconds: 4)
            let expected = try SampleMedia.frameHashes(of: "180p").prefix(100)
            #expect(frames.count > 95 && frames == Array(expected.prefix(frames.count)))
            #expect(server.mediaRequests.count == count)
        }
    }
}
