import HLSKitCodec
import HLSKitEngine
public import HLSKitMedia

/// Media of one kind that an item presents: its video, its audio, its subtitles or captions, its timed metadata.
///
/// ``PlayerItem/tracks`` gives them. A track stays the same when the variant or the rendition changes that it comes from.
public struct PlayerItemTrack: Sendable, Hashable, Identifiable {
    /// Tells a track from every other one of the process.
    public struct ID: Sendable, Hashable {
        let item: PlayerItemID
        let mediaType: MediaKind
    }

    private let item: PlayerItem
    /// The kind of media.
    public let mediaType: MediaKind
    /// The media as the container described it that was loaded last: coding format, size, sample rate. nil where none was
    /// loaded, as of subtitles, which are cues.
    public let formatDescription: MediaTrack?

    /// The same for the track of this kind in every state of the item.
    public var id: ID { ID(item: item.id, mediaType: mediaType) }

    init(_ mediaType: MediaKind, of item: PlayerItem, formatDescription: MediaTrack?) {
        self.item = item
        self.mediaType = mediaType
        self.formatDescription = formatDescription
    }

    /// False: outputs get nothing of the track, it is not decoded, and it is not loaded where it has a playlist of its own.
    /// Default true.
    ///
    /// May change at any time; neither status nor timebase does. A track that is switched off ends with what is decoded
    /// already. One that is switched on again begins as soon as it is loaded, and is not waited for meanwhile. Without audio
    /// the video is loaded in any case: it tells the time.
    ///
    /// See docs/behaviour/media-selection.md; I04.
    public var isEnabled: Bool {
        get { !item.disabledTracks.contains(mediaType) }
        nonmutating set { item.setTrack(mediaType, isEnabled: newValue) }
    }

    public static func == (one: PlayerItemTrack, other: PlayerItemTrack) -> Bool {
        one.id == other.id && one.formatDescription == other.formatDescription
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension PlayerItem {
    /// The tracks of the item, one of each kind of media that there is: video, audio, text, metadata. Empty before they are
    /// known, but for those that are switched off.
    public var tracks: [PlayerItemTrack] {
        let (details, disabled) = (details, disabledTracks)
        return MediaKind.allCases.compactMap { type in
            let found = details.tracks.filter { $0.mediaType == type && !$0.isAuxiliary }
            let description = found.first { CodecRegistry.canDecode($0.codec) } ?? found.first
            let isThere = type == .text ? details.hasText : description != nil
            guard isThere || disabled.contains(type) else { return nil }
            return PlayerItemTrack(type, of: self, formatDescription: description)
        }
    }
}
