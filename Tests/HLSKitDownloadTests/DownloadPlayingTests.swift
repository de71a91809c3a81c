import HLSKitEngine
import HLSKitLoading
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Playing a download", .timeLimit(.minutes(10)))
struct DownloadPlayingTests {
    /// Whether these are the frames of the first seconds. The last frames may be missing.
    private static func areFrames(_ found: [String], _ seconds: Int) throws -> Bool {
        let expected = try SampleMedia.frameHashes(of: "180p").prefix(seconds * 25)
        return found.count > expected.count - 5 && found == Array(expected.prefix(found.count))
    }

    /// The segments of the variant and of its audio, which has one more.
    private static let segmentCount = 2 * SampleMedia.segmentCount + 1

    @Test("S01: stored media plays from the folder, frame by frame, and is not loaded again")
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

    @Test("S01: only media that is not stored comes from the network")
    func partly() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.endPosition = .time(.seconds(8)) }
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

    @Test("S01: a stream plays while it is downloaded, and both reach the end")
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
            #expect(Self.repeated(server.mediaRequests).isEmpty)
        }
    }

    private static func repeated(_ requests: [SimulatedRequest]) -> [String] {
        let names = requests.map { "\($0.urlString) \(String(describing: $0.byteRange))" }
        return Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    }

    /// Returns the offsets of the requested video segments in their file, in the order of the requests.
    private static func videoSegments(_ server: SampleServer) -> [UInt64] {
        server.requests.filter { $0.resourceClass == .segment && $0.urlString.contains("video") }
            .compactMap(\.byteRange?.lowerBound)
    }

    @Test("S01: media needed by a player ahead of the download is loaded next, once, by the download")
    func ahead() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.connectionCount = 1 }
            task.resume()
            let item = task.makePlayerItem()
            item.startPosition = .time(.seconds(28))
            let frames = try await server.play(item, seconds: 36)
            let expected = try SampleMedia.frameHashes(of: "180p")[700..<900]
            #expect(frames.count > expected.count - 5 && frames == Array(expected.prefix(frames.count)))
            let result = try await task.result()
            #expect(result.gaps.isEmpty && result.segmentCount == Self.segmentCount)
            #expect(Self.repeated(server.mediaRequests).isEmpty)
            let asked = Self.videoSegments(server)
            let inOrder = asked.sorted()
            let ahead = try #require(asked.firstIndex(of: inOrder[7]))
            let after = try #require(asked.firstIndex(of: inOrder[4]))
            #expect(ahead < after)
        }
    }

    @Test("S01: media awaited by a player is stored when the download ends, and not requested again")
    func endedAhead() throws {
        let server = try SampleServer()
        try server.clock.run {
            // A separate function releases the item, which would keep the folder in use.
            try await Self.begin(server)
            let again = try await server.task()
            #expect(again.progress.segmentCount > 0 && again.progress.segmentCount < 15)
            let result = try await again.run()
            #expect(result.gaps.isEmpty && result.damagedSegmentCount == 0)
            #expect(result.segmentCount == Self.segmentCount)
            #expect(result.resumedSegmentCount > 0)
            #expect(Self.repeated(server.mediaRequests).count <= 3)
        }
    }

    /// Downloads and plays the end of the download until both have loaded some media.
    private static func begin(_ server: SampleServer) async throws {
        let task = try await server.task { $0.connectionCount = 1 }
        task.resume()
        let item = task.makePlayerItem()
        item.startPosition = .time(.seconds(36))
        let player = Player(configuration: PlayerConfiguration(clock: server.clock, transport: server.transport))
        player.play()
        try player.replaceCurrentItem(with: item)
        for _ in 0..<100 where videoSegments(server).count < 4 {
            try await server.clock.sleep(for: .milliseconds(10))
        }
        let asked = videoSegments(server)
        #expect(asked.count >= 4 && asked != asked.sorted())
        await player.close()
        task.suspend()
        _ = try? await task.result()
    }

    @Test("S01: a player of an idle or incomplete download loads missing media itself")
    func alone() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.endPosition = .time(.seconds(8)) }
            let idle = try await server.play(task.makePlayerItem(), seconds: 4)
            #expect(try Self.areFrames(idle, 4))
            task.resume()
            // The download does not include audio and video after the eighth second.
            let frames = try await server.play(task.makePlayerItem(), seconds: 16)
            #expect(try Self.areFrames(frames, 16))
            #expect(try await task.result().gaps.isEmpty)
        }
    }

    @Test("S01: a deleted file is loaded instead")
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

    @Test("S01: a renamed folder is still played from")
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

    @Test("S01: media stored by an earlier run is played, too")
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

    @Test("S01: a stored key is returned for its own requests, but not for another key's")
    func keys() async throws {
        let scratch = try ScratchFolder()
        let folder = try DownloadFolder(path: scratch.path + "/d")
        let key = try folder.write([1, 2, 3], to: "key-1.bin")
        let media = DownloadedMedia(folder, demand: DownloadDemand(), clock: ContinuousClock())
        media.add(DownloadedMedia.Key(url: "https://host/key", byteRange: nil), file: key.name)
        var request = TransportRequest(urlString: "https://host/key", resourceClass: .key)
        let read = try #require(media.reader(for: request))
        #expect(await read() == [1, 2, 3])
        for reason in [ContentKeyRequest.Reason.renewal, .receivedObsoleteContentKey] {
            request.keyReason = reason
            #expect(media.reader(for: request).map { _ in true } == nil)
        }
    }
}
