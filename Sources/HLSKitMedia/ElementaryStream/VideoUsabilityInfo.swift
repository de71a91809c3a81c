/// The video usability information (VUI) of H.264 and HEVC, which controls presentation.
///
/// Colour fields are code points of ITU-T H.273, or 2 (unspecified) if undeclared.
///
/// Source: ISO/IEC 14496-10 Annex E, ISO/IEC 23008-2 Annex E.
package struct VideoUsabilityInfo: Sendable, Hashable {
    /// The width and height of one sample, or 1:1 if undeclared.
    package var sampleAspectRatio: SampleAspectRatio
    package var colourPrimaries: Int
    package var transferCharacteristics: Int
    package var matrixCoefficients: Int
    package var isFullRange: Bool
    package var frameDuration: FrameDuration?

    package struct SampleAspectRatio: Sendable, Hashable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// `value / timescale` seconds, both positive.
    package struct FrameDuration: Sendable, Hashable {
        package var value: Int64
        package var timescale: Int64

        package init(value: Int64, timescale: Int64) {
            self.value = value
            self.timescale = timescale
        }
    }

    package init(
        sampleAspectRatio: SampleAspectRatio = .init(width: 1, height: 1), colourPrimaries: Int = 2,
        transferCharacteristics: Int = 2, matrixCoefficients: Int = 2, isFullRange: Bool = false,
        frameDuration: FrameDuration? = nil
    ) {
        self.sampleAspectRatio = sampleAspectRatio
        self.colourPrimaries = colourPrimaries
        self.transferCharacteristics = transferCharacteristics
        self.matrixCoefficients = matrixCoefficients
        self.isFullRange = isFullRange
        self.frameDuration = frameDuration
    }

    package var colorInformation: ColorInformation? {
        let isDeclared = colourPrimaries != 2 || transferCharacteristics != 2 || matrixCoefficients != 2
        guard isDeclared || isFullRange else { return nil }
        return ColorInformation(
            colorPrimaries: colourPrimaries, transferCharacteristics: transferCharacteristics,
            matrixCoefficients: matrixCoefficients, isFullRange: isFullRange)
    }

    init(parsingCommonFieldsFrom reader: inout BitReader) {
        self.init()
        if reader.flag() {
            let index = reader.bits(8)
            if index == 255 {
                let (width, height) = (reader.bits(16), reader.bits(16))
                if width > 0 && height > 0 { sampleAspectRatio = .init(width: width, height: height) }
            } else if Self.aspectRatios.indices.contains(index) {
                sampleAspectRatio = Self.aspectRatios[index]
            }
        }
        if reader.flag() { reader.skip(1) }  // overscan
        if reader.flag() {
            reader.skip(3)  // video_format
            isFullRange = reader.flag()
            if reader.flag() {
                colourPrimaries = reader.bits(8)
                transferCharacteristics = reader.bits(8)
                matrixCoefficients = reader.bits(8)
            }
        }
        if reader.flag() {
            _ = reader.unsignedExpGolomb()
            _ = reader.unsignedExpGolomb()
        }
    }

    static func frameDuration(from reader: inout BitReader, ticks: Int64) -> FrameDuration? {
        let (units, timescale) = (Int64(reader.bits(32)), Int64(reader.bits(32)))
        guard units > 0 && timescale > 0 && !reader.isExhausted else { return nil }
        return FrameDuration(value: units * ticks, timescale: timescale)
    }

    // H.273 table 6 (aspect_ratio_idc 0 to 16); 0 is "unspecified".
    private static let aspectRatios: [SampleAspectRatio] = [
        (1, 1), (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
        (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ].map { SampleAspectRatio(width: $0.0, height: $0.1) }
}
