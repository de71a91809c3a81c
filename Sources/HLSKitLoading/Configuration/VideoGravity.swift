/// The way in which a frame fits its display area.
public enum VideoGravity: String, Sendable, Hashable, Codable {
    /// Shows the whole frame, with bars.
    case resizeAspect
    /// Fills the display area, and crops the frame.
    case resizeAspectFill
    /// Stretches the frame to the display area.
    case resize
}

extension VideoGravity {
    /// Returns the rectangle of a frame on a display, in pixels of the display. With `resizeAspectFill`, it extends
    /// past the display. It is zero if either is empty.
    package func rect(of frame: PixelSize, in display: PixelSize) -> PixelRect {
        guard frame.width > 0, frame.height > 0, display.width > 0, display.height > 0 else { return .zero }
        let (width, height) = (Double(display.width), Double(display.height))
        let scales = (width / Double(frame.width), height / Double(frame.height))
        let shown: (width: Double, height: Double)
        switch self {
        case .resize: shown = (width, height)
        case .resizeAspect:
            let scale = min(scales.0, scales.1)
            shown = (Double(frame.width) * scale, Double(frame.height) * scale)
        case .resizeAspectFill:
            let scale = max(scales.0, scales.1)
            shown = (Double(frame.width) * scale, Double(frame.height) * scale)
        }
        return PixelRect(
            x: (width - shown.width) / 2, y: (height - shown.height) / 2, width: shown.width, height: shown.height)
    }
}
