import HLSKitAsset
import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

struct DownloadLoader: Sendable {
    let client: ResourceClient
    let folder: DownloadFolder
    let received: @Sendable (Int) -> Void

    struct Request: Sendable {
        var url: String
        var source: String
        var segment: DownloadJournal.Segment
        var file: String
        var limit: Int
        var isClear: Bool
        var key: ResourceID?
        var terms = RetryTerms(kind: .segment)
        var account: RequestRetrier.Account?
        var clientData: ClientDataNote?
    }

    struct Loaded: Sendable {
        var segment: DownloadJournal.Segment
        /// Whether the segment ends early.
        var isTruncated = false
        /// The file of the segment's key, if a second request returned another key.
        var key: DownloadJournal.File?
    }

    func segment(_ request: Request) async throws -> Loaded {
        var request = request
        var key: DownloadJournal.File?
        let keyAccount = client.retrier.makeAccount()
        defer { client.retrier.close(keyAccount) }
        while true {
            do {
                var loaded = try await store(request)
                loaded.key = key
                return loaded
            } catch var error as HLSError where error.code == .contentKey {
                // The user gave the key, so the playlist's key URL is not the cause.
                if client.keyRules.isGiven {
                    error.cause = HLSError.unfitGivenKey
                } else if key != nil {
                    error.urlString = request.key?.url
                }
                let terms = RetryTerms(kind: .key, isLive: request.terms.isLive)
                guard let id = request.key, try await client.retrier.mayRetry(id.url, terms, keyAccount) else {
                    throw error
                }
                key = try await self.key(id, namedBy: request.source, terms, for: .receivedObsoleteContentKey)
                request.segment.key?.file = key?.name ?? ""
            }
        }
    }

    /// Requests a truncated segment once more (R15). If it remains truncated, its longer body is all that exists.
    private func store(_ request: Request) async throws -> Loaded {
        var loaded = Loaded(segment: request.segment)
        let truncated = TruncatedFile()
        var file = try await load(request, truncated)
        if truncated.file == file {
            var again = request
            (again.account, again.terms.isSilent) = (nil, true)
            do { file = try await load(again, truncated) } catch { try Task.checkCancellation() }
        }
        loaded.segment.file = file
        loaded.isTruncated = truncated.file == file
        return loaded
    }

    private func load(_ request: Request, _ truncated: TruncatedFile) async throws -> DownloadJournal.File {
        try await client.load(
            request.url, .segment, range: request.segment.range, limit: request.limit, namedBy: request.source,
            terms: request.terms, account: request.account, clientData: request.clientData
        ) { FileReader(request, truncated, folder: folder, received: received) }
    }

    /// Loads a key into a file named after its contents.
    private func key(
        _ id: ResourceID, namedBy source: String, _ terms: RetryTerms,
        for reason: ContentKeyRequest.Reason = .needed
    ) async throws -> DownloadJournal.File {
        let account = client.retrier.makeAccount()
        defer { client.retrier.close(account) }
        while true {
            do {
                let key = try await client.key(id, namedBy: source, for: reason, terms: terms)
                guard key.terms?.mayBeStored != false else {
                    throw HLSError(code: .contentKey, urlString: id.url, cause: "the key may not be stored")
                }
                return try folder.write(key.bytes, to: "key-\(try hash(of: key.bytes)).bin", mode: 0o600)
            } catch let error as HLSError where error.cause == HLSError.badKeyLength {
                guard try await client.retrier.mayRetry(id.url, terms, account) else { throw error }
            }
        }
    }

    /// Loads an initialization section into a file named after its contents, in the lane's folder.
    ///
    /// - Parameter isEncrypted: Whether the contents cannot be checked.
    private func map(
        _ id: ResourceID, isEncrypted: Bool, namedBy source: String, in lane: String, terms: RetryTerms
    ) async throws -> DownloadJournal.File {
        let bytes = try await client.load(
            id.url, .initializationSection, range: id.byteRange,
            limit: ResourceLimits.initializationSectionByteCount, namedBy: source, terms: terms
        ) { InitializationReader(isEncrypted: isEncrypted) }
        return try folder.write(bytes, to: "\(lane)/map-\(try hash(of: bytes)).mp4")
    }

