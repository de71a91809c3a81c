public import HLSKitLoading
public import HLSKitSelection
public import HLSKitTime

/// A property of an ``Asset``, with the type of its value.
public struct AssetProperty<Value: Sendable>: Sendable {
    let key: AssetPropertyKey
    let compute: @Sendable (AssetInspector) async throws -> Value

    init(_ key: AssetPropertyKey, _ compute: @escaping @Sendable (AssetInspector) async throws -> Value) {
        self.key = key
        self.compute = compute
    }
}

/// How far a property is, as ``Asset/status(of:)`` reports.
public enum PropertyStatus<Value: Sendable>: Sendable {
    /// No one has asked for it.
    case notYetLoaded
    case loading
    case loaded(Value)
    /// The error that `load` throws.
    case failed(HLSError)
}

enum AssetPropertyKey: Hashable, Sendable {
    case duration, tracks, metadata, commonMetadata, variants, availableMediaCharacteristics, isPlayable
    case hasProtectedContent, minimumTimeOffsetFromLive, playbackConfigurationOptions, availableChapterLocales
    case shortestTrackEnd
}

extension AssetProperty where Value == MediaTime {
    /// How long the asset is: the sum of `EXTINF` of a playlist that has ended, or what the header of a media file says;
    /// `.indefinite` while a live stream continues, and for a media file of unknown length and duration.
    ///
    /// Costs the playlists up to the first variant's. A duration that was reckoned from a part of a file has
    /// `hasBeenRounded` set; see ``AssetOptions/prefersPreciseDurationAndTiming``.
    public static var duration: AssetProperty<MediaTime> { .init(.duration) { try await $0.duration() } }
}

extension AssetProperty where Value == MediaTime? {
    /// How far behind the live edge playing has to stay, for a player, which loads no parts: `HOLD-BACK`, else three target
    /// durations. nil for what is not live.
    public static var minimumTimeOffsetFromLive: AssetProperty<MediaTime?> {
        .init(.minimumTimeOffsetFromLive) { try await $0.minimumTimeOffsetFromLive() }
    }

    /// The end of the shortest track of video or audio: with it as `forwardPlaybackEndTime`, no track is missing at the end
    /// of a loop. nil where there is no such track.
    public static var shortestTrackEnd: AssetProperty<MediaTime?> {
        .init(.shortestTrackEnd) { try await $0.shortestTrackEnd() }
    }
}

extension AssetProperty where Value == [AssetTrack] {
    /// The tracks of the first variant and of the renditions that go with it. Costs their playlists and the first bytes
    /// of their media.
    public static var tracks: AssetProperty<[AssetTrack]> { .init(.tracks) { try await $0.tracks() } }
}

extension AssetProperty where Value == [MetadataItem] {
    /// All metadata: `EXT-X-SESSION-DATA` of a multivariant playlist, the user data of an MP4 file, ID3 tags of packed
    /// audio. Values that are at a URL of their own are loaded when they are asked for. Costs the first request only.
    public static var metadata: AssetProperty<[MetadataItem]> { .init(.metadata) { try await $0.metadata() } }

    /// The metadata with a ``MetadataItem/commonKey``.
    public static var commonMetadata: AssetProperty<[MetadataItem]> {
        .init(.commonMetadata) { try await $0.metadata().filter { $0.commonKey != nil } }
    }
}

extension AssetProperty where Value == [AssetVariant] {
    /// The variants in the order of the playlist, those included that cannot be played here. A media playlist and a
    /// media file have one, about which nothing is declared. Costs the first request only.
    public static var variants: AssetProperty<[AssetVariant]> { .init(.variants) { try await $0.variants() } }
}

extension AssetProperty where Value == [MediaCharacteristic] {
    /// The characteristics for which the playlist, or the file, names options. Costs the first request only: audio that is
    /// only in segments is not among them.
    public static var availableMediaCharacteristicsWithMediaSelectionOptions: AssetProperty<[MediaCharacteristic]> {
        .init(.availableMediaCharacteristics) { try await $0.availableMediaCharacteristics() }
    }
}

extension AssetProperty where Value == Bool {
    /// It can be played on this machine: a variant whose codecs are decoded here, or a track of the media file; and
    /// everything in its playlist that is encrypted is so by a method that is known, with a key of `identity` or of one of
    /// ``LoadingHooks/keyProviders``. Keys themselves are not asked for, but for one that the media has to be looked into
    /// with. Costs the playlists up to the first such variant's, and the first bytes of media where no codecs are declared.
    public static var isPlayable: AssetProperty<Bool> { .init(.isPlayable) { try await $0.isPlayable() } }

    /// The media, or a part of it, can be decrypted only with keys of a key system: every key that is offered for it has a
    /// `KEYFORMAT` other than `identity`, or, in a media file, its samples are encrypted. Whether anybody here has such keys
    /// is what ``isPlayable`` says. Media with a plain key (AES-128, SAMPLE-AES of `identity`) is not protected.
    /// Costs the playlists up to the first variant's.
    public static var hasProtectedContent: AssetProperty<Bool> {
        .init(.hasProtectedContent) { try await $0.hasProtectedContent() }
    }
}

extension AssetProperty where Value == [PlaybackConfigurationOption] {
    /// Video layouts that the variants require (`REQ-VIDEO-LAYOUT`), each once.
    public static var playbackConfigurationOptions: AssetProperty<[PlaybackConfigurationOption]> {
        .init(.playbackConfigurationOptions) { try await $0.playbackConfigurationOptions() }
    }
}

extension AssetProperty where Value == [String] {
    /// The languages of the chapters' titles, as BCP 47 tags; empty without chapters, `und` for titles of no language.
    public static var availableChapterLocales: AssetProperty<[String]> {
        .init(.availableChapterLocales) { try await $0.chapterLocales() }
    }
}
