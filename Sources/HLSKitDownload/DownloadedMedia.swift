import HLSKitLoading
import HLSKitSelection
import Synchronization

final class DownloadedMedia: StoredMedia {
    typealias Key = DownloadDemand.Key

    /// The maximum time that a player waits for the download, if its request has no timeout.
    private static let longestWait = Duration.seconds(60)

    private let folder: DownloadFolder
    private let demand: DownloadDemand
    private let clock: any Clock<Duration>
    private let files = Mutex<[Key: String]>([:])

    init(_ folder: DownloadFolder, demand: DownloadDemand, clock: any Clock<Duration>) {
        self.folder = folder
        self.demand = demand
        self.clock = clock
    }

    var count: Int { files.withLock(\.count) }

    func add(_ key: Key, file name: String) {
        files.withLock { $0[key] = name }
        demand.settle(key)
    }

    func add(_ id: ResourceID, file name: String) { add(Key(id), file: name) }

    func remove(_ names: Set<String>) {
        files.withLock { files in files = files.filter { !names.contains($0.value) } }
    }

    func removeAll() { files.withLock { $0 = [:] } }

    func reader(for request: TransportRequest) -> (@Sendable () async -> [UInt8]?)? {
        // A key that is requested again must not be the stored one.
        guard request.keyReason == .needed else { return nil }
        guard request.resourceClass.isMedia, request.keyFormat == nil else { return nil }
        let key = Key(url: request.urlString, byteRange: request.byteRange)
        guard name(of: key) != nil || demand.mayCome(key) else { return nil }
        let limit = request.timeouts.total ?? Self.longestWait
        return { [self] in
            // It may have been stored in the meantime.
            if name(of: key) == nil { _ = await demand.wait(for: key, atMost: limit, clock) }
            guard let name = name(of: key) else { return nil }
            return await DiskThread.run(clock) { () async -> [UInt8]? in
                do throws(HLSError) {
                    return try folder.bytes(of: name)
                } catch {
                    remove([name])
                    return nil
                }
            }
        }
    }

    private func name(of key: Key) -> String? { files.withLock { $0[key] } }
}

extension DownloadDemand.Key {
    init(_ id: ResourceID) { self.init(url: id.url, byteRange: id.byteRange) }
}
