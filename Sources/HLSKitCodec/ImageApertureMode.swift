/// The part of a frame that an image shows, and the shape of its pixels.
public enum ImageApertureMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// The clean aperture of the container (`clap`) in square pixels: the part intended for viewers.
    case cleanAperture
    /// The whole frame in square pixels.
    case productionAperture
    /// The whole coded frame without changes to its pixels.
    case encodedPixels
}
