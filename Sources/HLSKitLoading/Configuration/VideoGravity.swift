/// How a frame is fitted to its display.
public enum VideoGravity: String, Sendable, Hashable, Codable {
    /// All of the frame, with bars.
    case resizeAspect
    /// All of the display, parts of the frame cut off.
    case resizeAspectFill
    /// All of both, distorted.
    case resize
}

extension VideoGravity {
    /// The rectangle of a frame on a display, in the display's pixels; with `resizeAspectFill` it reaches beyond it.
    /// Zero where one of the two has no size.
    package func rect(of picture: PixelSize, in display: PixelSize) -> PixelRect {
        guard picture.width > 0, picture.height > 0, display.width > 0, display.height > 0 else { return .zero }
        let (width, height) = (Double(display.width), Double(display.height))
        let scales = (width / Double(picture.width), height / Double(picture.height))
        let shown: (width: Double, height: Double)
        switch self {
        case .resize: shown = (width, height)
        case .resizeAspect:
            let scale = min(scales.0, scales.1)
            shown = (Double(picture.width) * scale, Double(picture.height) * scale)
        case .resizeAspectFill:
            let scale = max(scales.0, scales.1)
            shown = (Double(picture.width) * scale, Double(picture.height) * scale)
        }
        return PixelRect(
            x: (width - shown.width) / 2, y: (height - shown.height) / 2, width: shown.width, height: shown.height)
    }
}
