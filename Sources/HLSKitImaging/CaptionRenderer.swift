public import HLSKitCaptions
public import HLSKitCodec
public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// Draws captions into images and reports the times at which the image changes.
///
/// ```swift
/// let renderer = CaptionRenderer(captions: captions, size: PixelSize(width: 1280, height: 720))
/// for scene in renderer.captionSceneChanges(in: range) {
///     show(try renderer.render(at: scene.timeRange.start), at: scene.timeRange.start)
/// }
/// ```
///
/// libass (Debian: `libass9`) draws the text with the system's fonts. The library is opened when the first image is
/// drawn, so apps that draw nothing do not need it. Scenes need no library.
///
/// Source: AVFoundation's `AVCaptionRenderer`.
public final class CaptionRenderer: Sendable {
    /// The longest side of an image, in pixels.
    package static let maximumSideLength = 8192

    private struct State {
        var captions: [Caption]
        var size: PixelSize
    }

    private let state: Mutex<State>
    /// Created with the first image because finding the system's fonts is slow.
    private let rasterizer = Mutex<SubtitleRasterizer?>(nil)

    /// Creates a renderer.
    ///
    /// - Parameters:
    ///   - captions: The captions, in any order.
    ///   - size: The size of the images, in pixels.
    public init(captions: [Caption] = [], size: PixelSize) {
        state = Mutex(State(captions: captions, size: size))
    }

    /// The captions to draw, each during its time range.
    public var captions: [Caption] {
        get { state.withLock(\.captions) }
        set { state.withLock { $0.captions = newValue } }
    }

    /// The size of the images, in pixels.
    public var size: PixelSize {
        get { state.withLock(\.size) }
        set { state.withLock { $0.size = newValue } }
    }

    /// The characters in the images so far that no system font contains.
    ///
    /// Such characters are drawn as boxes. The renderer finds suitable fonts of any family (Debian: `fonts-noto-cjk`
    /// for Chinese, Japanese and Korean). Only a new renderer uses fonts that are installed later.
    public var missingCharacters: Set<Unicode.Scalar> { rasterizer.withLock { $0?.missingCharacters ?? [] } }

    /// Returns the parts of `timeRange` in which the image does not change.
    ///
    /// They cover the range without gaps and include parts without a visible caption.
    public func captionSceneChanges(in timeRange: MediaTimeRange) -> [CaptionScene] {
        CaptionGrouper.scenes(of: captions, in: timeRange)
    }

    /// Draws the captions at a time on a transparent background, with colours that are not multiplied by alpha.
    ///
    /// A call takes some milliseconds. The first call of a process takes some hundred because it loads the fonts.
    ///
    /// - Throws: An error if libass is not installed, or if a side of ``size`` is not between 1 and 8192.
    public func render(at time: MediaTime) throws(HLSError) -> StillImage {
        try HLSError.converting { () throws(CodecError) in try draw(at: time) }
    }

    private func draw(at time: MediaTime) throws(CodecError) -> StillImage {
        let (captions, size) = state.withLock { ($0.captions, $0.size) }
        let sides = 1...Self.maximumSideLength
        guard sides.contains(size.width), sides.contains(size.height) else {
            throw CodecError(
                call: "render", code: CodecError.invalidArgument,
                text: "captions cannot be drawn in \(size.width)x\(size.height)")
        }
        let shown = captions.filter { $0.timeRange.start <= time && time < $0.timeRange.end }
        let script = CaptionScript(shown, width: size.width, height: size.height)
        let pixels = try rasterizer.withLock { rasterizer throws(CodecError) -> [UInt8] in
            if rasterizer == nil { rasterizer = try SubtitleRasterizer() }
            return try rasterizer?.draw(script.text, width: size.width, height: size.height) ?? []
        }
        guard let image = StillImage(width: size.width, height: size.height, pixels: pixels) else {
            throw CodecError(call: "render", code: CodecError.invalidArgument)
        }
        return image
    }

    /// Draws the captions at a time over an image, at the image's own size.
    ///
    /// - Throws: The errors of ``render(at:)``. This method ignores ``size``.
    public func render(at time: MediaTime, over frame: StillImage) throws(HLSError) -> StillImage {
        let copy = CaptionRenderer(captions: captions, size: PixelSize(width: frame.width, height: frame.height))
        let drawn = try copy.render(at: time)
        var pixels = frame.pixels
        for at in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(drawn.pixels[at + 3])
            guard alpha > 0 else { continue }
            for channel in 0..<3 {
                let mixed = Int(drawn.pixels[at + channel]) * alpha + Int(pixels[at + channel]) * (255 - alpha)
                pixels[at + channel] = UInt8(clamping: (mixed + 127) / 255)
            }
        }
        return frame.replacingPixels(pixels) ?? frame
    }
}
