import HLSKitLoading
import HLSKitNetwork
import Synchronization
import TestSupport
import Testing

@testable import HLSKitAsset
@testable import HLSKitDownload
@testable import HLSKitSimulation

enum ContractTransport: CaseIterable, CustomTestStringConvertible {
    case http11, h2, file
    /// A limit of two requests per host; a byte rate limit; a byte counter.
    case limited, paced, counted
    /// An empty cache, a full cache, and a cache whose stored entry is gone when it is read.
    case caching, cached, missed
    /// An empty disk cache, and a full one that revalidates with the server.
    case diskCaching, diskCached
    /// A request policy, an app's resource loader, and a playlist transform.
    case requestPolicy, resourceLoader, playlistTransform
    case hedged, asset, mediaFile
    /// Client data in the query.
    case clientData
    case conditioned, simulated, recording, replay

    var testDescription: String { "\(self)" }

    var types: [String] {
        switch self {
        case .http11, .h2: ["SchemeTransport", "CurlTransport"]
        case .file: ["SchemeTransport", "LocalTransport"]
        case .limited: ["CurlTransport", "Direct"]
        case .paced: ["PacedTransport"]
        case .counted: ["CountingTransport"]
        case .caching, .cached, .missed: ["CachingTransport"]
        case .diskCaching, .diskCached: ["DiskCacheTransport"]
        case .requestPolicy, .resourceLoader, .playlistTransform: ["HookedTransport"]
        case .hedged: ["HedgedTransport"]
        case .clientData: ["ClientDataTransport"]
        case .asset: ["AssetTransport"]
        case .mediaFile: ["MediaFileTransport"]
        case .conditioned: ["ConditionedTransport"]
        case .simulated: ["SimulatedTransport"]
        case .recording: ["RecordingTransport"]
        case .replay: ["ReplayTransport"]
        }
    }

    /// The types that do not run the tests, with the reasons.
    static let exceptions = [
        "SimulatedOrigin": "private to SimulatedTransport, behind a ConditionedTransport",
        "QueryTransport": "of the command, and nothing but another URL for CurlTransport",
        "StandardInputTransport": "of the command, private: StandardInputTests",
        "VerboseTransport": "of the command, and nothing but lines of what passes through",
    ]

    static let inMemory = allCases.filter(\.isInMemory)

    var isInMemory: Bool { self == .cached || self == .diskCached || self == .resourceLoader || self == .replay }

    var isTransfer: Bool { !isInMemory }

    var protocolName: String {
        switch self {
        case .http11, .limited, .diskCaching, .clientData: "http/1.1"
        case .h2, .replay: "h2"
        case .cached, .diskCached: "cache"
        case .resourceLoader: "application"
        case .simulated: "simulated"
        default: "file"
        }
    }

    var missingCode: LoadingError.Code {
        switch self {
        case .http11, .h2, .limited, .diskCaching, .diskCached, .clientData, .resourceLoader, .simulated, .replay:
            .httpStatus
        default: .fileNotFound
        }
    }

    func url(_ name: String, _ origin: TestOrigin) -> String {
        switch self {
        case .http11, .limited, .diskCaching, .diskCached, .clientData: "\(origin.plain)/\(name)"
        case .h2: "\(origin.secure)/\(name)"
        case .resourceLoader: "app://host/\(name)"
        case .simulated, .replay: "https://origin.invalid/\(name)"
        default: "file://\(origin.root.path)/\(name)"
        }
    }

    func request(
        _ url: String, byteRange: Range<UInt64>? = nil, maximumByteCount: Int = 256 << 20
    ) -> TransportRequest {
        var request = TransportRequest(
            urlString: url, resourceClass: self == .playlistTransform ? .multivariantPlaylist : .segment,
            byteRange: byteRange, maximumByteCount: maximumByteCount)
        if self == .hedged { request.hedgeDelay = .seconds(60) }
        return request
    }

