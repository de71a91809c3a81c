import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import Synchronization
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Request budgets of a download", .timeLimit(.minutes(10)))
struct DownloadBudgetTests {
    private static let url = "http://a.example/list.m3u8"
    private static let media: [UInt8] = (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 }

    private static func list(_ numbers: Range<Int>, ends: Bool) -> [UInt8] {
        let segments = numbers.map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        return Array((head + segments + (ends ? "#EXT-X-ENDLIST\n" : "")).utf8)
    }

    private func task(
        _ transport: ScriptedTransport, _ clock: FastClock, in folder: ScratchFolder
    ) async throws -> DownloadTask {
        let options = AssetOptions(clock: clock, transport: transport)
        return try await DownloadTask(
            DownloadConfiguration(urlString: Self.url, loading: options), folder: folder.path + "/d")
    }

    @Test("R7: an unresponsive server is retried within the budget, which includes waiting times")
    func silence() async throws {
        let clock = FastClock(factor: 20)
        let transport = ScriptedTransport { _ in
            try await clock.sleep(for: .seconds(8))
            return .failure(.timedOut)
        }
        let client = ResourceClient(url: Self.url, options: AssetOptions(clock: clock, transport: transport))
        await #expect(throws: HLSError.self) {
            _ = try await client.bytes(Self.url, .segment, limit: 100, namedBy: nil)
        }
        // Requests start after 0, 8.5, 17.5 and, without delays, 27.5 s. If only waits used up the budget, there would
        // be eight.
        #expect((2...4).contains(transport.urls.count))
    }

    @Test("R74: a stream without any available segment is not requested to its end")
    func requests() async throws {
        let folder = try ScratchFolder()
        let clock = FastClock(factor: 50)
        let list = Self.list(0..<2000, ends: true)
        let transport = ScriptedTransport { url in url == Self.url ? .bytes(list) : .status(404) }
        let task = try await task(transport, clock, in: folder)
        let error = await #expect(throws: HLSError.self) { _ = try await task.run() }
        #expect(error?.code == .network)
        #expect((200...215).contains(transport.urls.count), "\(transport.urls.count)")
    }

    @Test("R39: reloads that fail for less than a minute lose nothing")
    func outage() async throws {
        let folder = try ScratchFolder()
        let clock = FastClock(factor: 50)
        let began = clock.now
        let transport = ScriptedTransport { url in
            let time = began.duration(to: clock.now)
            guard url == Self.url else { return .bytes(Self.media) }
            if time < .seconds(4) { return .bytes(Self.list(0..<2, ends: false)) }
            return time < .seconds(48) ? .status(503) : .bytes(Self.list(0..<5, ends: true))
        }
        let task = try await task(transport, clock, in: folder)
        let result = try await task.run()
        #expect(result.failure == nil)
        #expect(result.segmentCount == 5)
    }

    @Test("a live segment that is refused for half a minute but still listed is not lost")
    func refusedSegment() async throws {
        let folder = try ScratchFolder()
        let clock = FastClock(factor: 50)
        let began = clock.now
        let transport = ScriptedTransport { url in
            let time = began.duration(to: clock.now)
            if url.hasSuffix("/1.ts"), time < .seconds(30) { return .status(503) }
            guard url == Self.url else { return .bytes(Self.media) }
            let count = min(8, 2 + Int(time / .seconds(4)))
            return .bytes(Self.list(0..<count, ends: time > .seconds(40)))
        }
        let result = try await task(transport, clock, in: folder).run()
        #expect(result.failure == nil && result.gaps.isEmpty, "\(result.gaps)")
        #expect(result.segmentCount == 8)
    }

    private struct Refresher: URLRefresher {
        let calls = Counter()

        final class Counter: Sendable {
            let count = Mutex(0)
        }

        func freshURL(insteadOf expired: ExpiredURL) async throws -> String {
            let number = calls.count.withLock { count in
                count += 1
                return count
            }
            return "http://a.example/list.m3u8?token=\(number)"
        }
    }

    @Test("a live stream whose token expires three times is loaded whole, and nothing twice")
    func tokens() async throws {
        let folder = try ScratchFolder()
        let clock = FastClock(factor: 50)
        // A token expires with every third playlist, so that the speed of the machine does not matter.
        let served = Mutex(0)
        let transport = ScriptedTransport { url in
            let token = url.split(separator: "=").last.flatMap { Int($0) } ?? 0
            return served.withLock { served in
                guard token >= min(3, served / 3) else { return .status(403) }
                guard url.contains("list.m3u8") else { return .bytes(Self.media) }
                let count = min(12, 2 + served)
                served += 1
                let text = String(decoding: Self.list(0..<count, ends: count == 12), as: UTF8.self)
                return .bytes(Array(text.replacing(".ts", with: ".ts?token=\(token)").utf8))
            }
        }
        let refresher = Refresher()
        var options = AssetOptions(clock: clock, transport: transport)
        options.hooks.urlRefresher = refresher
        let task = try await DownloadTask(
            DownloadConfiguration(urlString: Self.url, loading: options), folder: folder.path + "/d")
        let result = try await task.run()
        #expect(result.failure == nil && result.gaps.isEmpty, "\(result)")
        #expect(result.segmentCount == 12 && result.resumedSegmentCount == 0)
        #expect((1...5).contains(refresher.calls.count.withLock { $0 }))
    }

    @Test("a URL that is refused at first is refreshed and requested once", arguments: [true, false])
    func refusedAtFirst(isFreshBetter: Bool) async throws {
        let folder = try ScratchFolder()
        let transport = ScriptedTransport { url in
            guard isFreshBetter, url.contains("token=") || !url.contains("list.m3u8") else { return .status(403) }
            return .bytes(url.contains("list.m3u8") ? Self.list(0..<3, ends: true) : Self.media)
        }
        let refresher = Refresher()
        var options = AssetOptions(clock: FastClock(factor: 50), transport: transport)
        options.hooks.urlRefresher = refresher
        let task = try await DownloadTask(
            DownloadConfiguration(urlString: Self.url, loading: options), folder: folder.path + "/d")
        if isFreshBetter {
            #expect(try await task.run().segmentCount == 3)
        } else {
            await #expect(throws: HLSError.self) { _ = try await task.run() }
        }
        #expect(refresher.calls.count.withLock { $0 } == 1)
    }

    @Test("a server that refuses some requests with 403 loses no segment", arguments: [401, 403])
    func passingRefusals(status: Int) async throws {
        let folder = try ScratchFolder()
        let attempts = Mutex<[String: Int]>([:])
        let transport = ScriptedTransport { url in
            guard url != Self.url else { return .bytes(Self.list(0..<20, ends: true)) }
            let attempt = attempts.withLock { attempts in
                attempts[url, default: 0] += 1
                return attempts[url] ?? 0
            }
            let number = Int(url.split(separator: "/").last?.split(separator: ".").first ?? "") ?? 0
            return number > 6 && number % 3 == 1 && attempt <= 3 ? .status(status) : .bytes(Self.media)
        }
        let task = try await task(transport, FastClock(factor: 50), in: folder)
        let result = try await task.run()
        #expect(result.segmentCount == 20 && result.gaps.isEmpty, "\(result)")
    }

    @Test("a URL that expires in the middle of a download ends it within the budget of one segment")
    func expiredInTheMiddle() async throws {
        let folder = try ScratchFolder()
        let clock = FastClock(factor: 50)
        let transport = ScriptedTransport { url in
            guard url != Self.url else { return .bytes(Self.list(0..<100, ends: true)) }
            let number = Int(url.split(separator: "/").last?.split(separator: ".").first ?? "") ?? 0
            return number < 10 ? .bytes(Self.media) : .status(403)
        }
        let task = try await task(transport, clock, in: folder)
        let result = try? await task.run()
        #expect((result?.segmentCount ?? 10) == 10)
        // Six segments at once use up their budget with at most eight requests each. All others are requested at most twice.
        let limit = 239
        let count = transport.urls.count
        #expect(count <= limit)
    }

    @Test("audio only: the audio playlist is loaded, or otherwise the variant with the best audio")
    func audioAlone() throws {
        func selection(_ text: String) throws -> DownloadSelection {
            let playlist = try Playlist(parsing: Array(text.utf8), url: Self.url)
            guard case .multivariant(let master) = playlist else { throw Tool.Failure(description: "no master") }
            var configuration = DownloadConfiguration(urlString: Self.url)
            configuration.includesVideo = false
            return try DownloadSelection(configuration, of: master)
        }
        let separate = try selection(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="E",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d400d,mp4a.40.2",AUDIO="g"
            1.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="avc1.4d400d,mp4a.40.2",AUDIO="g"
            2.m3u8
            """)
        #expect(separate.entries.map(\.url) == ["http://a.example/en.m3u8"])
        #expect(separate.entries.map(\.wanted) == [[.audio]] && separate.entries[0].lane.kind == .main)
        let muxed = try selection(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d400d,mp4a.40.5"
            1.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="avc1.4d400d,mp4a.40.2"
            2.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="avc1.4d401f,mp4a.40.2"
            3.m3u8
            """)
        // Only the bit rate of a variant indicates how good its audio is.
        #expect(muxed.entries.map(\.url) == ["http://a.example/3.m3u8"] && muxed.entries[0].wanted == [.audio])
    }

    @Test("R8, R46: a live stream whose first initialization section is late keeps the later segments")
    func lateMap() async throws {
        let folder = try ScratchFolder()
        let clock = FastClock(factor: 50)
        let rendition = try SampleMedia.rendition("video-180p")
        // The section is available from the fifth load of the playlist on, and the playlist then continues.
        let loads = Mutex(0)
        let transport = ScriptedTransport { url in
            let isMap = url.hasSuffix("i.mp4")
            let isLate = loads.withLock { loads in
                if url == Self.url { loads += 1 }
                return loads < 5
            }
            if isMap { return isLate ? .status(404) : .bytes(rendition.initializationSection) }
            guard url == Self.url else { return .bytes(rendition.segments[0]) }
            let list = String(decoding: Self.list(0..<(isLate ? 3 : 5), ends: !isLate), as: UTF8.self)
            return .bytes(Array(list.replacing("#EXTINF", with: "#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF").utf8))
        }
        let task = try await task(transport, clock, in: folder)
        let result = try await task.run()
        // The number of missing segments depends on the speed of the machine, but each of them is reported.
        #expect(result.segmentCount + result.gaps.count == 5)
        #expect(result.segmentCount >= 2)
    }
}
