/// The memory layout of a frame's pixels.
public enum PixelFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// The decoded format, which is usually planar YCbCr with 8 or 10 bits.
    case native
    /// Four bytes a pixel: blue, green, red, alpha (255).
    case bgra
    /// Four bytes a pixel: red, green, blue, alpha (255).
    case rgba
    /// A plane of luma, and one with interleaved chroma at half the width and height.
    case nv12
    /// A plane of luma and two of chroma at half the width and height.
    case yuv420p
}
