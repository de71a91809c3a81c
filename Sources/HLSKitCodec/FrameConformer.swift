import CLibAV

/// Converts all frames of a stream to the size and pixel format of the first, for files that allow only one of each.
package final class FrameConformer {
    private struct Shape: Equatable {
        var width: Int
        var height: Int
        var format: AVPixelFormat
    }

    private let scaler = FrameScaler()
    private let chooseFormat: (VideoFrame) -> AVPixelFormat
    private let note: @Sendable (String) -> Void
    private var target: Shape?
    private var lastSource: Shape?

    package static func keepingFormat(note: @escaping @Sendable (String) -> Void) -> FrameConformer {
        FrameConformer(note: note) { $0.pixelFormat }
    }

    /// Converts frames to the planar YUV format with 8 or 10 bits that is nearest to the first one.
    package static func planarYUV(note: @escaping @Sendable (String) -> Void) -> FrameConformer {
        FrameConformer(note: note) { nearestPlanarYUV(to: $0.pixelFormat) }
    }

    private init(note: @escaping @Sendable (String) -> Void, chooseFormat: @escaping (VideoFrame) -> AVPixelFormat) {
        self.note = note
        self.chooseFormat = chooseFormat
    }

    /// Returns `frame` in the size and format of the first one. Notes each change that requires a conversion.
    package func conform(_ frame: VideoFrame) throws(CodecError) -> VideoFrame {
        let source = Shape(width: frame.width, height: frame.height, format: frame.pixelFormat)
        let target = target ?? Shape(width: frame.width, height: frame.height, format: chooseFormat(frame))
        self.target = target
        if source == target {
            lastSource = source
            return frame
        }
        let result = try scaler.convert(
            frame, width: target.width, height: target.height, format: target.format)
        if source != lastSource {
            note(
                "video \(frame.width)x\(frame.height) \(frame.pixelFormatName) converted to "
                    + "\(result.width)x\(result.height) \(result.pixelFormatName)")
            lastSource = source
        }
        return result
    }

    private static func nearestPlanarYUV(to format: AVPixelFormat) -> AVPixelFormat {
        switch format {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P,
            AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_YUV444P10LE:
            return format
        default:
            break
        }
        guard let description = av_pix_fmt_desc_get(format)?.pointee else { return AV_PIX_FMT_YUV420P }
        let isDeep = description.comp.0.depth > 8
        let isRGB = description.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
        let isGray = description.nb_components < 3
        if isGray || (!isRGB && description.log2_chroma_w > 0 && description.log2_chroma_h > 0) {
            return isDeep ? AV_PIX_FMT_YUV420P10LE : AV_PIX_FMT_YUV420P
        }
        if !isRGB, description.log2_chroma_w > 0 { return isDeep ? AV_PIX_FMT_YUV422P10LE : AV_PIX_FMT_YUV422P }
        return isDeep ? AV_PIX_FMT_YUV444P10LE : AV_PIX_FMT_YUV444P
    }
}