    func transport(_ origin: TestOrigin) async throws -> any ResourceTransport {
        let clock = ContinuousClock()
        let base = SchemeTransport(
            network: CurlTransport(configuration: .init(caFile: origin.caFile, proxy: .none)),
            local: LocalTransport())
        var hooks = LoadingHooks()
        switch self {
        case .http11, .h2, .file: return base
        case .limited:
            var configuration = TransportConfiguration(caFile: origin.caFile, proxy: .none)
            configuration.maximumConnectionsPerHost = 2
            return CurlTransport(configuration: configuration)
        case .paced:
            let transport = PacedTransport(base, clock: clock)
            transport.setLimit(bytesPerSecond: 1 << 30)
            return transport
        case .counted: return DownloadTally().transport(over: base)
        case .caching: return ResourceCache(keepsMedia: true).transport(over: base, on: nil)
        case .cached:
            let transport = ResourceCache(keepsMedia: true).transport(over: base, on: nil)
            _ = await transport.load(request(url("segment.ts", origin)))
            _ = await transport.load(request(url("segment.ts", origin), byteRange: 300_000..<700_001))
            return transport
        case .missed:
            return ResourceCache(keepsMedia: false, stored: NothingStored()).transport(over: base, on: nil)
        case .diskCaching: return try KeptCache(over: base)
        case .diskCached:
            let transport = try KeptCache(over: base)
            _ = await transport.load(request(url("segment.ts", origin)))
            _ = await transport.load(request(url("segment.ts", origin), byteRange: 300_000..<700_001))
            return transport
        case .clientData:
            var data = ClientData()
            data.transmission = .query
            return ClientDataTransport(base, data, sessionID: "s")
        case .requestPolicy: hooks.requestPolicy = RequestPolicy { $0 }
        case .resourceLoader: hooks.resourceLoader = Loader()
        case .playlistTransform: hooks.transformMultivariant = { $0 }
        case .hedged: return HedgedTransport(base, clock: clock)
        case .asset:
            var options = AssetOptions(transport: base)
            options.cookies = [TransportCookie(name: "c", value: "1", domain: "a.example")]
            return AssetTransport(base, url: url("main.m3u8", origin), options: options) { NetworkConditions() }
        case .mediaFile:
            return MediaFileTransport(
                base, url: url("film.mp4", origin), options: AssetOptions(transport: base))
        case .conditioned:
            return ConditionedTransport(base: base, trace: Self.fast, clock: clock)
        case .simulated:
            return SimulatedTransport(over: Self.fast, clock: clock) { request in
                guard let bytes = Self.bytes(of: request.urlString) else { return .status(404) }
                return SimulatedResponse(body: bytes)
            }
        case .recording:
            let folder = try ScratchFolder()
            return try KeptRecording(base, folder)
        case .replay: return ReplayTransport(recording(origin), clock: clock)
        }
        var policy = ResourcePolicy(rootFolder: origin.root.path)
        hooks.admit(to: &policy)
        return HookedTransport(
            base, hooks: hooks, policy: policy, itemURL: url("main.m3u8", origin), clock: clock)
    }

    private static let fast = NetworkTrace(
        constant: LinkConditions(bitsPerSecond: 1_000_000_000, latency: .milliseconds(2)))

    private static func bytes(of url: String) -> [UInt8]? {
        if url.hasSuffix("/segment.ts") { return TestOrigin.segment }
        return url.hasSuffix("/empty.ts") ? [] : nil
    }

    private struct NothingStored: StoredMedia {
        func reader(for request: TransportRequest) -> (@Sendable () async -> [UInt8]?)? {
            { nil }
        }
    }

    private struct KeptCache: ResourceTransport {
        let folder: ScratchFolder
        let transport: any ResourceTransport

        init(over base: any ResourceTransport) throws {
            folder = try ScratchFolder()
            transport = try DiskCache(folder: folder.path).transport(over: base, clock: ContinuousClock())
        }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask { transport.start(request, handler: handler) }
    }

    private struct Loader: ResourceLoader {
        let schemes: Set<String> = ["app"]

        func load(_ request: TransportRequest) async throws -> LoadedResource {
            guard let bytes = ContractTransport.bytes(of: request.urlString) else {
                throw LoadingError(code: .httpStatus, url: request.urlString, status: 404, text: "HTTP 404")
            }
            return LoadedResource(.bytes(bytes))
        }
    }

    private func recording(_ origin: TestOrigin) -> NetworkRecording {
        var recording = NetworkRecording(urlString: url("main.m3u8", origin))
        func add(_ name: String, _ range: Range<UInt64>? = nil, _ events: [TransportEvent]) {
            recording.exchanges.append(
                .init(
                    url: url(name, origin), resourceClass: .segment, byteRange: range, time: .zero,
                    events: events.map { (.zero, $0) }))
        }
        func body(_ bytes: ArraySlice<UInt8>, status: Int) -> [TransportEvent] {
            let response = TransportResponse(
                status: status, urlString: url("segment.ts", origin), contentLength: bytes.count)
            var metrics = TransferMetrics()
            metrics.receivedByteCount = bytes.count
            metrics.decodedByteCount = bytes.count
            metrics.protocolName = protocolName
            let pieces = stride(from: bytes.startIndex, to: bytes.endIndex, by: 1 << 16).map {
                TransportEvent.data(Array(bytes[$0..<min(bytes.endIndex, $0 + 1 << 16)]))
            }
            return [.response(response)] + pieces + [.finished(metrics)]
        }
        func failure(_ name: String, _ code: LoadingError.Code, _ status: Int?) -> [TransportEvent] {
            let error = LoadingError(code: code, url: url(name, origin), status: status, text: code.rawValue)
            return [.failed(error, TransferMetrics())]
        }
        for _ in 0..<30 { add("segment.ts", nil, body(TestOrigin.segment[...], status: 200)) }
        add("segment.ts", 300_000..<700_001, body(TestOrigin.segment[300_000..<700_001], status: 206))
        add("segment.ts", 1_048_000..<1_048_577, failure("segment.ts", .badRange, 206))
        add("missing.ts", nil, failure("missing.ts", .httpStatus, 404))
        add("empty.ts", nil, failure("empty.ts", .emptyBody, 200))
        return recording
    }
}

private final class KeptRecording: ResourceTransport {
    private let folder: ScratchFolder
    private let transport: RecordingTransport

    init(_ base: any ResourceTransport, _ folder: ScratchFolder) throws {
        self.folder = folder
        transport = try RecordingTransport(
            base: base, path: folder.path + "/r.ndjson", clock: ContinuousClock(), url: "file:///main.m3u8")
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        transport.start(request, handler: handler)
    }
}
