import HLSKitCodec
import HLSKitDownload
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import TestSupport
import Testing

@testable import HLSKitAsset

@Suite("D13: Disk cache for images, assets and downloads", .timeLimit(.minutes(10)))
struct DiskCacheUseTests {
    private let folder: ScratchFolder
    private let cache: DiskCache

    init() throws {
        folder = try ScratchFolder()
        cache = try DiskCache(folder: folder.path)
    }

    private static let fields = [TransportField(name: "Cache-Control", value: "max-age=3600")]

    private func options(_ transport: TableTransport) -> AssetOptions {
        var options = AssetOptions.table(transport)
        options.diskCache = cache
        // The disk cache works in real time only.
        options.clock = ContinuousClock()
        return options
    }

    @Test("repeated image requests load only playlists and give the same images")
    func images() async throws {
        var runs: [(images: [[UInt8]], classes: Set<ResourceClass>)] = []
        for _ in 0..<2 {
            let transport = TableTransport(try SampleImages.resources(), fields: Self.fields)
            let generator = ImageGenerator(asset: Asset(urlString: SampleImages.master, options: options(transport)))
            let results = await generator.collect(.seconds(1, 9, 33.3))
            runs.append((results.compactMap { $0.image?.pixels }, Set(transport.requests.map(\.resourceClass))))
            // Waits until the cache has stored everything.
            _ = await cache.currentByteCount
        }
        #expect(runs[0].images.count == 3 && runs[0].images == runs[1].images)
        #expect(runs[0].classes.contains(.segment) && runs[0].classes.contains(.initializationSection))
        #expect(runs[1].classes == [.multivariantPlaylist, .mediaPlaylist])
    }

    @Test("repeated inspection of an asset loads no initialization section")
    func inspection() async throws {
        var runs: [(tracks: [MediaCodec], classes: Set<ResourceClass>)] = []
        for _ in 0..<2 {
            let transport = TableTransport(try SampleImages.resources(), fields: Self.fields)
            let asset = Asset(urlString: SampleImages.master, options: options(transport))
            runs.append(
                (
                    try await asset.load(.tracks).map(\.facts.description.codec),
                    Set(transport.requests.map(\.resourceClass))
                ))
            _ = await cache.currentByteCount
        }
        #expect(!runs[0].tracks.isEmpty && runs[0].tracks == runs[1].tracks)
        #expect(runs[0].classes.contains(.initializationSection))
        #expect(!runs[1].classes.contains(.initializationSection))
    }

    @Test("a download uses cached segments and adds nothing to the cache")
    func download() async throws {
        let base = "http://a.example/"
        let media = [UInt8]((0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 })
        var resources = (0..<3).reduce(into: [String: [UInt8]]()) { $0["\(base)\($1).ts"] = media }
        resources[base + "list.m3u8"] = Array(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
                .utf8)
        let transport = TableTransport(resources, fields: Self.fields)
        let seen = TransportRequest(urlString: base + "1.ts", resourceClass: .segment)
        for await _ in cache.transport(over: transport, clock: ContinuousClock()).events(for: seen) {}
        let stored = await cache.currentByteCount
        #expect(stored > media.count)
        let loading = options(transport)
        let task = try await DownloadTask(
            DownloadConfiguration(urlString: base + "list.m3u8", loading: loading),
            folder: folder.path + "/download")
        let result = try await task.run()
        #expect(result.segmentCount == 3 && result.gaps.isEmpty)
        let segments = transport.requests.filter { $0.resourceClass == .segment }.map(\.urlString)
        #expect(
            segments.sorted() == ["0.ts", "1.ts", "2.ts"].map { base + $0 }, "1 before the download, and not again")
        #expect(await cache.currentByteCount == stored)
    }
}
