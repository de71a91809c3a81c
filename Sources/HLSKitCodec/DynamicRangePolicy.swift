/// How high dynamic range is turned into an image.
public enum DynamicRangePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is mapped to the standard range of ITU-R BT.709, which every program can show. Fails where libavfilter with zimg is
    /// not installed, or does not know the colours.
    case forceSDR
    /// The numbers of the source, in its primaries and its transfer function (``StillImage/colorPrimaries``,
    /// ``StillImage/transferFunction``), with eight bits for each channel. PNG files are tagged as far as libavcodec can; JPEG
    /// files have no tag for it.
    case matchSource
}
