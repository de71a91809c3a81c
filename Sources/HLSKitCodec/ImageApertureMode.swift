/// Which part of a frame an image shows, and with which shape of pixels.
public enum ImageApertureMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// The clean aperture of the container (`clap`) in square pixels: what is meant to be seen.
    case cleanAperture
    /// All of the frame in square pixels.
    case productionAperture
    /// All of the frame, pixel for pixel as it is coded.
    case encodedPixels
}
