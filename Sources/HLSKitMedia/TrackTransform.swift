/// The transform that rotates, mirrors or moves the frames of a track before they are shown.
///
/// It maps a point (x, y) of the frame to (a·x + c·y + tx, b·x + d·y + ty), in pixels with y downwards.
///
/// Source: the matrix of `tkhd`, ISO/IEC 14496-12 §8.3.2, §6.2.2, with the names of `CGAffineTransform`.
public struct TrackTransform: Sendable, Hashable {
    /// The horizontal effect of x.
    public var a: Double
    /// The vertical effect of x.
    public var b: Double
    /// The horizontal effect of y.
    public var c: Double
    /// The vertical effect of y.
    public var d: Double
    /// The horizontal offset in pixels.
    public var tx: Double
    /// The vertical offset in pixels.
    public var ty: Double

    package init(a: Double = 1, b: Double = 0, c: Double = 0, d: Double = 1, tx: Double = 0, ty: Double = 0) {
        (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
    }

    /// The transform that leaves frames unchanged.
    public static let identity = TrackTransform()

    /// The clockwise rotation in degrees: 0, 90, 180 or 270. It is 0 for anything other than quarter turns.
    package var rotation: Int {
        func sign(_ value: Double) -> Int { value > 0 ? 1 : value < 0 ? -1 : 0 }
        return switch (sign(a), sign(b), sign(c), sign(d)) {
        case (0, 1, -1, 0): 90
        case (-1, 0, 0, -1): 180
        case (0, -1, 1, 0): 270
        default: 0
        }
    }
}

extension TrackTransform {
    /// Reads nine fixed-point numbers: a, b, u, c, d, v, x, y, w. The values of u, v and w have no meaning in two
    /// dimensions.
    ///
    /// - Parameter matrix: 36 bytes.
    init(parsing matrix: ArraySlice<UInt8>) {
        func value(_ index: Int) -> Double {
            Double(Int32(bitPattern: matrix.bigEndianUInt32(at: matrix.startIndex + 4 * index))) / 65_536
        }
        self.init(a: value(0), b: value(1), c: value(3), d: value(4), tx: value(6), ty: value(7))
    }
}
