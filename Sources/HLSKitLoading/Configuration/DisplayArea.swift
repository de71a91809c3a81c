/// A display area in pixels, which are points times scale.
public struct DisplayArea: Sendable, Hashable {
    /// The size of the display in pixels.
    public var size: PixelSize
    /// The way in which frames fit the display.
    ///
    /// By default, the whole frame is shown with bars.
    public var gravity: VideoGravity

    /// Creates a display area.
    public init(size: PixelSize, gravity: VideoGravity = .resizeAspect) {
        self.size = size
        self.gravity = gravity
    }
}
