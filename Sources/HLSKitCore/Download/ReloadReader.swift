import HLSPlaylist

/// Reads a playlist that may leave out what is known of it.
struct ReloadReader: ResourceReader {
    private var reader: PlaylistReader
    private let delta: DeltaUpdate?

    /// - Parameter delta: how less was asked for; nil where it was not.
    init(_ reader: PlaylistReader, _ delta: DeltaUpdate?) {
        self.reader = reader
        self.delta = delta
    }

    mutating func begin(_ response: TransportResponse) {
        var response = response
        response.urlString = DeliveryDirectives(delta: delta).url(answering: response.urlString)
        reader.begin(response)
    }

    mutating func take(_ bytes: [UInt8]) throws -> Playlist? { try reader.take(bytes) }

    mutating func finish() throws -> Playlist {
        let playlist = try reader.finish()
        guard let delta, case .media(let update) = playlist, update.skip != nil else { return playlist }
        return .media(try delta.known.merging(update: update))
    }
}
