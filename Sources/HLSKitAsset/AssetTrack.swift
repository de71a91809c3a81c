public import HLSKitLoading
public import HLSKitMedia
public import HLSKitPlaylist
public import HLSKitSelection
public import HLSKitTime

/// A track of an asset: video, audio or text.
///
/// You get it from `Asset.load(_:)` with `.tracks`, which reads everything that the track knows.
public final class AssetTrack: Sendable {
    /// The number of the track, from 1.
    ///
    /// The variant's own tracks come first, then the renditions' tracks.
    public let trackID: Int
    /// The kind of media in the track.
    public let mediaType: MediaKind
    /// The rendition that contains the track, or `nil` for tracks of the variant itself and of media files.
    public let rendition: Rendition?
    let facts: TrackFacts
    private let inspector: AssetInspector

    init(trackID: Int, facts: TrackFacts, rendition: Rendition?, inspector: AssetInspector) {
        self.trackID = trackID
        mediaType = facts.description.mediaType
        self.rendition = rendition
        self.facts = facts
        self.inspector = inspector
    }

    // MARK: Properties

    /// Loads a property.
    ///
    /// The method costs no request, because the track has been read completely.
    public func load<Value: Sendable>(_ property: AssetTrackProperty<Value>) async throws(HLSError) -> Value {
        property.compute(self)
    }

    /// Loads several properties and returns the values in the order of the arguments.
    public func load<each Value: Sendable>(
        _ properties: repeat AssetTrackProperty<each Value>
    ) async throws(HLSError) -> (repeat each Value) {
        (repeat (each properties).compute(self))
    }

    /// Returns `loaded` for every property, because the track has been read completely.
    public func status<Value>(of property: AssetTrackProperty<Value>) -> PropertyStatus<Value> {
        .loaded(property.compute(self))
    }

    /// Returns whether the track has a characteristic, from its media type and the container.
    public func hasMediaCharacteristic(_ characteristic: MediaCharacteristic) -> Bool {
        facts.characteristics.contains(characteristic)
    }

    /// Loads the metadata in one format.
    ///
    /// It comes from the user data of an MP4 file's track (`trak/udta`), or from the ID3 tags of packed audio.
    public func loadMetadata(for format: MetadataFormat) async throws(HLSError) -> [MetadataItem] {
        facts.metadata.filter { $0.format == format }
    }

    // MARK: Lookup

    /// Loads the segment of the track's timeline that contains a time.
    ///
    /// The segment maps media times to track times.
    ///
    /// - Throws: ``HLSError/Code/notAvailable`` if no media has been read at that time.
    public func loadSegment(forTrackTime time: MediaTime) async throws(HLSError) -> AssetTrackSegment {
        guard let segment = facts.segment(at: time) else {
            throw HLSError.notAvailable("no media of track \(trackID) was read at \(time)", url: inspector.url)
        }
        return segment
    }

    /// Loads the presentation time of the sample that is shown at a time.
    ///
    /// This is the last sample that begins at or before the time. In an MP4 file, the header lists all samples.
    /// Otherwise, only the samples that were read to find the tracks are known.
    /// - Throws: ``HLSError/Code/notAvailable`` if no media has been read at that time.
    public func loadSamplePresentationTime(forTrackTime time: MediaTime) async throws(HLSError) -> MediaTime {
        guard let presentation = facts.samplePresentationTime(at: time) else {
            throw HLSError.notAvailable("no media of track \(trackID) was read at \(time)", url: inspector.url)
        }
        return presentation
    }

    /// Loads the tracks with a given relation to this one.
    ///
    /// Audio fallbacks are the renditions with the same name and language but fewer channels. Those with most channels
    /// come first, and their numbers begin at 1001. Costs their playlists and the first bytes of their media.
    public func loadAssociatedTracks(ofType association: Association) async throws(HLSError) -> [AssetTrack] {
        guard association == .audioFallback else { return [] }
        return try await HLSError.typed { try await inspector.audioFallbacks(of: self) }
    }

    /// The relation of one track to another.
    public struct Association: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// The same audio with fewer channels.
        public static let audioFallback = Association(rawValue: "fall")
    }
}

