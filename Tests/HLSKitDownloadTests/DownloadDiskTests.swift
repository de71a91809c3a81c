import Foundation
import HLSKitAsset
import HLSKitLoading
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Disk access of a download", .timeLimit(.minutes(10)))
struct DownloadDiskTests {
    private static let url = "http://a.example/main.m3u8"
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d400d,mp4a.40.2",SUBTITLES="s"
        video.m3u8

        """

    @Sendable private static func answer(_ url: String) -> ScriptedTransport.Answer {
        let list = { (ending: String) in
            Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.\(ending)\n#EXT-X-ENDLIST\n".utf8)
        }
        switch url.split(separator: "/").last {
        case "main.m3u8": return .bytes(Array(master.utf8))
        case "video.m3u8": return .bytes(list("ts"))
        case "text.m3u8": return .bytes(list("vtt"))
        case "1.vtt": return .bytes(Array("WEBVTT\n".utf8))
        default: return .bytes((0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 })
        }
    }

    private static func configuration(
        _ transport: ScriptedTransport, _ clock: any Clock<Duration>
    ) -> DownloadConfiguration {
        var configuration = DownloadConfiguration(
            urlString: url, loading: AssetOptions(clock: clock, transport: transport))
        configuration.subtitles = .all
        return configuration
    }

    @Test("loading, verifying and writing the file do not block the shared thread pool")
    func pool() async throws {
        let folder = try ScratchFolder()
        for run in 1...2 {
            let transport = ScriptedTransport { Self.answer($0) }
            let task = try await DownloadTask(
                Self.configuration(transport, FastClock(factor: 50)), folder: folder.path + "/d")
            let result = try await task.run()
            #expect(result.resumedSegmentCount == (run == 1 ? 0 : 1))
            // The first request only tests whether the URL is a media file. All others come from the thread that writes
            // the responses and that has checked the files of the earlier run.
            #expect(transport.requests.dropFirst().allSatisfy { $0.isOffThePool })
            let notes = Mutex<[Bool]>([])
            await #expect(throws: HLSError.self) {
                _ = try await task.write(to: folder.path + "/a.ts", format: .ts) { _ in
                    notes.withLock { $0.append(isOffThePool()) }
                }
            }
            #expect(notes.withLock { $0 } == [true])
        }
        #expect(!isOffThePool())
    }

    @Test("a download runs on a virtual clock, always in the same way")
    func virtual() throws {
        let requests = try (0..<3).map { _ in
            let folder = try ScratchFolder()
            let clock = VirtualClock()
            let transport = ScriptedTransport(clock) { Self.answer($0) }
            let count = try clock.run {
                let task = try await DownloadTask(
                    Self.configuration(transport, clock), folder: folder.path + "/d")
                return try await task.run().segmentCount
            }
            #expect(count == 2)
            return transport.urls
        }
        #expect(requests[0].count == 5 && requests.allSatisfy { $0 == requests[0] })
    }
}

@Suite("Disk thread")
struct DiskThreadTests {
    @Test("work and its child tasks run outside the pool, and the caller returns to its executor")
    func away() async {
        let places = await DiskThread.run(FastClock(factor: 1)) {
            async let child = isOffThePool()
            return await [isOffThePool(), child]
        }
        #expect(places == [true, true])
        #expect(!isOffThePool())
    }

    @Test("the disk thread can be used from the main actor", .timeLimit(.minutes(10)))
    @MainActor func main() async {
        let isMain = await DiskThread.run(FastClock(factor: 1)) { Thread.isMainThread }
        #expect(!isMain)
    }

    @Test("errors keep their type, and cancellation is forwarded")
    func errors() async {
        let error = await #expect(throws: HLSError.self) {
            try await DiskThread.run(FastClock(factor: 1)) { () async throws(HLSError) in
                throw HLSError(code: .notWritable, path: "/a", text: "no")
            }
        }
        #expect(error?.path == "/a")
        let task = Task {
            await DiskThread.run(FastClock(factor: 1)) {
                while !Task.isCancelled { await Task.yield() }
                return true
            }
        }
        task.cancel()
        #expect(await task.value)
    }
}
