/// Which part of a frame an image shows, and with which shape of pixels.
public enum ImageApertureMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// The clean aperture of the container (`clap`) in square pixels: the part intended for viewers.
    case cleanAperture
    /// All of the frame in square pixels.
    case productionAperture
    /// The whole coded frame without changes to its pixels.
    case encodedPixels
}