/// A section of a track's timeline.
public struct AssetTrackSegment: Sendable, Hashable {
    /// The mapping from media times (`MediaTimeMapping.source`) to track times.
    ///
    /// The source of an empty segment has invalid times.
    public let timeMapping: MediaTimeMapping
    /// A Boolean value that indicates whether the segment is an empty edit (MP4 `elst`), without media.
    public let isEmpty: Bool
}

/// A property of an ``AssetTrack``.
public struct AssetTrackProperty<Value: Sendable>: Sendable {
    let compute: @Sendable (AssetTrack) -> Value
}

extension AssetTrackProperty where Value == [MediaTrack] {
    /// The container's descriptions of the track: coding format, decoder configuration, size, sample rate.
    public static var formatDescriptions: AssetTrackProperty<[MediaTrack]> { .init { [$0.facts.description] } }
}

extension AssetTrackProperty where Value == MediaTimeRange {
    /// The range of the track's media on the asset's timeline.
    ///
    /// Its duration is indefinite for live streams and for files without a duration in the header.
    public static var timeRange: AssetTrackProperty<MediaTimeRange> { .init { $0.facts.timeRange } }
}

extension AssetTrackProperty where Value == PixelSize {
    /// The size of the visible area of frames (clean aperture), in square pixels and before rotation.
    ///
    /// The size is zero if there are no frames or the size is unknown. An item's `presentationSize` is this size after
    /// rotation.
    public static var naturalSize: AssetTrackProperty<PixelSize> { .init { $0.facts.naturalSize } }
}

extension AssetTrackProperty where Value == TrackTransform {
    /// The rotation or mirroring to apply to frames, from the matrix in an MP4 file's track header.
    ///
    /// It is `TrackTransform.identity` if there is no matrix.
    public static var preferredTransform: AssetTrackProperty<TrackTransform> {
        .init { $0.facts.description.preferredTransform }
    }
}

extension AssetTrackProperty where Value == Double? {
    /// The frames per second, or `nil` if unknown or not video.
    public static var nominalFrameRate: AssetTrackProperty<Double?> { .init { $0.facts.nominalFrameRate } }
    /// The bits per second of the known samples, or `nil` if no samples are known.
    public static var estimatedDataRate: AssetTrackProperty<Double?> { .init { $0.facts.estimatedDataRate } }
}

extension AssetTrackProperty where Value == Int32 {
    /// The units per second of the track's timestamps.
    public static var naturalTimeScale: AssetTrackProperty<Int32> { .init { $0.facts.description.timescale } }
}

extension AssetTrackProperty where Value == String? {
    /// The language in the container (ISO 639-2), or `nil` if no language is declared.
    ///
    /// If only ``extendedLanguageTag`` is declared, the value is its first subtag.
    public static var languageCode: AssetTrackProperty<String?> { .init { $0.facts.languageCode } }
    /// The BCP 47 language tag of the rendition or, without one, of the track; or `nil` if undeclared.
    public static var extendedLanguageTag: AssetTrackProperty<String?> { .init { $0.facts.extendedLanguageTag } }
}

extension AssetTrackProperty where Value == Bool {
    /// A Boolean value that indicates whether the format can be decoded here or is a supported text format.
    public static var isPlayable: AssetTrackProperty<Bool> { .init { $0.facts.isPlayable } }
    /// A Boolean value that indicates whether the samples are encrypted.
    public static var hasProtectedContent: AssetTrackProperty<Bool> { .init { $0.facts.description.encryption != nil } }
}

extension AssetTrackProperty where Value == Int? {
    /// The number of bytes of all samples, or `nil` if not all samples are known.
    public static var totalSampleDataLength: AssetTrackProperty<Int?> { .init { $0.facts.totalSampleDataLength } }
}

extension AssetTrackProperty where Value == Set<MediaCharacteristic> {
    /// The characteristics for which ``AssetTrack/hasMediaCharacteristic(_:)`` returns `true`.
    public static var mediaCharacteristics: AssetTrackProperty<Set<MediaCharacteristic>> {
        .init { $0.facts.characteristics }
    }
}

extension AssetTrackProperty where Value == [MetadataItem] {
    /// The ID3 tags in the track's first bytes.
    public static var metadata: AssetTrackProperty<[MetadataItem]> { .init { $0.facts.metadata } }
}
