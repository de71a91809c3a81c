import HLSMedia
import HLSPlaylist

/// Loads the resources of a download, each into a file of its folder.
struct DownloadLoader: Sendable {
    let client: ResourceClient
    let folder: DownloadFolder
    let requests: RequestGuard
    /// Is told the bytes that arrive.
    let received: @Sendable (Int) -> Void

    /// What is asked for to store a segment.
    struct Request: Sendable {
        var url: String
        var source: String
        var segment: DownloadJournal.Segment
        var file: String
        var limit: Int
        /// The bytes are media, and not their ciphertext.
        var isClear: Bool
        /// Where its key is, so that it can be asked for again.
        var key: ResourceID?
        /// How long a segment that is not there yet is waited for.
        var patience = Duration.zero
        /// It is gone when the window has moved on: what may pass has the budget of live streams.
        var isLive = false
    }

    /// Wait before what was not there, or damaged, is asked for again (R1, R46, R67).
    private static let secondTryDelay = Duration.milliseconds(500)

    /// A segment that is there.
    struct Loaded: Sendable {
        var segment: DownloadJournal.Segment
        /// Its key, where that was another when it was asked for again.
        var key: DownloadJournal.File?
    }

    /// Loads a segment; what is not there or no media is asked for once more, and with it the key that does not fit.
    func segment(_ request: Request) async throws -> Loaded {
        do {
            return try await patiently(request.patience) { Loaded(segment: try await store(request)) }
        } catch let error as AssetError where error.code == .contentKey {
            guard let id = request.key else { throw error }
            try await client.options.clock.sleep(for: Self.secondTryDelay)
            let key = try await self.key(id, namedBy: request.source)
            var request = request
            request.segment.key?.file = key.name
            do {
                return try await patiently(request.patience) { [request] in
                    Loaded(segment: try await store(request), key: key)
                }
            } catch var error as AssetError where error.code == .contentKey {
                error.url = id.url
                throw error
            }
        }
    }

    private func store(_ request: Request) async throws -> DownloadJournal.Segment {
        var segment = request.segment
        segment.file = try await requests.request {
            try await client.load(
                request.url, .segment, range: request.segment.range, limit: request.limit, namedBy: request.source,
                patience: request.isLive ? .init(budget: client.options.retryPolicies.liveBudget) : nil
            ) { FileReader(request, folder: folder, received: received) }
        }
        return segment
    }

    /// Asks again for what is not there, or is not what it should be: once, or as long as it may still come.
    private func patiently<Value>(_ patience: Duration, _ body: () async throws -> Value) async throws -> Value {
        var waited = Duration.zero
        while true {
            do {
                return try await body()
            } catch let error as AssetError where error.mayComeYet {
                guard waited == .zero || waited < patience else { throw error }
                waited += Self.secondTryDelay
                try await client.options.clock.sleep(for: Self.secondTryDelay)
            }
        }
    }

    /// Loads a key into a file that is named by its contents.
    func key(_ id: ResourceID, namedBy source: String) async throws -> DownloadJournal.File {
        let bytes = try await requests.request {
            try await client.bytes(
                id.url, .key, range: id.byteRange, limit: ResourceLimits.keyByteCount, namedBy: source)
        }
        guard bytes.count == AES128Decryptor.blockByteCount else {
            throw AssetError(
                code: .contentKey, url: id.url, cause: "the key is not 16 bytes long", detail: "\(bytes.count) bytes")
        }
        return try folder.write(bytes, to: "key-\(try hash(of: bytes)).bin", mode: 0o600)
    }

    /// Loads a map into a file of the lane's folder that is named by its contents.
    ///
    /// - Parameters:
    ///   - isEncrypted: it is not looked into.
    ///   - patience: how long one that is not there yet is waited for.
    func map(
        _ id: ResourceID, isEncrypted: Bool, namedBy source: String, in lane: String, patience: Duration
    ) async throws -> DownloadJournal.File {
        let bytes = try await patiently(patience) {
            let bytes = try await requests.request {
                try await client.bytes(
                    id.url, .initializationSection, range: id.byteRange,
                    limit: ResourceLimits.initializationSectionByteCount, namedBy: source)
            }
            do throws(MediaError) {
                if !isEncrypted { _ = try MP4InitializationSection(parsing: bytes[...]) }
            } catch {
                throw AssetError(error, url: id.url)
            }
            return bytes
        }
        return try folder.write(bytes, to: "\(lane)/map-\(try hash(of: bytes)).mp4")
    }

    private func hash(of bytes: [UInt8]) throws(OutputError) -> Substring {
        do {
            let md5 = try MD5Hash()
            bytes.withUnsafeBytes { md5.update($0) }
            return md5.finish().prefix(12)
        } catch {
            throw OutputError(error, path: folder.path)
        }
    }
}

/// Writes a segment to its file while it comes.
private final class OpenFile: @unchecked Sendable {  // used by the one task that loads the segment
    var file: DownloadFile?
    var check = SegmentCheck()
}

private struct FileReader: ResourceReader {
    private let request: DownloadLoader.Request
    private let folder: DownloadFolder
    private let received: @Sendable (Int) -> Void
    private let open = OpenFile()

    init(_ request: DownloadLoader.Request, folder: DownloadFolder, received: @escaping @Sendable (Int) -> Void) {
        self.request = request
        self.folder = folder
        self.received = received
    }

    mutating func begin(_ response: TransportResponse) throws {
        open.file = try DownloadFile(folder: folder, name: request.file)
    }

    mutating func take(_ bytes: [UInt8]) throws -> DownloadJournal.File? {
        open.check.append(bytes)
        try open.file?.write(bytes)
        received(bytes.count)
        return nil
    }

    mutating func finish() throws -> DownloadJournal.File {
        guard let file = open.file else {
            throw MediaError(code: .truncated, text: "nothing came")
        }
        let mayBeEmpty = request.segment.lane.hasPrefix("subtitles")
        if let key = request.segment.key, key.method == EncryptionKey.Method.aes128.rawValue {
            try open.check.finish(
                key: try folder.bytes(of: key.file), vector: key.bytes, mayBeEmpty: mayBeEmpty)
        } else if request.isClear {
            try open.check.finish(mayBeEmpty: mayBeEmpty)
        }
        return try file.finish()
    }
}

extension DownloadLoader {
    /// Loads a map or a key that a lane's playlist names.
    func resource(_ id: ResourceID, of lane: DownloadLane) async throws -> DownloadJournal.File {
        let tracker = lane.tracker
        guard id.kind == .map else { return try await key(id, namedBy: tracker.url) }
        return try await map(
            id, isEncrypted: lane.isEncrypted(id), namedBy: tracker.url, in: lane.folder,
            patience: tracker.isLive ? tracker.pacingTarget * 3 : .zero)
    }
}

extension AssetError {
    /// What was asked for is not there, or not what it should be: another time it may be.
    fileprivate var mayComeYet: Bool {
        switch code {
        case .notFound, .badMedia: true
        // A key that a server refuses; one that does not fit is looked after by whoever has its segment.
        case .contentKey: (400..<500).contains(status ?? 0)
        default: false
        }
    }
}
