import HLSKitEngine
import HLSKitLoading

/// The driver's side of the parsing of playlists: gives out their bytes, and knows which of them are still wanted when
/// they are parsed.
struct PlaylistOrders {
    private enum Work: Sendable {
        case append([UInt8], RequestID, PlaylistSource)
        case finish(RequestID, PlaylistSource, TransferMetrics)
        case abandon(RequestID)
    }

    private let worker: SerialWorker<PlaylistReading, Work, ReadPlaylist>
    /// Whole, and not parsed yet.
    private var awaited: Set<RequestID> = []
    /// How much has come of the others.
    private var byteCounts: [RequestID: Int] = [:]

    /// - Parameter deliver: gets playlists that are parsed later.
    init(
        _ configuration: DriverConfiguration, on queue: WorkQueue?, deliver: @escaping @Sendable (ReadPlaylist) -> Void
    ) {
        worker = SerialWorker(
            PlaylistReading(options: configuration.playlistOptions), on: queue, deliver: deliver
        ) { reading, work in
            switch work {
            case .append(let bytes, let id, let source): reading.append(bytes, of: id, source)
            case .abandon(let id): reading.abandon(id)
            case .finish(let id, let source, let metrics):
                return ReadPlaylist(id: id, result: reading.finish(id, source), metrics: metrics)
            }
            return nil
        }
    }

    mutating func append(
        _ bytes: [UInt8], of id: RequestID, _ source: PlaylistSource, within allowance: inout TurnAllowance
    ) {
        byteCounts[id, default: 0] += bytes.count
        _ = worker.perform(.append(bytes, id, source), atOnce: allowance.take(bytes.count))
    }

    /// All bytes have come. Gives the playlist where it is parsed already.
    mutating func finish(
        _ id: RequestID, _ source: PlaylistSource, _ metrics: TransferMetrics, within allowance: inout TurnAllowance
    ) -> ReadPlaylist? {
        awaited.insert(id)
        let byteCount = byteCounts.removeValue(forKey: id) ?? 0
        return worker.perform(.finish(id, source, metrics), atOnce: allowance.take(byteCount))
    }

    /// A playlist was parsed. False where it is wanted no longer.
    mutating func take(_ playlist: ReadPlaylist) -> Bool { awaited.remove(playlist.id) != nil }

    /// The request was cancelled, or has failed.
    mutating func abandon(_ id: RequestID) {
        awaited.remove(id)
        // Only playlists have something to be forgotten.
        guard byteCounts.removeValue(forKey: id) != nil else { return }
        _ = worker.perform(.abandon(id), atOnce: true)
    }

    func close() async { await worker.close() }
}
