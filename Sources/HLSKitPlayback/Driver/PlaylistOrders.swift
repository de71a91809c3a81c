import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist

/// The driver's side of playlist parsing: queues the bytes, and detects playlists that are no longer wanted.
struct PlaylistOrders {
    private enum Work: Sendable {
        case append([UInt8], RequestID, PlaylistSource)
        case finish(RequestID, PlaylistSource, TransferMetrics)
        case abandon(RequestID)
    }

    private let worker: SerialWorker<PlaylistReading, Work, ReadPlaylist>
    private var awaited: Set<RequestID> = []
    private var byteCounts: [RequestID: Int] = [:]

    /// - Parameter deliver: Receives playlists that are parsed later.
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

    mutating func finish(
        _ id: RequestID, _ source: PlaylistSource, _ metrics: TransferMetrics, within allowance: inout TurnAllowance
    ) -> ReadPlaylist? {
        awaited.insert(id)
        let byteCount = byteCounts.removeValue(forKey: id) ?? 0
        return worker.perform(.finish(id, source, metrics), atOnce: allowance.take(byteCount))
    }

    /// Called when a playlist was parsed. Returns `false` if it is no longer wanted.
    mutating func take(_ playlist: ReadPlaylist) -> Bool { awaited.remove(playlist.id) != nil }

    mutating func abandon(_ id: RequestID) {
        awaited.remove(id)
        // Only requests for playlists have an entry.
        guard byteCounts.removeValue(forKey: id) != nil else { return }
        _ = worker.perform(.abandon(id), atOnce: true)
    }

    func close() async { await worker.close() }
}

// MARK: - Parsing

struct PlaylistSource: Sendable {
    /// The URL after redirects.
    var url: String
    var contentType: String?
    /// The variables of the multivariant playlist, for `EXT-X-DEFINE:IMPORT`.
    var variables: [String: String]?
    /// The known playlist that a delta update is applied to.
    var known: MediaPlaylist?
}

struct ReadPlaylist: Sendable {
    var id: RequestID
    var result: Result<LoadedPlaylist, PlaylistFailure>
    var metrics: TransferMetrics
}

struct PlaylistReading: Sendable {
    private struct Reading: Sendable {
        var parser: PlaylistParser?
        var failure: PlaylistFailure?
        var byteCount = 0
    }

    private let options: PlaylistParser.Options
    private var readings: [RequestID: Reading] = [:]

    init(options: PlaylistParser.Options) { self.options = options }

    mutating func append(_ bytes: [UInt8], of id: RequestID, _ source: PlaylistSource) {
        // Remove the parser to avoid a copy of its contents.
        var reading = readings.removeValue(forKey: id) ?? Reading()
        reading.byteCount += bytes.count
        if reading.failure == nil {
            if reading.parser == nil {
                var options = options
                options.importedVariables = source.variables
                options.contentType = source.contentType
                reading.parser = PlaylistParser(url: source.url, options: options)
            }
            do {
                try reading.parser?.append(bytes[...])
            } catch {
                reading.failure = PlaylistFailure(error, url: source.url)
            }
        }
        readings[id] = reading
    }

    mutating func finish(_ id: RequestID, _ source: PlaylistSource) -> Result<LoadedPlaylist, PlaylistFailure> {
        let reading = readings.removeValue(forKey: id) ?? Reading()
        if let failure = reading.failure { return .failure(failure) }
        do {
            var parser = reading.parser ?? PlaylistParser(url: source.url, options: options)
            var playlist = try parser.finish()
            var isDelta = false
            if let known = source.known, case .media(let update) = playlist, update.skip != nil {
                playlist = .media(try known.merging(update: update))
                isDelta = true
            }
            return .success(
                LoadedPlaylist(
                    playlist: playlist, url: source.url, byteCount: reading.byteCount, warnings: [], isDelta: isDelta))
        } catch {
            return .failure(PlaylistFailure(error, url: source.url))
        }
    }

    mutating func abandon(_ id: RequestID) { readings[id] = nil }
}
