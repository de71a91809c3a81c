import HLSMedia
import HLSPlaylist

/// Loads the resources of a download, each into a file of its folder.
struct DownloadLoader: Sendable {
    let client: ResourceClient
    let folder: DownloadFolder
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
        /// How long a segment that is not there yet is waited for.
        var patience = Duration.zero
    }

    /// Wait before what was not there, or damaged, is asked for again (RELIABILITY R1, R46, R67).
    private static let secondTryDelay = Duration.milliseconds(500)

    /// Loads a segment; what is not there or no media is asked for once more.
    func segment(_ request: Request) async throws -> DownloadJournal.Segment {
        var waited = Duration.zero
        while true {
            do {
                let file = try await client.load(
                    request.url, .segment, range: request.segment.range, limit: request.limit,
                    namedBy: request.source
                ) { FileReader(request, folder: folder, received: received) }
                var segment = request.segment
                segment.file = file
                return segment
            } catch let error as AssetError where error.code == .notFound || error.code == .badMedia {
                guard waited == .zero || waited < request.patience else { throw error }
                waited += Self.secondTryDelay
                try await client.options.clock.sleep(for: Self.secondTryDelay)
            }
        }
    }

    /// Loads a map or a key into a file that is named by its contents.
    func resource(_ id: ResourceID, namedBy source: String, in lane: String) async throws -> DownloadJournal.File {
        let isKey = id.kind == .key
        let bytes = try await client.bytes(
            id.url, isKey ? .key : .initializationSection, range: id.byteRange,
            limit: isKey ? ResourceLimits.keyByteCount : ResourceLimits.initializationSectionByteCount,
            namedBy: source)
        if isKey, bytes.count != AES128Decryptor.blockByteCount {
            throw AssetError(
                code: .contentKey, url: id.url, cause: "the key is not 16 bytes long", detail: "\(bytes.count) bytes")
        }
        let hash: String
        do {
            let md5 = try MD5Hash()
            bytes.withUnsafeBytes { md5.update($0) }
            hash = md5.finish()
        } catch {
            throw OutputError(error, path: folder.path)
        }
        let name = isKey ? "key-\(hash.prefix(12)).bin" : "\(lane)/map-\(hash.prefix(12)).mp4"
        return try folder.write(bytes, to: name, mode: isKey ? 0o600 : 0o666)
    }
}

/// Writes a segment to its file while it comes.
private final class OpenFile: @unchecked Sendable {  // used by the one task that loads the segment
    var file: DownloadFile?
    var head: [UInt8] = []
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
        if open.head.count < ContainerProbe.maxByteCount {
            open.head += bytes.prefix(ContainerProbe.maxByteCount - open.head.count)
        }
        try open.file?.write(bytes)
        received(bytes.count)
        return nil
    }

    mutating func finish() throws -> DownloadJournal.File {
        guard let file = open.file else {
            throw MediaError(code: .truncated, text: "nothing came")
        }
        // An empty file of subtitles has no cue; other media is never empty.
        if request.isClear, !(open.head.isEmpty && request.segment.lane.hasPrefix("subtitles")),
            case .unknown(let appearance)? = ContainerProbe.identify(open.head[...], isComplete: true)
        {
            throw MediaError(
                code: .unknownContainer, byteOffset: 0, text: "not media: it looks like \(appearance)")
        }
        return try file.finish()
    }
}
