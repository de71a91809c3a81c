import HLSPlaylist

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

extension VariantDescription {
    init(_ variant: Variant, index: Int) {
        self.init(
            index: index, bandwidth: variant.bandwidth, averageBandwidth: variant.averageBandwidth,
            width: variant.resolution?.width ?? 0, height: variant.resolution?.height ?? 0,
            frameRate: variant.frameRate, codecs: variant.codecs.joined(separator: ","))
    }
}
