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

/// The loading state of a property, as returned by ``Asset/status(of:)``.
public enum PropertyStatus<Value: Sendable>: Sendable {
    /// The property has not been requested.
    case notYetLoaded
    case loading
    case loaded(Value)
    /// The error that `load` throws.
    case failed(HLSError)
}

enum AssetPropertyKey: Hashable, Sendable {
    case duration, tracks, metadata, commonMetadata, variants, availableMediaCharacteristics, isPlayable
    case hasProtectedContent, minimumTimeOffsetFromLive, playbackConfigurationOptions, availableChapterLocales
    case shortestTrackEnd, creationDate
}

extension AssetProperty where Value == MediaTime {
    /// The duration of the asset.
    ///
    /// It is the sum of `EXTINF` if the playlist has ended, or comes from the header of a media file. It is
    /// `.indefinite` while a live stream continues, and for a media file of unknown length and duration.
    ///
    /// Costs the playlists up to the first variant's. A duration estimated from a part of a file has `hasBeenRounded`
    /// set. See ``AssetOptions/prefersPreciseDurationAndTiming``.
    public static var duration: AssetProperty<MediaTime> { .init(.duration) { try await $0.duration() } }
}

extension AssetProperty where Value == MediaTime? {
    /// The minimum distance of the playhead from the live edge, or `nil` if the asset is not live.
    ///
    /// The distance is `PART-HOLD-BACK` if the server offers low latency as a player needs it, and `HOLD-BACK`
    /// otherwise. Without `HOLD-BACK`, it is three target durations. A player without
    /// ``PlayerConfiguration/allowsLowLatency`` ignores `PART-HOLD-BACK`.
    public static var minimumTimeOffsetFromLive: AssetProperty<MediaTime?> {
        .init(.minimumTimeOffsetFromLive) { try await $0.minimumTimeOffsetFromLive() }
    }

    /// The end of the shortest video or audio track, or `nil` if there is no such track.
    ///
    /// Set it as `forwardPlaybackEndTime` so that a loop has all tracks until its end.
    public static var shortestTrackEnd: AssetProperty<MediaTime?> {
        .init(.shortestTrackEnd) { try await $0.shortestTrackEnd() }
    }
}

extension AssetProperty where Value == [AssetTrack] {
    /// The tracks of the first variant and of the renditions that belong to it.
    ///
    /// Costs their playlists and the first bytes of their media.
    public static var tracks: AssetProperty<[AssetTrack]> { .init(.tracks) { try await $0.tracks() } }
}

extension AssetProperty where Value == [MetadataItem] {
    /// All metadata: `EXT-X-SESSION-DATA`, the user data and creation time of an MP4 file, or the ID3 tags of packed
    /// audio.
    ///
    /// A value with its own URL is loaded when you request it. Costs only the first request.
    public static var metadata: AssetProperty<[MetadataItem]> { .init(.metadata) { try await $0.metadata() } }

    /// The metadata with a ``MetadataItem/commonKey``.
    public static var commonMetadata: AssetProperty<[MetadataItem]> {
        .init(.commonMetadata) { try await $0.metadata().filter { $0.commonKey != nil } }
    }
}

extension AssetProperty where Value == MetadataItem? {
    /// The metadata with the creation date of the asset, or `nil` if it is not declared.
    ///
    /// If a file has no other item with this meaning, it is the time in its movie header (`mvhd`) as ISO 8601 text, such
    /// as `2024-02-29T12:00:00.000Z`. Costs only the first request.
    public static var creationDate: AssetProperty<MetadataItem?> {
        .init(.creationDate) { try await $0.metadata().first { $0.commonKey == .creationDate } }
    }
}

extension AssetProperty where Value == [AssetVariant] {
    /// The variants in the order of the playlist, including those that cannot be played here.
    ///
    /// A media playlist or media file has one variant, without declared attributes. Costs only the first request.
    public static var variants: AssetProperty<[AssetVariant]> { .init(.variants) { try await $0.variants() } }
}

extension AssetProperty where Value == [MediaCharacteristic] {
    /// The characteristics for which the playlist or the file has options.
    ///
    /// Audio that only segments contain is not included. Costs only the first request.
    public static var availableMediaCharacteristicsWithMediaSelectionOptions: AssetProperty<[MediaCharacteristic]> {
        .init(.availableMediaCharacteristics) { try await $0.availableMediaCharacteristics() }
    }
}

extension AssetProperty where Value == Bool {
    /// A Boolean value that indicates whether the asset can be played on this machine.
    ///
    /// A variant must have codecs that can be decoded here, or a media file a track that can. All encrypted media in
    /// the playlist must use a known method, with an `identity` key or a key from one of ``LoadingHooks/keyProviders``.
    /// Keys are not requested unless the media must be inspected with one. Costs the playlists up to the first such
    /// variant's and, if no codecs are declared, the first bytes of the media.
    public static var isPlayable: AssetProperty<Bool> { .init(.isPlayable) { try await $0.isPlayable() } }

    /// A Boolean value that indicates whether some of the media needs keys from a key system.
    ///
    /// The value is `true` if all keys offered for some media have a `KEYFORMAT` other than `identity`, or if a media
    /// file's samples are encrypted. Media with a plain key (AES-128, or SAMPLE-AES with `identity`) is not protected.
    /// To find out whether such keys are available, use ``isPlayable``. Costs the playlists up to the first variant's.
    public static var hasProtectedContent: AssetProperty<Bool> {
        .init(.hasProtectedContent) { try await $0.hasProtectedContent() }
    }
}

extension AssetProperty where Value == [PlaybackConfigurationOption] {
    /// The video layouts that the variants require (`REQ-VIDEO-LAYOUT`), without duplicates.
    public static var playbackConfigurationOptions: AssetProperty<[PlaybackConfigurationOption]> {
        .init(.playbackConfigurationOptions) { try await $0.playbackConfigurationOptions() }
    }
}

extension AssetProperty where Value == [String] {
    /// The languages of the chapter titles as BCP 47 tags.
    ///
    /// Titles without a language have `und`. The array is empty if there are no chapters.
    public static var availableChapterLocales: AssetProperty<[String]> {
        .init(.availableChapterLocales) { try await $0.chapterLocales() }
    }
}
