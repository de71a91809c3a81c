/// The colour that an MP4 sample entry declares (`colr`), in the code points of ITU-T H.273.
public struct ColorInformation: Sendable, Hashable {
    /// H.273 ColourPrimaries.
    public var colorPrimaries: Int
    /// H.273 TransferCharacteristics.
    public var transferCharacteristics: Int
    /// H.273 MatrixCoefficients.
    public var matrixCoefficients: Int
    /// A Boolean value that indicates whether the video uses the full range.
    ///
    /// It is `nil` if the box does not declare it (QuickTime's `nclc`).
    public var isFullRange: Bool?

    package init(
        colorPrimaries: Int, transferCharacteristics: Int, matrixCoefficients: Int, isFullRange: Bool? = nil
    ) {
        self.colorPrimaries = colorPrimaries
        self.transferCharacteristics = transferCharacteristics
        self.matrixCoefficients = matrixCoefficients
        self.isFullRange = isFullRange
    }
}

/// The shape of a pixel (`pasp`): `horizontalSpacing` : `verticalSpacing`, both above 0.
public struct PixelAspectRatio: Sendable, Hashable {
    /// The width of a pixel, relative to ``verticalSpacing``.
    public var horizontalSpacing: Int
    /// The height of a pixel, relative to ``horizontalSpacing``.
    public var verticalSpacing: Int

    package init(horizontalSpacing: Int, verticalSpacing: Int) {
        self.horizontalSpacing = horizontalSpacing
        self.verticalSpacing = verticalSpacing
    }
}

package struct PictureSampleStructure: Sendable, Hashable {
    package enum Chroma: Int, Sendable, Hashable {
        case yuv420 = 420
        case yuv422 = 422
        case yuv444 = 444
    }

    /// 8, 10 or 12.
    package var bitDepth: Int
    package var chroma: Chroma

    package init(bitDepth: Int, chroma: Chroma = .yuv420) {
        self.bitDepth = bitDepth
        self.chroma = chroma
    }
}

/// The part of the frame to show (`clap`), in whole pixels.
public struct CleanAperture: Sendable, Hashable {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int
    /// The offset from the centre of the picture to the centre of the aperture.
    ///
    /// Positive values are right and down.
    public var horizontalOffset: Int
    /// The vertical offset from the centre of the picture to the centre of the aperture.
    ///
    /// Positive values are down.
    public var verticalOffset: Int

    package init(width: Int, height: Int, horizontalOffset: Int = 0, verticalOffset: Int = 0) {
        self.width = width
        self.height = height
        self.horizontalOffset = horizontalOffset
        self.verticalOffset = verticalOffset
    }
}

extension ColorInformation {
    /// Returns nil for a kind of `colr` that contains an ICC profile.
    init?(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        let kind = try reader.readCode()
        guard kind == "nclx" || kind == "nclc" else { return nil }
        self.init(
            colorPrimaries: Int(try reader.readUInt16()), transferCharacteristics: Int(try reader.readUInt16()),
            matrixCoefficients: Int(try reader.readUInt16()))
        if kind == "nclx" { isFullRange = try reader.readUInt8() & 0x80 != 0 }
    }
}

extension ColorInformation {
    /// Reads the colour in a `vpcC` box. Returns nil if it is unspecified.
    ///
    /// Source: "VP Codec ISO Media File Format Binding", version 1.0.
    init?(parsingVP9 payload: BoxReader) throws(MediaError) {
        var reader = payload
        guard try reader.readVersionAndFlags().version == 1 else { return nil }
        try reader.skip(2)  // profile, level
        let depth = try reader.readUInt8()
        self.init(
            colorPrimaries: Int(try reader.readUInt8()), transferCharacteristics: Int(try reader.readUInt8()),
            matrixCoefficients: Int(try reader.readUInt8()), isFullRange: depth & 1 == 1)
        // 0 is reserved. A box filled with zeros declares nothing.
        if colorPrimaries == 0 { return nil }
        if colorPrimaries == 2 && transferCharacteristics == 2 && matrixCoefficients == 2 { return nil }
    }
}

extension PictureSampleStructure {
    init?(parsingVP9 payload: BoxReader) throws(MediaError) {
        var reader = payload
        guard try reader.readVersionAndFlags().version == 1 else { return nil }
        try reader.skip(2)  // profile, level
        let fields = try reader.readUInt8()
        let depth = Int(fields >> 4)
        guard [8, 10, 12].contains(depth) else { return nil }
        switch fields >> 1 & 7 {
        case 0, 1: self.init(bitDepth: depth)
        case 2: self.init(bitDepth: depth, chroma: .yuv422)
        case 3: self.init(bitDepth: depth, chroma: .yuv444)
        default: return nil
        }
    }
}

extension PixelAspectRatio {
    /// Returns nil if one of the two is 0.
    init?(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        let horizontal = try reader.readUInt32()
        let vertical = try reader.readUInt32()
        guard horizontal > 0, vertical > 0 else { return nil }
        self.init(horizontalSpacing: Int(horizontal), verticalSpacing: Int(vertical))
    }
}

extension CleanAperture {
    /// Returns nil if a fraction has no value.
    init?(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        var values: [Int] = []
        for _ in 0..<4 {
            let numerator = Int(Int32(bitPattern: try reader.readUInt32()))
            let denominator = Int(Int32(bitPattern: try reader.readUInt32()))
            guard denominator > 0 else { return nil }
            values.append(Int((Double(numerator) / Double(denominator)).rounded()))
        }
        guard values[0] > 0, values[1] > 0 else { return nil }
        self.init(
            width: values[0], height: values[1], horizontalOffset: values[2], verticalOffset: values[3])
    }
}
