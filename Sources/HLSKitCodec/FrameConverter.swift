import CLibAV

/// Converts frames to another pixel format, and optionally to the colours of ITU-R BT.709. Use it on one thread at a
/// time.
package struct FrameConverter: ~Copyable {
    private let format: PixelFormat
    private let convertsToRec709: Bool
    private let scaler = FrameScaler()
    /// nil if colour conversion is not requested or libavfilter is not installed.
    private let colors: ColorTransformer?

    package init(to format: PixelFormat, convertsToRec709: Bool) {
        self.format = format
        self.convertsToRec709 = convertsToRec709
        colors = convertsToRec709 ? try? ColorTransformer() : nil
    }

    package func convert(_ frame: VideoFrame) throws(CodecError) -> VideoFrame {
        let target = Self.format(format) ?? frame.pixelFormat
        if convertsToRec709, ColorTransformer.isNeeded(for: frame), let mapped = try? colors?.transform(frame) {
            return try scaler.convert(mapped, width: frame.width, height: frame.height, format: target)
        }
        let isRec709 = convertsToRec709 && frame.colorTags.isStandardRange
        return try scaler.convert(
            frame, width: frame.width, height: frame.height, format: target, color: isRec709 ? .rec709 : .source)
    }

    private static func format(_ format: PixelFormat) -> AVPixelFormat? {
        switch format {
        case .native: nil
        case .bgra: AV_PIX_FMT_BGRA
        case .rgba: AV_PIX_FMT_RGBA
        case .nv12: AV_PIX_FMT_NV12
        case .yuv420p: AV_PIX_FMT_YUV420P
        }
    }
}
