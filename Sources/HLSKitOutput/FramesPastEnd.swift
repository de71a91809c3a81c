/// Holds the frames that are shown after the end of a clip, in decoding order.
///
/// A frame that is shown before the end may depend on them. If none follows, they are left out.
package struct FramesPastEnd<Frame: Sendable>: Sendable {
    private var frames: [Frame] = []

    package init() {}

    package mutating func hold(_ frame: Frame) { frames.append(frame) }

    /// Returns the frames that the next frame before the end may depend on.
    package mutating func take() -> [Frame] {
        defer { frames = [] }
        return frames
    }
}
