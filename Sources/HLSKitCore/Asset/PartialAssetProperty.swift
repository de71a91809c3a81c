/// A property of an asset, whatever the type of its value: for lists of properties.
///
/// Source: `AVPartialAsyncProperty`. See docs/behaviour/assets.md.
public struct PartialAssetProperty: Sendable, Hashable {
    let key: AssetPropertyKey
    let load: @Sendable (Asset) async throws -> Void

    public init<Value: Sendable>(_ property: AssetProperty<Value>) {
        key = property.key
        load = { _ = try await $0.load(property) }
    }

    public static func == (one: PartialAssetProperty, other: PartialAssetProperty) -> Bool { one.key == other.key }
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    public static let duration = PartialAssetProperty(AssetProperty.duration)
    public static let tracks = PartialAssetProperty(AssetProperty.tracks)
    public static let metadata = PartialAssetProperty(AssetProperty.metadata)
    public static let commonMetadata = PartialAssetProperty(AssetProperty.commonMetadata)
    public static let variants = PartialAssetProperty(AssetProperty.variants)
    public static let availableMediaCharacteristicsWithMediaSelectionOptions = PartialAssetProperty(
        AssetProperty.availableMediaCharacteristicsWithMediaSelectionOptions)
    public static let isPlayable = PartialAssetProperty(AssetProperty.isPlayable)
    public static let hasProtectedContent = PartialAssetProperty(AssetProperty.hasProtectedContent)
    public static let minimumTimeOffsetFromLive = PartialAssetProperty(AssetProperty.minimumTimeOffsetFromLive)
    public static let playbackConfigurationOptions = PartialAssetProperty(AssetProperty.playbackConfigurationOptions)
    public static let availableChapterLocales = PartialAssetProperty(AssetProperty.availableChapterLocales)
    public static let shortestTrackEnd = PartialAssetProperty(AssetProperty.shortestTrackEnd)
}
