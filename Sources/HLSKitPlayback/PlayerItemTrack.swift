import HLSKitCodec
import HLSKitEngine
public import HLSKitMedia

/// The media of one kind that an item presents: its video, audio, text or timed metadata.
///
/// ``PlayerItem/tracks`` returns the tracks of an item. A track keeps its identity when the variant or rendition that
/// it comes from changes.
public struct PlayerItemTrack: Sendable, Hashable, Identifiable {
    /// The identifier of a track, unique within the process.
    public struct ID: Sendable, Hashable {
        let item: PlayerItemID
        let mediaType: MediaKind
    }

    private let item: PlayerItem
    /// The kind of media.
    public let mediaType: MediaKind
    /// The format of the last loaded media: coding format, size and sample rate.
    ///
    /// It is `nil` if no media is loaded. Subtitles are cues, so they have no format description.
    public let formatDescription: MediaTrack?

    /// The identifier of the track, the same for the track of this kind in every state of the item.
    public var id: ID { ID(item: item.id, mediaType: mediaType) }

    init(_ mediaType: MediaKind, of item: PlayerItem, formatDescription: MediaTrack?) {
        self.item = item
        self.mediaType = mediaType
        self.formatDescription = formatDescription
    }

    /// A Boolean value that indicates whether the track is enabled.
    ///
    /// Outputs get no media of a disabled track. The track is not decoded and, if it has its own playlist, not loaded.
    /// The player always loads the video of an item without audio, because the video determines the time.
    ///
    /// You can change this property at any time. Neither status nor timebase changes. A track that you disable ends
    /// with the media that is already decoded. A track that you enable starts as soon as it is loaded, and playback
    /// does not wait for it. The default is `true`.
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
    /// The tracks of the item, at most one for each kind of media: video, audio, text and metadata.
    ///
    /// Until the tracks are known, the array contains only disabled tracks.
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
