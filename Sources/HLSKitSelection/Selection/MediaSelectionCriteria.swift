/// Criteria for one kind of media, for when the user has chosen none of its options.
///
/// See docs/behaviour/media-selection.md; I05.
public struct MediaSelectionCriteria: Sendable, Hashable {
    /// BCP 47 tags, the most wanted first. `en` also takes `en-US`, and `en-GB` takes `en`. Empty: any language.
    public var preferredLanguages: [String]
    /// The more of them an option has, the better.
    public var preferredMediaCharacteristics: [MediaCharacteristic]
    /// An option that has all of them goes before every other one.
    public var principalMediaCharacteristics: [MediaCharacteristic]

    /// Makes criteria; an empty list prefers nothing.
    public init(
        preferredLanguages: [String] = [], preferredMediaCharacteristics: [MediaCharacteristic] = [],
        principalMediaCharacteristics: [MediaCharacteristic] = []
    ) {
        self.preferredLanguages = preferredLanguages
        self.preferredMediaCharacteristics = preferredMediaCharacteristics
        self.principalMediaCharacteristics = principalMediaCharacteristics
    }
}
