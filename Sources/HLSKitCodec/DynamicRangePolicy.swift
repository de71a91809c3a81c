/// The conversion of high dynamic range to an image.
public enum DynamicRangePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Maps the image to the standard range of ITU-R BT.709, which every app can show. Fails if libavfilter with zimg
    /// is not installed or does not support the colors.
    case forceSDR
    /// Keeps the values of the source, with its primaries and transfer function (``StillImage/colorPrimaries``,
    /// ``StillImage/transferFunction``) and eight bits for each channel. PNG files are tagged as far as libavcodec
    /// supports it. JPEG files have no such tag.
    case matchSource
}
