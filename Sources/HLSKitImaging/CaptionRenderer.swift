public import HLSKitCaptions
public import HLSKitCodec
public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// Draws captions into frames, and reports when to draw another one.
///
/// ```swift
/// let renderer = CaptionRenderer(captions: captions, size: PixelSize(width: 1280, height: 720))
/// for scene in renderer.captionSceneChanges(in: range) {
///     show(try renderer.render(at: scene.timeRange.start), at: scene.timeRange.start)
/// }
/// ```
///
/// Text is drawn by libass (Debian: `libass9`) in the fonts of the system, which is opened when the first picture is
/// drawn: programs that draw nothing do not need it. Scenes need no library.
///
/// Source: AVFoundation's `AVCaptionRenderer`. See docs/reference/outputs-and-media.md.
public final class CaptionRenderer: Sendable {
    /// The longest side of a picture, in pixels.
    package static let maximumSideLength = 8192

    private struct State {
        var captions: [Caption]
        var size: PixelSize
    }

    private let state: Mutex<State>
    /// Made by the first picture: finding the fonts of a system takes its time.
    private let rasterizer = Mutex<SubtitleRasterizer?>(nil)

    /// - Parameters:
    ///   - captions: in any order.
    ///   - size: of the pictures that are drawn, in pixels.
    public init(captions: [Caption] = [], size: PixelSize) {
        state = Mutex(State(captions: captions, size: size))
    }

    /// The captions to draw, each during its time.
    public var captions: [Caption] {
        get { state.withLock(\.captions) }
        set { state.withLock { $0.captions = newValue } }
    }

    /// Of the pictures that are drawn, in pixels.
    public var size: PixelSize {
        get { state.withLock(\.size) }
        set { state.withLock { $0.size = newValue } }
    }

    /// The characters in the pictures so far that no font of the system has: boxes stand for them. Fonts that would do are
    /// found by themselves, whatever their family (Debian: `fonts-noto-cjk` for Chinese, Japanese and Korean); those that
    /// are installed meanwhile count for a new renderer.
    public var missingCharacters: Set<Unicode.Scalar> { rasterizer.withLock { $0?.missingCharacters ?? [] } }

    /// The times in `timeRange` in each of which the picture stays the same, from its start to its end without holes;
    /// also those in which there is nothing to be seen.
    public func captionSceneChanges(in timeRange: MediaTimeRange) -> [CaptionScene] {
        CaptionGrouper.scenes(of: captions, in: timeRange)
    }

    /// Draws what is shown at a time: transparent but for the captions, colours not multiplied by alpha.
    ///
    /// Costs some milliseconds; the first call of a process some hundred, for the fonts.
    /// - Throws: if libass is not installed, or a side of ``size`` is not between 1 and 8192.
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

    /// Draws what is shown at a time over a picture, at the picture's own size.
    ///
    /// - Throws: as ``render(at:)``; ``size`` is not looked at.
    public func render(at time: MediaTime, over picture: StillImage) throws(HLSError) -> StillImage {
        let copy = CaptionRenderer(captions: captions, size: PixelSize(width: picture.width, height: picture.height))
        let drawn = try copy.render(at: time)
        var pixels = picture.pixels
        for at in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(drawn.pixels[at + 3])
            guard alpha > 0 else { continue }
            for channel in 0..<3 {
                let mixed = Int(drawn.pixels[at + channel]) * alpha + Int(pixels[at + channel]) * (255 - alpha)
                pixels[at + channel] = UInt8(clamping: (mixed + 127) / 255)
            }
        }
        return picture.replacingPixels(pixels) ?? picture
    }
}
