public import HLSKitLoading
public import HLSKitMedia
public import HLSKitPlaylist
public import HLSKitSelection
public import HLSKitTime

/// A track of an asset: video, audio or text of one kind.
///
/// Obtained from `Asset.load(_:)` with `.tracks`; what it knows was read then.
public final class AssetTrack: Sendable {
    /// From 1, in the order of the presentation: the variant's own tracks first, those of renditions behind them.
    public let trackID: Int
    /// The kind of media in the track.
    public let mediaType: MediaKind
    /// The rendition that the track is from; nil for tracks of the variant itself and of media files.
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

    /// Loads a property. Costs nothing: tracks are read as a whole.
    public func load<Value: Sendable>(_ property: AssetTrackProperty<Value>) async throws(HLSError) -> Value {
        property.compute(self)
    }

    /// Loads several properties; the values come in the order of the arguments.
    public func load<each Value: Sendable>(
        _ properties: repeat AssetTrackProperty<each Value>
    ) async throws(HLSError) -> (repeat each Value) {
        (repeat (each properties).compute(self))
    }

    /// Always `loaded`: tracks are read as a whole.
    public func status<Value>(of property: AssetTrackProperty<Value>) -> PropertyStatus<Value> {
        .loaded(property.compute(self))
    }

    /// Whether the track has `characteristic`, by its media type and what the container declares.
    public func hasMediaCharacteristic(_ characteristic: MediaCharacteristic) -> Bool {
        facts.characteristics.contains(characteristic)
    }

    /// The metadata of one format.
    public func loadMetadata(for format: MetadataFormat) async throws(HLSError) -> [MetadataItem] {
        facts.metadata.filter { $0.format == format }
    }

    // MARK: Lookup

    /// The segment of the track's timeline that holds a time: how the times of its media lie on it.
    ///
    /// - Throws: ``HLSError/Code/notAvailable`` if no media has been read at that time.
    public func loadSegment(forTrackTime time: MediaTime) async throws(HLSError) -> AssetTrackSegment {
        guard let segment = facts.segment(at: time) else {
            throw HLSError.notAvailable("no media of track \(trackID) was read at \(time)", url: inspector.url)
        }
        return segment
    }

    /// The presentation time of the sample that is shown at a time: of the last one that begins at it or before.
    ///
    /// In an MP4 file all samples are known from its header, else those that were read to find the tracks.
    /// - Throws: ``HLSError/Code/notAvailable`` if no media has been read at that time.
    public func loadSamplePresentationTime(forTrackTime time: MediaTime) async throws(HLSError) -> MediaTime {
        guard let presentation = facts.samplePresentationTime(at: time) else {
            throw HLSError.notAvailable("no media of track \(trackID) was read at \(time)", url: inspector.url)
        }
        return presentation
    }

    /// Tracks that stand in a relation to this one.
    ///
    /// Audio fallbacks are the renditions of the same name and language with fewer channels, the most channels first; their
    /// numbers count from 1001. Costs their playlists and the first bytes of their media.
    public func loadAssociatedTracks(ofType association: Association) async throws(HLSError) -> [AssetTrack] {
        guard association == .audioFallback else { return [] }
        return try await HLSError.typed { try await inspector.audioFallbacks(of: self) }
    }

    /// How one track is related to another.
    public struct Association: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// The same audio with fewer channels.
        public static let audioFallback = Association(rawValue: "fall")
    }
}

/// A stretch of a track's timeline.
public struct AssetTrackSegment: Sendable, Hashable {
    /// From the times of the media (`MediaTimeMapping.source`) to those of the track. The source of an empty segment
    /// has invalid times.
    public let timeMapping: MediaTimeMapping
    /// Nothing is shown: an empty edit stands before the media (`elst` of MP4).
    public let isEmpty: Bool
}

/// A property of an ``AssetTrack``.
public struct AssetTrackProperty<Value: Sendable>: Sendable {
    let compute: @Sendable (AssetTrack) -> Value
}

extension AssetTrackProperty where Value == [MediaTrack] {
    /// The track as its container describes it: coding format, decoder configuration, size, sample rate.
    public static var formatDescriptions: AssetTrackProperty<[MediaTrack]> { .init { [$0.facts.description] } }
}

extension AssetTrackProperty where Value == MediaTimeRange {
    /// The range of the track's media on the asset's timeline. Its duration is indefinite for live streams, and for
    /// files whose header does not say.
    public static var timeRange: AssetTrackProperty<MediaTimeRange> { .init { $0.facts.timeRange } }
}

extension AssetTrackProperty where Value == PixelSize {
    /// The size of what is shown of frames (their clean aperture), in square pixels and before the frame is turned; zero if
    /// there are none or the size is not known.
    ///
    /// An item's `presentationSize` is this size after the turn.
    public static var naturalSize: AssetTrackProperty<PixelSize> { .init { $0.facts.naturalSize } }
}

extension AssetTrackProperty where Value == TrackTransform {
    /// How frames are to be turned or mirrored before they are shown: the matrix of an MP4 file's track header;
    /// `TrackTransform.identity` where there is none.
    public static var preferredTransform: AssetTrackProperty<TrackTransform> {
        .init { $0.facts.description.preferredTransform }
    }
}

extension AssetTrackProperty where Value == Double? {
    /// Frames per second; nil if unknown or not video.
    public static var nominalFrameRate: AssetTrackProperty<Double?> { .init { $0.facts.nominalFrameRate } }
    /// Bits per second of the samples that are known; nil if none is.
    public static var estimatedDataRate: AssetTrackProperty<Double?> { .init { $0.facts.estimatedDataRate } }
}

extension AssetTrackProperty where Value == Int32 {
    /// Units per second of the track's timestamps.
    public static var naturalTimeScale: AssetTrackProperty<Int32> { .init { $0.facts.description.timescale } }
}

extension AssetTrackProperty where Value == String? {
    /// The language as the container has it (ISO 639-2), else the first subtag of ``extendedLanguageTag``; nil if
    /// undeclared.
    public static var languageCode: AssetTrackProperty<String?> { .init { $0.facts.languageCode } }
    /// BCP 47 tag, of the rendition where it has one; nil if undeclared.
    public static var extendedLanguageTag: AssetTrackProperty<String?> { .init { $0.facts.extendedLanguageTag } }
}

extension AssetTrackProperty where Value == Bool {
    /// The track's format can be decoded here, or is text that is understood.
    public static var isPlayable: AssetTrackProperty<Bool> { .init { $0.facts.isPlayable } }
    /// The samples are encrypted.
    public static var hasProtectedContent: AssetTrackProperty<Bool> { .init { $0.facts.description.encryption != nil } }
}

extension AssetTrackProperty where Value == Int? {
    /// Bytes of all samples; nil if not all of them are known.
    public static var totalSampleDataLength: AssetTrackProperty<Int?> { .init { $0.facts.totalSampleDataLength } }
}

extension AssetTrackProperty where Value == Set<MediaCharacteristic> {
    /// Everything for which ``AssetTrack/hasMediaCharacteristic(_:)`` is true.
    public static var mediaCharacteristics: AssetTrackProperty<Set<MediaCharacteristic>> {
        .init { $0.facts.characteristics }
    }
}

extension AssetTrackProperty where Value == [MetadataItem] {
    /// ID3 tags in the track's first bytes.
    public static var metadata: AssetTrackProperty<[MetadataItem]> { .init { $0.facts.metadata } }
}
