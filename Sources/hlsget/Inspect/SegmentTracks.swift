import HLSGetKit
import HLSKitCore

/// The tracks of a media playlist as one of its segments declares them, or why they are unknown.
struct SegmentTracks: Sendable {
    private let result: Result<[MediaFileReport.Track], PlaylistInput.Failure>

    /// Loads the start of the first segment, or of the newest one in a live playlist.
    ///
    /// Returns `nil` for a playlist without segments.
    init?(of playlist: MediaPlaylist, _ options: AssetOptions) async {
        guard !playlist.segments.isEmpty else { return nil }
        var options = options
        options.retryPolicies.maximumRetryCount = 0
        do {
            let tracks = try await Asset(urlString: playlist.url, options: options).loadTracks(of: playlist)
            result = .success(try await MediaFileReport.describe(tracks))
        } catch {
            result = .failure(PlaylistInput.Failure(error))
        }
    }

    private var trouble: String? {
        guard case .failure(let failure) = result else { return nil }
        return Redaction.text([failure.cause, failure.detail].compactMap(\.self).joined(separator: ": "))
    }

    var lines: [String] {
        switch result {
        case .success(let tracks): MediaFileReport.table(tracks)
        case .failure: ["tracks unknown: \(trouble ?? "")"]
        }
    }

    var members: [JSONValue.Member] {
        switch result {
        case .success(let tracks): [.init(name: "tracks", value: .array(tracks.map(MediaFileReport.value)))]
        case .failure: [.init(name: "tracks_error", value: JSONValue(trouble))]
        }
    }
}

extension PlaylistInput {
    /// Loads the tracks of a media playlist. A local playlist without remote media is read without the network.
    ///
    /// - Returns: The tracks, or `nil` for standard input, another base URL, or a local playlist of remote media.
    func tracks(of playlist: Playlist) async -> SegmentTracks? {
        guard baseURL == nil, case .media(let playlist) = playlist, let url = (try? url()) ?? nil,
            let segment = playlist.segments.first, let media = playlist.resolve(segment.uri),
            url.hasPrefix("http") || media.hasPrefix("file:"),
            let options = try? connection.assetOptions(of: url, through: { saying.wrap($0) })
        else { return nil }
        return await SegmentTracks(of: playlist, options)
    }
}
