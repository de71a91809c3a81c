import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitCore

@Suite("playing a download", .timeLimit(.minutes(1)))
struct DownloadPlayingTests {
    /// Whether these are the frames of the first seconds; the last ones may be missing.
    private static func areFrames(_ found: [String], _ seconds: Int) throws -> Bool {
        let expected = try SampleMedia.frameHashes(of: "180p").prefix(seconds * 25)
        return found.count > expected.count - 5 && found == Array(expected.prefix(found.count))
    }

    @Test("S01: what is stored is played from the folder, frame by frame, and not loaded again")
    func stored() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            let result = try await task.run()
            #expect(result.gaps.isEmpty)
            let count = server.mediaRequests.count
            #expect(count > 20)
            let frames = try await server.play(task.makePlayerItem(), seconds: 10)
            #expect(try Self.areFrames(frames, 10))
            #expect(server.mediaRequests.count == count)
        }
    }

    @Test("S01: what is not stored yet comes from the network, and only that")
    func partly() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.end = .seconds(8) }
            _ = try await task.run()
            let first = server.mediaRequests
            let frames = try await server.play(task.makePlayerItem(), seconds: 16)
            #expect(try Self.areFrames(frames, 16))
            let second = server.mediaRequests.dropFirst(first.count)
            #expect(!second.isEmpty)
            func names(_ requests: some Collection<SimulatedRequest>) -> Set<String> {
                Set(requests.map { "\($0.urlString) \(String(describing: $0.byteRange))" })
            }
            #expect(names(first).isDisjoint(with: names(second)))
        }
    }

    @Test("S01: a stream plays while it is downloaded, and both come to their end")
    func meanwhile() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            task.resume()
            let frames = try await server.play(task.makePlayerItem(), seconds: 12)
            #expect(try Self.areFrames(frames, 12))
            let result = try await task.result()
            #expect(result.gaps.isEmpty)
            #expect(task.progress.fraction == 1)
        }
    }

    @Test("S01: a file that is gone is loaded instead")
    func lost() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            _ = try await task.run()
            let item = task.makePlayerItem()
            await task.removeFolder()
            let count = server.mediaRequests.count
            let frames = try await server.play(item, seconds: 4)
            #expect(try Self.areFrames(frames, 4))
            #expect(server.mediaRequests.count > count)
        }
    }

    @Test("S01: a folder that has got another name is still played from")
    func moved() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            _ = try await task.run()
            try await task.writePlaylists()
            try await task.moveFolder(to: server.folder.path + "/film")
            let count = server.mediaRequests.count
            let frames = try await server.play(task.makePlayerItem(), seconds: 4)
            #expect(try Self.areFrames(frames, 4))
            #expect(server.mediaRequests.count == count)
        }
    }

    @Test("S01: what an earlier run has stored is played, too")
    func resumed() throws {
        let server = try SampleServer()
        try server.clock.run {
            var task: DownloadTask? = try await server.task()
            _ = try await task?.run()
            task = nil
            let count = server.mediaRequests.count
            let again = try await server.task()
            #expect(try await again.run().resumedSegmentCount > 20)
            let frames = try await server.play(again.makePlayerItem(), seconds: 4)
            #expect(try Self.areFrames(frames, 4))
            #expect(server.mediaRequests.count == count)
        }
    }
}
