import HLSKitCodec
import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// Selects the tracks of a segment to hand on: one for each wanted kind of media.
struct TrackSelection: Sendable {
    private let lane: LaneID
    private(set) var tracks: [MediaTrack] = []
    private(set) var selected: [MediaKind: MediaTrack] = [:]
    private var metadataTracks: [MediaTrack] = []
    private var unread: [MediaKind: String] = [:]
    /// Kinds selected within the segment, which start at the next sync sample.
    private var awaitingSync: Set<MediaKind> = []

    private let audioRule: AudioTrackRule?

    init(of lane: LaneID, audio rule: AudioTrackRule? = nil) {
        self.lane = lane
        audioRule = rule
    }

    // MARK: In

    /// - Parameter silent: Tracks without samples in earlier segments.
    mutating func select(from tracks: [MediaTrack], wanted: Set<MediaKind>, silent: Set<Int> = []) {
        self.tracks = tracks
        metadataTracks = tracks.filter { $0.mediaType == .metadata }
        for type in wanted {
            // Keep the first selection while the track exists.
            if let old = selected[type], let same = tracks.first(where: { $0.id == old.id && $0.mediaType == type }) {
                selected[type] = same
            } else {
                let useful = tracks.filter { $0.mediaType == type && isOfUse($0, wanted) }
                selected[type] = useful.count < 2 ? useful.first : best(of: useful, type, silent)
            }
        }
    }

    /// Changes the wanted kinds of media. Returns the tracks that are no longer handed on.
    mutating func reselect(wanted: Set<MediaKind>) -> [MediaTrack] {
        awaitingSync.formUnion(wanted.subtracting(selected.keys))
        let dropped = selected.filter { !wanted.contains($0.key) }
        for type in dropped.keys {
            selected[type] = nil
            awaitingSync.remove(type)
        }
        select(from: tracks, wanted: wanted)
        return Array(dropped.values)
    }

    mutating func noteUnread(_ type: MediaKind, _ name: String) { unread[type] = unread[type] ?? name }

    /// Returns whether a sample precedes the sync sample at which a late selection starts.
    mutating func skipsUntilSync(_ sample: MediaSample, of type: MediaKind) -> Bool {
        guard awaitingSync.contains(type) else { return false }
        if sample.isSync { awaitingSync.remove(type) }
        return !sample.isSync
    }

    // MARK: Out

    func track(id: Int) -> MediaTrack? { tracks.first { $0.id == id } }

    func selectedTrack(id: Int) -> MediaTrack? {
        if let found = selected.values.first(where: { $0.id == id }) { return found }
        // All metadata tracks are read, regardless of the wanted kinds.
        guard lane != .subtitles, !metadataTracks.isEmpty else { return nil }
        return metadataTracks.first { $0.id == id }
    }

    var presentedCount: Int { selected.keys.count { $0 == .video || $0 == .audio } }

    /// The format of this kind of media if none of it can be decoded, or `nil` if some is read or there is none.
    func undecodable(_ type: MediaKind) -> String? {
        guard selected[type] == nil else { return nil }
        return tracks.first { $0.mediaType == type && $0.isMedia }?.codec.rawValue ?? unread[type]
    }

    /// Returns selected tracks without samples, if another track of their kind has samples.
    func silent(_ gaveNothing: (Int) -> Bool) -> Set<Int> {
        Set(
            selected.values.filter { track in
                gaveNothing(track.id)
                    && tracks.contains { $0.mediaType == track.mediaType && !gaveNothing($0.id) }
            }.map(\.id))
    }

    // MARK: Choosing

    /// Returns the preferred audio track or, without one, the first track that has samples and can be decoded.
    private func best(of useful: [MediaTrack], _ type: MediaKind, _ silent: Set<Int>) -> MediaTrack? {
        if type == .audio, let wanted = audioRule?.track(among: tracks, canDecode: CodecRegistry.canDecode),
            !silent.contains(wanted.id),
            useful.contains(where: { $0.id == wanted.id })
        {
            return wanted
        }
        return Self.best(of: useful, silent)
    }

    private static func best(of tracks: [MediaTrack], _ silent: Set<Int>) -> MediaTrack? {
        let audible = tracks.filter { !silent.contains($0.id) }
        return audible.first { CodecRegistry.canDecode($0.codec) } ?? audible.first ?? tracks.first
    }

    /// Whether a track is useful.
    ///
    /// Text in a segment with video is useful only as closed captions, because subtitles have their own renditions.
    /// Undecodable tracks and chapter images are omitted if there is other media, so that they do not make the item
    /// fail.
    private func isOfUse(_ track: MediaTrack, _ wanted: Set<MediaKind>) -> Bool {
        if track.mediaType == .video || track.mediaType == .audio {
            let isDecodable = CodecRegistry.canDecode(track.codec)
            guard track.isAuxiliary || !isDecodable else { return true }
            return !tracks.contains { other in
                other.isMedia && CodecRegistry.canDecode(other.codec)
                    && (isDecodable || wanted.contains(other.mediaType))
            }
        }
        guard track.mediaType == .text else { return true }
        if lane == .subtitles { return track.isReadableText }
        return track.codec == .cea608 || track.codec == .cea708
    }
}

extension MediaTrack {
    fileprivate var isMedia: Bool { (mediaType == .video || mediaType == .audio) && !isAuxiliary }
}
