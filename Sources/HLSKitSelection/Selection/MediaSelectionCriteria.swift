/// Criteria that select an option of a group if the user has not chosen one.
public struct MediaSelectionCriteria: Sendable, Hashable {
    /// The preferred languages in order, as BCP 47 tags, or an empty array for any language.
    ///
    /// `en` also matches `en-US`, and `en-GB` matches `en`.
    public var preferredLanguages: [String]
    /// The preferred characteristics.
    ///
    /// An option that has more of them is better.
    public var preferredMediaCharacteristics: [MediaCharacteristic]
    /// Characteristics that take precedence: an option with all of them is preferred to all others.
    public var principalMediaCharacteristics: [MediaCharacteristic]

    /// Creates criteria.
    ///
    /// An empty array expresses no preference.
    public init(
        preferredLanguages: [String] = [], preferredMediaCharacteristics: [MediaCharacteristic] = [],
        principalMediaCharacteristics: [MediaCharacteristic] = []
    ) {
        self.preferredLanguages = preferredLanguages
        self.preferredMediaCharacteristics = preferredMediaCharacteristics
        self.principalMediaCharacteristics = principalMediaCharacteristics
    }
}
