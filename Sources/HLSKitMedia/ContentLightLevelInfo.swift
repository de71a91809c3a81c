/// How bright video of high dynamic range gets (CTA-861.3), as `clli` or `CoLL` in MP4 or a message in the stream declares
/// it.
public struct ContentLightLevelInfo: Sendable, Hashable, Codable {
    /// The brightest pixel of all frames, in candela per square metre; 0 if unknown.
    public var maximumContentLightLevel: Int
    /// The brightest frame on average, in candela per square metre; 0 if unknown.
    public var maximumFrameAverageLightLevel: Int

    /// Makes light levels; 0 is unknown.
    package init(maximumContentLightLevel: Int, maximumFrameAverageLightLevel: Int) {
        self.maximumContentLightLevel = maximumContentLightLevel
        self.maximumFrameAverageLightLevel = maximumFrameAverageLightLevel
    }
}

extension ContentLightLevelInfo {
    /// Reads `clli`, and `CoLL`, which has a version in front.
    ///
    /// Source: ISO/IEC 14496-12 §12.1.6; "VP Codec ISO Media File Format Binding", version 1.0.
    init(parsing payload: BoxReader, hasVersion: Bool = false) throws(MediaError) {
        var reader = payload
        if hasVersion { _ = try reader.readVersionAndFlags() }
        self.init(
            maximumContentLightLevel: Int(try reader.readUInt16()),
            maximumFrameAverageLightLevel: Int(try reader.readUInt16()))
    }
}
