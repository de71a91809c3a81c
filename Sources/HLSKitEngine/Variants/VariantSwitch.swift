/// A change of the variant that the media of an item is loaded from.
struct VariantSwitch: Sendable, Hashable {
    /// The index of the old variant, or `nil` for the first choice.
    var from: Int?
    /// The index of the new variant.
    var to: Int
    /// The item time at which the first segment of the new variant begins.
    var at: Duration
    /// The reason in one line.
    var because: String
}
