import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist

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

/// Parses the playlists of an item as their bytes arrive.
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
