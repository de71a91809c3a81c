/// A change of the variant that the media of an item is loaded from.
struct VariantSwitch: Sendable, Hashable {
    /// Index of the variant in use until then; nil for the first one.
    var from: Int?
    /// Index of the variant that takes its place.
    var to: Int
    /// The item time at which the first segment of the new variant begins.
    var at: Duration
    /// Why, in one line.
    var because: String
}