    private func hash(of bytes: [UInt8]) throws(HLSError) -> Substring {
        do {
            let md5 = try LibraryDigest(.md5)
            bytes.withUnsafeBytes { md5.update($0) }
            return md5.finish().prefix(12)
        } catch {
            throw HLSError(error, path: folder.path)
        }
    }
}

private final class OpenFile: @unchecked Sendable {  // used by the one task that loads the segment
    var file: DownloadFile?
    var check = SegmentCheck()
    /// Whether the server declared the length of the body, so that it is complete.
    var hasLength = false
}

private final class TruncatedFile: @unchecked Sendable {  // used by the one task that loads the segment
    /// The longest truncated body of the segment.
    var file: DownloadJournal.File?
}

private struct FileReader: ResourceReader {
    private let request: DownloadLoader.Request
    private let truncated: TruncatedFile
    private let folder: DownloadFolder
    private let received: @Sendable (Int) -> Void
    private let open = OpenFile()

    init(
        _ request: DownloadLoader.Request, _ truncated: TruncatedFile, folder: DownloadFolder,
        received: @escaping @Sendable (Int) -> Void
    ) {
        self.request = request
        self.truncated = truncated
        self.folder = folder
        self.received = received
    }

    mutating func begin(_ response: TransportResponse) throws {
        open.file = try DownloadFile(folder: folder, name: request.file)
        open.hasLength = response.contentLength != nil
        open.check.isEncrypted = request.segment.key?.method == EncryptionKey.Method.aes128.rawValue
    }

    mutating func take(_ bytes: [UInt8]) throws -> DownloadJournal.File? {
        open.check.append(bytes)
        try open.file?.write(bytes)
        received(bytes.count)
        return nil
    }

    var mayBeEmpty: Bool { request.segment.lane.hasPrefix("subtitles") }

    mutating func finish() throws -> DownloadJournal.File {
        if open.file == nil, mayBeEmpty { open.file = try DownloadFile(folder: folder, name: request.file) }
        guard let file = open.file else {
            throw MediaError(code: .truncated, text: "no data arrived")
        }
        if mayBeEmpty, open.check.isEmpty {
            // Servers without a cue for a while send an empty body.
        } else if let key = request.segment.key, key.method == EncryptionKey.Method.aes128.rawValue {
            try open.check.finish(
                key: try folder.bytes(of: key.file), vector: key.bytes, mayBeEmpty: mayBeEmpty)
        } else if request.isClear {
            try open.check.finish(mayBeEmpty: mayBeEmpty)
        }
        let isTruncated = request.isClear && !open.hasLength && open.check.isTruncated
        if let longest = truncated.file, longest.byteCount >= file.byteCount { return longest }
        // A segment of a live stream cannot be loaded again later, so flush it now.
        let stored = try file.finish(syncs: request.terms.isLive)
        if isTruncated { truncated.file = stored }
        return stored
    }
}

extension DownloadLoader {
    func resource(_ id: ResourceID, of lane: DownloadLane) async throws -> DownloadJournal.File {
        let tracker = lane.tracker
        guard id.kind == .map else {
            return try await key(id, namedBy: tracker.url, RetryTerms(kind: .key, isLive: tracker.isLive))
        }
        // At the live edge, it may become available as late as the segment that needs it.
        let terms =
            tracker.isLive
            ? RetryTerms(kind: .segment, isLive: true, isAtLiveEdge: true, targetDuration: tracker.pacingTarget)
            : RetryTerms(kind: .initializationSection)
        return try await map(
            id, isEncrypted: lane.isEncrypted(id), namedBy: tracker.url, in: lane.folder, terms: terms)
    }
}

private struct InitializationReader: ResourceReader {
    let isEncrypted: Bool
    private var bytes: [UInt8] = []

    init(isEncrypted: Bool) { self.isEncrypted = isEncrypted }

    mutating func begin(_ response: TransportResponse) {}

    mutating func take(_ bytes: [UInt8]) -> [UInt8]? {
        self.bytes += bytes
        return nil
    }

    mutating func finish() throws -> [UInt8] {
        guard !isEncrypted else { return bytes }
        switch ContainerProbe.identify(bytes[...], isComplete: true) {
        // Transport stream tables, or the header of subtitles.
        case .transportStream, .webVTT: break
        default: _ = try MP4InitializationSection(parsing: bytes[...])
        }
        return bytes
    }
}
