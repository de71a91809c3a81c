import HLSKitAsset
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

struct ReloadReader: ResourceReader {
    private var reader: PlaylistReader
    private let directives: DeliveryDirectives

    init(_ reader: PlaylistReader, _ directives: DeliveryDirectives) {
        self.reader = reader
        self.directives = directives
    }

    mutating func begin(_ response: TransportResponse) {
        var response = response
        response.urlString = directives.url(answering: response.urlString)
        reader.begin(response)
    }

    mutating func take(_ bytes: [UInt8]) throws -> Playlist? { try reader.take(bytes) }

    mutating func finish() throws -> Playlist {
        let playlist = try reader.finish()
        guard let delta = directives.delta, case .media(let update) = playlist, update.skip != nil else {
            return playlist
        }
        return .media(try delta.known.merging(update: update))
    }
}
