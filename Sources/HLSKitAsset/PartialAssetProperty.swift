package import HLSKitLoading

/// An asset property without its value type, for lists of properties.
///
/// Corresponds to `AVPartialAsyncProperty`. See <doc:InspectingAssets>.
public struct PartialAssetProperty: Sendable, Hashable {
    let key: AssetPropertyKey
    private let loadValue: @Sendable (Asset) async throws(HLSError) -> Void

    /// Creates a property without the type of its value.
    public init<Value: Sendable>(_ property: AssetProperty<Value>) {
        key = property.key
        loadValue = { asset async throws(HLSError) in _ = try await asset.load(property) }
    }

    package func load(_ asset: Asset) async throws(HLSError) { try await loadValue(asset) }

    public static func == (one: PartialAssetProperty, other: PartialAssetProperty) -> Bool { one.key == other.key }
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// ``AssetProperty/duration``.
    public static let duration = PartialAssetProperty(AssetProperty.duration)
    /// ``AssetProperty/tracks``.
    public static let tracks = PartialAssetProperty(AssetProperty.tracks)
    /// ``AssetProperty/metadata``.
    public static let metadata = PartialAssetProperty(AssetProperty.metadata)
    /// ``AssetProperty/commonMetadata``.
    public static let commonMetadata = PartialAssetProperty(AssetProperty.commonMetadata)
    /// ``AssetProperty/creationDate``.
    public static let creationDate = PartialAssetProperty(AssetProperty.creationDate)
    /// ``AssetProperty/variants``.
    public static let variants = PartialAssetProperty(AssetProperty.variants)
    /// ``AssetProperty/availableMediaCharacteristicsWithMediaSelectionOptions``.
    public static let availableMediaCharacteristicsWithMediaSelectionOptions = PartialAssetProperty(
        AssetProperty.availableMediaCharacteristicsWithMediaSelectionOptions)
    /// ``AssetProperty/isPlayable``.
    public static let isPlayable = PartialAssetProperty(AssetProperty.isPlayable)
    /// ``AssetProperty/hasProtectedContent``.
    public static let hasProtectedContent = PartialAssetProperty(AssetProperty.hasProtectedContent)
    /// ``AssetProperty/minimumTimeOffsetFromLive``.
    public static let minimumTimeOffsetFromLive = PartialAssetProperty(AssetProperty.minimumTimeOffsetFromLive)
    /// ``AssetProperty/playbackConfigurationOptions``.
    public static let playbackConfigurationOptions = PartialAssetProperty(AssetProperty.playbackConfigurationOptions)
    /// ``AssetProperty/availableChapterLocales``.
    public static let availableChapterLocales = PartialAssetProperty(AssetProperty.availableChapterLocales)
    /// ``AssetProperty/shortestTrackEnd``.
    public static let shortestTrackEnd = PartialAssetProperty(AssetProperty.shortestTrackEnd)
}
