import HLSKitCodec
import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// Which tracks of a segment are handed on: one of each kind that is wanted.
struct TrackSelection: Sendable {
    private let lane: LaneID
    /// All tracks that the segment has told of.
    private(set) var tracks: [MediaTrack] = []
    private(set) var selected: [MediaKind: MediaTrack] = [:]
    private var metadataTracks: [MediaTrack] = []
    /// What tracks are, of each kind, that no demuxer reads.
    private var unread: [MediaKind: String] = [:]
    /// Kinds that were selected in the middle of the segment: they begin where decoding can.
    private var awaitingSync: Set<MediaKind> = []

    /// Chooses among several tracks of audio, where one is wanted more than another.
    private let audioRule: AudioTrackRule?

    init(of lane: LaneID, audio rule: AudioTrackRule? = nil) {
        self.lane = lane
        audioRule = rule
    }

    // MARK: In

    /// - Parameter silent: tracks that gave nothing in segments before.
    mutating func select(from tracks: [MediaTrack], wanted: Set<MediaKind>, silent: Set<Int> = []) {
        self.tracks = tracks
        metadataTracks = tracks.filter { $0.mediaType == .metadata }
        for type in wanted {
            // The track that was chosen first stays, as long as it is there.
            if let old = selected[type], let same = tracks.first(where: { $0.id == old.id && $0.mediaType == type }) {
                selected[type] = same
            } else {
                let useful = tracks.filter { $0.mediaType == type && isOfUse($0, wanted) }
                selected[type] = useful.count < 2 ? useful.first : best(of: useful, type, silent)
            }
        }
    }

    /// Other kinds are wanted from here on. Gives the tracks that are not handed on any longer.
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

    /// There is a track of this kind that no demuxer reads.
    mutating func noteUnread(_ type: MediaKind, _ name: String) { unread[type] = unread[type] ?? name }

    /// Whether a sample is of before the one that a late choice begins with.
    mutating func skipsUntilSync(_ sample: MediaSample, of type: MediaKind) -> Bool {
        guard awaitingSync.contains(type) else { return false }
        if sample.isSync { awaitingSync.remove(type) }
        return !sample.isSync
    }

    // MARK: Out

    /// A track of the segment, wanted or not.
    func track(id: Int) -> MediaTrack? { tracks.first { $0.id == id } }

    func selectedTrack(id: Int) -> MediaTrack? {
        if let found = selected.values.first(where: { $0.id == id }) { return found }
        // Of metadata all tracks are read, whatever is wanted.
        guard lane != .subtitles, !metadataTracks.isEmpty else { return nil }
        return metadataTracks.first { $0.id == id }
    }

    /// Selected tracks of pictures and audio.
    var presentedCount: Int { selected.keys.count { $0 == .video || $0 == .audio } }

    /// What the media of this kind is, where there is some and none of it can be decoded; nil where some is read.
    func undecodable(_ type: MediaKind) -> String? {
        guard selected[type] == nil else { return nil }
        return tracks.first { $0.mediaType == type && $0.isMedia }?.codec.rawValue ?? unread[type]
    }

    /// Tracks that were chosen and gave nothing, where another of their kind did.
    func silent(_ gaveNothing: (Int) -> Bool) -> Set<Int> {
        Set(
            selected.values.filter { track in
                gaveNothing(track.id)
                    && tracks.contains { $0.mediaType == track.mediaType && !gaveNothing($0.id) }
            }.map(\.id))
    }

    // MARK: Choosing

    /// The audio that is wanted; else the first that has something to give and that can be decoded.
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

    /// Text beside pictures is of use only as closed captions; subtitles are renditions of their own.
    ///
    /// What cannot be decoded is of no use beside what can be, nor are pictures of chapters beside the media: an item is
    /// not lost for them.
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
        if lane == .subtitles { return TextSampleReader.reads(track) }
        return track.codec == .cea608 || track.codec == .cea708
    }
}

extension MediaTrack {
    /// Pictures or sound, and not something beside them.
    fileprivate var isMedia: Bool { (mediaType == .video || mediaType == .audio) && !isAuxiliary }
}
