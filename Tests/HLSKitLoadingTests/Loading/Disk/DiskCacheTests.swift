import Foundation
import HLSKitLoading
import Synchronization
import TestSupport
import Testing

@testable import HLSKitNetwork

@Suite("D13: Disk cache", .timeLimit(.minutes(10)))
struct DiskCacheTests {
    private final class Server: ResourceTransport {
        struct Resource: Sendable {
            var body: [UInt8]
            var fields: [TransportField]
        }

        private final class Done: TransportTask {
            func cancel() {}
            func pause() {}
            func resume() {}
        }

        private let resources = Mutex<[String: Resource]>([:])
        private let log = Mutex<[TransportRequest]>([])

        var requests: [TransportRequest] { log.withLock { $0 } }

        func set(_ name: String, _ body: [UInt8], _ fields: [String: String]) {
            let fields = fields.map { TransportField(name: $0.key, value: $0.value) }
            resources.withLock { $0["https://a.example/\(name)"] = Resource(body: body, fields: fields) }
        }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            log.withLock { $0.append(request) }
            let resource = resources.withLock { $0[request.urlString] }
            let tag = request.fields.first { $0.name == "If-None-Match" }?.value
            guard let resource, tag == nil || !resource.fields.contains(where: { $0.value == tag }) else {
                var error = LoadingError(
                    code: .httpStatus, url: request.urlString, status: resource == nil ? 404 : 304, text: "")
                error.fields = resource?.fields ?? []
                handler(.failed(error, TransferMetrics()))
                return Done()
            }
            let range = request.byteRange.map { Int($0.lowerBound)..<Int($0.upperBound) } ?? resource.body.indices
            handler(
                .response(
                    TransportResponse(
                        status: request.byteRange == nil ? 200 : 206, urlString: request.urlString,
                        fields: resource.fields)))
            for byte in resource.body[range] { handler(.data([byte])) }
            handler(.finished(TransferMetrics()))
            return Done()
        }
    }

    private struct Bench {
        let server = Server()
        let folder: ScratchFolder
        let time = Shared(Int64(1_000_000))
        let cache: DiskCache

        final class Shared: Sendable {
            let value: Mutex<Int64>
            init(_ value: Int64) { self.value = Mutex(value) }
        }

        init(maximumByteCount: Int = 1 << 20, folder: ScratchFolder? = nil) throws {
            self.folder = try folder ?? ScratchFolder()
            let time = time
            cache = try DiskCache(folder: self.folder.path, maximumByteCount: maximumByteCount) {
                time.value.withLock { $0 }
            }
        }

        /// The names of all files except the lock file.
        var files: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != ".lock" }
            }
        }

        func pass(_ seconds: Int64) { time.value.withLock { $0 += seconds } }

        /// Returns the body and whether it came from the cache, or `nil` if the load failed.
        func load(
            _ name: String, _ resourceClass: ResourceClass = .segment, range: Range<UInt64>? = nil,
            fields: [TransportField] = []
        ) async -> (body: [UInt8], isCached: Bool)? {
            let request = TransportRequest(
                urlString: "https://a.example/\(name)", resourceClass: resourceClass, fields: fields, byteRange: range)
            var (body, isCached, isWhole) = ([UInt8](), false, false)
            for await event in cache.transport(over: server, clock: ContinuousClock()).events(for: request) {
                switch event {
                case .response(let response): isCached = response.wasReadFromCache
                case .data(let bytes): body += bytes
                case .finished: isWhole = true
                case .failed: return nil
                }
            }
            return isWhole ? (body, isCached) : nil
        }
    }

    @Test("fresh resources are not requested again, whole or in part, also in a later run")
    func fresh() async throws {
        let bench = try Bench()
        bench.server.set("a", [1, 2, 3], ["Cache-Control": "max-age=60"])
        #expect(await bench.load("a")?.isCached == false)
        #expect(await bench.load("a", range: 1..<3)?.body == [2, 3])
        for _ in 0..<2 {
            let whole = try #require(await bench.load("a"))
            #expect(whole.body == [1, 2, 3] && whole.isCached)
            #expect(await bench.load("a", range: 1..<3)?.isCached == true)
        }
        #expect(bench.server.requests.count == 2)
        let later = try Bench(folder: bench.folder)
        #expect(await later.load("a")?.isCached == true)
        #expect(await later.load("b") == nil)
        #expect(later.server.requests.count == 1)
        bench.pass(60)
        #expect(await bench.load("a")?.isCached == false)
    }

    @Test("stale resources are revalidated: unchanged ones come from disk, changed ones are replaced")
    func validation() async throws {
        let bench = try Bench()
        bench.server.set("a", [1, 2, 3], ["ETag": "one", "Cache-Control": "max-age=10"])
        _ = await bench.load("a")
        bench.pass(10)
        let same = try #require(await bench.load("a"))
        #expect(same.body == [1, 2, 3] && same.isCached)
        #expect(bench.server.requests.last?.fields == [TransportField(name: "If-None-Match", value: "one")])
        #expect(bench.server.requests.last?.ownFieldNames == ["if-none-match"])
        _ = await bench.load("a")
        #expect(bench.server.requests.count == 2, "it is fresh again")
        bench.pass(10)
        bench.server.set("a", [4], ["ETag": "two", "Cache-Control": "max-age=10"])
        let other = try #require(await bench.load("a"))
        #expect(other.body == [4] && !other.isCached)
        #expect(await bench.load("a")?.body == [4])
        #expect(bench.server.requests.count == 3)
    }

    @Test("playlists are always requested, and live ones are not stored")
    func playlists() async throws {
        let bench = try Bench()
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n"
        let fields = ["ETag": "x", "Cache-Control": "max-age=60"]
        bench.server.set("live", Array(head.utf8), fields)
        bench.server.set("vod", Array((head + "#EXT-X-ENDLIST\n").utf8), fields)
        for name in ["live", "vod"] {
            _ = await bench.load(name, .mediaPlaylist)
            #expect(await bench.load(name, .mediaPlaylist)?.isCached == (name == "vod"))
        }
        #expect(bench.server.requests.map { $0.fields.isEmpty } == [true, true, true, false])
    }

    @Test("keys, responses to requests with credentials, and failures are never stored")
    func secrets() async throws {
        let bench = try Bench()
        bench.server.set("a", [1], ["Cache-Control": "max-age=60"])
        for _ in 0..<2 {
            #expect(await bench.load("a", .key)?.isCached == false)
            #expect(await bench.load("a", .sessionData)?.isCached == false)
            let credentials = [TransportField(name: "Authorization", value: "Basic x")]
            #expect(await bench.load("a", fields: credentials)?.isCached == false)
            #expect(await bench.load("b") == nil)
        }
        #expect(await bench.cache.currentByteCount == 0)
        #expect(try bench.files.isEmpty)
    }

    @Test("the folder keeps its size: the least recently used go, also from earlier runs")
    func size() async throws {
        let bench = try Bench(maximumByteCount: 5000)
        for name in ["a", "b", "c"] {
            bench.server.set(name, [UInt8](repeating: 1, count: 1000), ["Cache-Control": "max-age=60"])
            _ = await bench.load(name)
        }
        #expect(await bench.load("a")?.isCached == true)
        for name in ["d", "e"] {
            bench.server.set(name, [UInt8](repeating: 1, count: 1000), ["Cache-Control": "max-age=60"])
            _ = await bench.load(name)
        }
        #expect(await bench.cache.currentByteCount <= 5000)
        #expect(await bench.load("b")?.isCached == false)
        #expect(await bench.load("e")?.isCached == true)
        bench.server.set("large", [UInt8](repeating: 1, count: 2000), ["Cache-Control": "max-age=60"])
        _ = await bench.load("large")
        #expect(await bench.load("large")?.isCached == false, "a quarter of the room is the most that one may take")
        let smaller = try Bench(maximumByteCount: 2500, folder: bench.folder)
        #expect((1...2500).contains(await smaller.cache.currentByteCount))
        await smaller.cache.removeAll()
        #expect(await smaller.cache.currentByteCount == 0)
        #expect(try bench.files.isEmpty)
    }

    @Test("damaged files and foreign files in the folder cause no harm")
    func damage() async throws {
        let bench = try Bench()
        bench.server.set("a", [1, 2, 3], ["Cache-Control": "max-age=60"])
        _ = await bench.load("a")
        _ = await bench.cache.currentByteCount
        let names = try bench.files
        try bench.folder.write([1, 2], to: try #require(names.first))
        let left = try bench.folder.write([1], to: "new-1")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000 - 7200)], ofItemAtPath: left)
        // A recent temporary file is kept because another process may be writing it.
        try bench.folder.write([1], to: "new-2")
        try bench.folder.write([1], to: "notes.txt")
        let later = try Bench(folder: bench.folder)
        later.server.set("a", [1, 2, 3], ["Cache-Control": "max-age=60"])
        #expect(await later.load("a")?.isCached == false)
        #expect(await later.load("a")?.isCached == true)
        // Waits for the cache to finish the work that follows its responses.
        _ = await later.cache.currentByteCount
        #expect(try Set(bench.files) == Set(names + ["new-2", "notes.txt"]))
    }

    @Test("resources stored by one cache are found at once by another in the same folder")
    func shared() async throws {
        let one = try Bench()
        let other = try Bench(folder: one.folder)
        #expect(await other.load("a") == nil)
        one.server.set("a", [1, 2, 3], ["Cache-Control": "max-age=60"])
        _ = await one.load("a")
        // Waits for the cache, which stores a response after its last event.
        _ = await one.cache.currentByteCount
        #expect(await other.load("a")?.isCached == true)
        await other.cache.removeAll()
        #expect(await one.load("a")?.isCached == false)
    }

    @Test("a read-only user finds stored resources and stores nothing")
    func readingOnly() async throws {
        let bench = try Bench()
        bench.server.set("a", [1], ["Cache-Control": "max-age=60"])
        bench.server.set("b", [2], ["Cache-Control": "max-age=60"])
        _ = await bench.load("a")
        let transport = bench.cache.transport(over: bench.server, clock: ContinuousClock(), stores: false)
        for name in ["a", "b", "b"] {
            let request = TransportRequest(urlString: "https://a.example/\(name)", resourceClass: .segment)
            for await _ in transport.events(for: request) {}
        }
        #expect(bench.server.requests.map(\.urlString.last) == ["a", "b", "b"])
        _ = await bench.cache.currentByteCount
        #expect(try bench.files.count == 1)
    }

    @Test("an impossible folder is an error")
    func noFolder() throws {
        let folder = try ScratchFolder()
        let file = try folder.write([1], to: "file")
        #expect(#expect(throws: HLSError.self) { try DiskCache(folder: file) }?.code == .notWritable)
        #expect(#expect(throws: HLSError.self) { try DiskCache(folder: file + "/x") }?.code == .notWritable)
        _ = try DiskCache(folder: folder.path + "/new")
    }
}
