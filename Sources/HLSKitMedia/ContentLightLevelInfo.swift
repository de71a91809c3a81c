/// The light level of high dynamic range video (CTA-861.3).
///
/// It is declared by `clli` or `CoLL` in MP4, or by a message in the stream.
public struct ContentLightLevelInfo: Sendable, Hashable, Codable {
    /// The brightness of the brightest pixel in all frames, in candela per square metre, or 0 if unknown.
    public var maximumContentLightLevel: Int
    /// The largest average brightness of a frame, in candela per square metre, or 0 if unknown.
    public var maximumFrameAverageLightLevel: Int

    /// 0 means unknown.
    package init(maximumContentLightLevel: Int, maximumFrameAverageLightLevel: Int) {
        self.maximumContentLightLevel = maximumContentLightLevel
        self.maximumFrameAverageLightLevel = maximumFrameAverageLightLevel
    }
}

extension ContentLightLevelInfo {
    /// Reads `clli`, or `CoLL`, which begins with a version.
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
