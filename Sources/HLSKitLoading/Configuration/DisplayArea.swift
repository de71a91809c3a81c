/// The display, in pixels: points times scale.
public struct DisplayArea: Sendable, Hashable {
    /// Pixels of the display.
    public var size: PixelSize
    /// How frames are fitted to the display. Default: all of the frame, with bars.
    public var gravity: VideoGravity

    /// Makes a display.
    public init(size: PixelSize, gravity: VideoGravity = .resizeAspect) {
        self.size = size
        self.gravity = gravity
    }
}
