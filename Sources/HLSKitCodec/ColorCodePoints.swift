/// The red, green and blue that a frame's values refer to (`ColourPrimaries` of ITU-T H.273).
public struct ColorPrimaries: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ITU-R BT.709, and sRGB.
    public static let bt709 = ColorPrimaries(rawValue: 1)
    package static let unspecified = ColorPrimaries(rawValue: 2)
    /// PAL and SECAM.
    package static let bt470bg = ColorPrimaries(rawValue: 5)
    /// NTSC, SMPTE 170M.
    package static let smpte170m = ColorPrimaries(rawValue: 6)
    /// ITU-R BT.2020 and BT.2100.
    public static let bt2020 = ColorPrimaries(rawValue: 9)
    /// DCI-P3 with its theatre white.
    package static let smpte431 = ColorPrimaries(rawValue: 11)
    /// P3 with the white of D65: "Display P3".
    public static let smpte432 = ColorPrimaries(rawValue: 12)

    private static let names = [
        1: "bt709", 2: "unspecified", 4: "bt470m", 5: "bt470bg", 6: "smpte170m", 7: "smpte240m", 8: "film",
        9: "bt2020", 10: "smpte428", 11: "smpte431", 12: "smpte432", 22: "ebu3213",
    ]

    /// The name that FFmpeg prints, or the number for code points without one.
    public var description: String { Self.names[rawValue] ?? String(rawValue) }
    /// A Boolean value that indicates whether the primaries exceed the gamut of BT.709.
    public var isWideGamut: Bool { [9, 11, 12].contains(rawValue) }
}

/// The transfer function between numbers and light (`TransferCharacteristics` of ITU-T H.273).
public struct TransferFunction: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ITU-R BT.709.
    public static let bt709 = TransferFunction(rawValue: 1)
    package static let unspecified = TransferFunction(rawValue: 2)
    package static let linear = TransferFunction(rawValue: 8)
    /// sRGB, IEC 61966-2-1.
    public static let sRGB = TransferFunction(rawValue: 13)
    /// Perceptual quantisation, SMPTE ST 2084.
    public static let pq = TransferFunction(rawValue: 16)
    /// Hybrid log-gamma, ARIB STD-B67.
    public static let hlg = TransferFunction(rawValue: 18)

    private static let names = [
        1: "bt709", 2: "unspecified", 4: "bt470m", 5: "bt470bg", 6: "smpte170m", 7: "smpte240m", 8: "linear",
        9: "log100", 10: "log316", 11: "iec61966-2-4", 12: "bt1361e", 13: "iec61966-2-1", 14: "bt2020-10",
        15: "bt2020-12", 16: "smpte2084", 17: "smpte428", 18: "arib-std-b67",
    ]

    /// The name that FFmpeg prints, or the number for code points without one.
    public var description: String { Self.names[rawValue] ?? String(rawValue) }
    /// A Boolean value that indicates whether the function is perceptual quantisation or hybrid log-gamma.
    public var isHighDynamicRange: Bool { self == .pq || self == .hlg }
}

/// The conversion of red, green and blue to luma and chroma (`MatrixCoefficients` of ITU-T H.273).
public struct YCbCrMatrix: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Red, green and blue without conversion to luma and chroma.
    package static let rgb = YCbCrMatrix(rawValue: 0)
    /// ITU-R BT.709.
    public static let bt709 = YCbCrMatrix(rawValue: 1)
    package static let unspecified = YCbCrMatrix(rawValue: 2)
    package static let bt470bg = YCbCrMatrix(rawValue: 5)
    package static let smpte170m = YCbCrMatrix(rawValue: 6)
    /// ITU-R BT.2020, non-constant luminance.
    public static let bt2020NonConstantLuminance = YCbCrMatrix(rawValue: 9)

    private static let names = [
        0: "rgb", 1: "bt709", 2: "unspecified", 4: "fcc", 5: "bt470bg", 6: "smpte170m", 7: "smpte240m", 8: "ycgco",
        9: "bt2020nc", 10: "bt2020c", 11: "smpte2085", 12: "chroma-derived-nc", 13: "chroma-derived-c", 14: "ictcp",
    ]

    /// The name that FFmpeg prints, or the number for code points without one.
    public var description: String { Self.names[rawValue] ?? String(rawValue) }
}

extension VideoFrame.ColorTags {
    /// The code point of the primaries, as a typed value.
    public var colorPrimaries: ColorPrimaries { ColorPrimaries(rawValue: primaries) }
    /// The code point of the transfer function, as a typed value.
    public var transferFunction: TransferFunction { TransferFunction(rawValue: transfer) }
    /// The code point of the matrix, as a typed value.
    public var yCbCrMatrix: YCbCrMatrix { YCbCrMatrix(rawValue: matrix) }

    /// A Boolean value that indicates whether the frame does not have high dynamic range.
    public var isStandardRange: Bool { !transferFunction.isHighDynamicRange }
}
