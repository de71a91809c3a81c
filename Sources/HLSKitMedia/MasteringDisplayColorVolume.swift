/// The display on which high dynamic range video was graded (SMPTE ST 2086).
///
/// It is declared by `mdcv` or `SmDm` in MP4, or by a message in the stream. It shows which part of its colours and
/// luminances the video can use.
public struct MasteringDisplayColorVolume: Sendable, Hashable, Codable {
    /// A colour without its brightness: x and y of CIE 1931, 0 to 1.
    public struct Chromaticity: Sendable, Hashable, Codable {
        /// The part of red.
        public var x: Double
        /// The part of green.
        public var y: Double

        package init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// The three primary colours of a display, and its white.
    public struct Primaries: Sendable, Hashable, Codable {
        /// The red primary.
        public var red: Chromaticity
        /// The green primary.
        public var green: Chromaticity
        /// The blue primary.
        public var blue: Chromaticity
        /// The colour of all three together.
        public var whitePoint: Chromaticity

        package init(red: Chromaticity, green: Chromaticity, blue: Chromaticity, whitePoint: Chromaticity) {
            self.red = red
            self.green = green
            self.blue = blue
            self.whitePoint = whitePoint
        }
    }

    /// The primaries and white point of the display, or `nil` if undeclared.
    public var primaries: Primaries?
    /// The luminance range of the display, in candela per square metre, or `nil` if undeclared.
    public var luminance: ClosedRange<Double>?

    package init(primaries: Primaries?, luminance: ClosedRange<Double>?) {
        self.primaries = primaries
        self.luminance = luminance
    }
}

extension MasteringDisplayColorVolume {
    /// Reads `mdcv`.
    ///
    /// Source: ISO/IEC 14496-12 §12.1.5, which has the fields of ISO/IEC 23008-2 §D.3.28: green, blue, red.
    init(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        let (green, blue) = (try Chromaticity(&reader, unit: 50_000), try Chromaticity(&reader, unit: 50_000))
        let red = try Chromaticity(&reader, unit: 50_000)
        let white = try Chromaticity(&reader, unit: 50_000)
        let (high, low) = (Double(try reader.readUInt32()) / 10_000, Double(try reader.readUInt32()) / 10_000)
        self.init(
            primaries: Primaries(red: red, green: green, blue: blue, whitePoint: white),
            luminance: low < high ? low...high : nil)
    }

    /// Reads `SmDm`.
    ///
    /// Source: "VP Codec ISO Media File Format Binding", version 1.0: red, green, blue.
    init(parsingVP9 payload: BoxReader) throws(MediaError) {
        var reader = payload
        _ = try reader.readVersionAndFlags()
        let (red, green) = (try Chromaticity(&reader, unit: 65_536), try Chromaticity(&reader, unit: 65_536))
        let blue = try Chromaticity(&reader, unit: 65_536)
        let white = try Chromaticity(&reader, unit: 65_536)
        let (high, low) = (Double(try reader.readUInt32()) / 256, Double(try reader.readUInt32()) / 16_384)
        self.init(
            primaries: Primaries(red: red, green: green, blue: blue, whitePoint: white),
            luminance: low < high ? low...high : nil)
    }
}

extension MasteringDisplayColorVolume.Chromaticity {
    fileprivate init(_ reader: inout BoxReader, unit: Double) throws(MediaError) {
        self.init(x: Double(try reader.readUInt16()) / unit, y: Double(try reader.readUInt16()) / unit)
    }
}
