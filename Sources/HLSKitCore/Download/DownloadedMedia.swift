import Synchronization

/// Which resources of the network a download has on the disk, for those who play it meanwhile.
final class DownloadedMedia: StoredMedia {
    private struct Key: Hashable {
        var url: String
        var byteRange: Range<UInt64>?
    }

    private let folder: DownloadFolder
    private let clock: any Clock<Duration>
    /// Names in the folder.
    private let files = Mutex<[Key: String]>([:])

    init(_ folder: DownloadFolder, clock: any Clock<Duration>) {
        self.folder = folder
        self.clock = clock
    }

    var count: Int { files.withLock(\.count) }

    func add(_ url: String, _ byteRange: Range<UInt64>?, file name: String) {
        files.withLock { $0[Key(url: url, byteRange: byteRange)] = name }
    }

    func add(_ id: ResourceID, file name: String) { add(id.url, id.byteRange, file: name) }

    func remove(_ names: Set<String>) {
        files.withLock { files in files = files.filter { !names.contains($0.value) } }
    }

    func removeAll() { files.withLock { $0 = [:] } }

    func reader(for request: TransportRequest) -> (@Sendable () async -> [UInt8]?)? {
        guard request.resourceClass.isMedia, request.keyFormat == nil else { return nil }
        let key = Key(url: request.urlString, byteRange: request.byteRange)
        guard let name = files.withLock({ $0[key] }) else { return nil }
        return { [self] in
            await DiskThread.run(clock) { () async -> [UInt8]? in
                do throws(HLSError) {
                    return try folder.bytes(of: name)
                } catch {
                    remove([name])
                    return nil
                }
            }
        }
    }
}
