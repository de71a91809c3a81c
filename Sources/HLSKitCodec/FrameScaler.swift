import CLibAV

/// Converts frames to another size or pixel format with libswscale. Use it on one thread at a time.
final class FrameScaler {
    enum Color: Equatable {
        /// Keeps range and matrix.
        case source
        /// Luma and chroma according to ITU-R BT.709, in limited range.
        case rec709
    }

    private var scaler: OpaquePointer?

    deinit { sws_freeContext(scaler) }

    /// Returns `frame` in the given size and format, or `frame` itself if it already has them.
    func convert(
        _ frame: VideoFrame, width: Int, height: Int, format: AVPixelFormat, color: Color = .source
    ) throws(CodecError) -> VideoFrame {
        let isSameColor = color == .source || Self.isRec709(frame)
        if frame.width == width, frame.height == height, frame.pixelFormat == format, isSameColor { return frame }
        try ScaleLibrary.check()
        let source = frame.storage.raw
        scaler = sws_getCachedContext(
            scaler, source.pointee.width, source.pointee.height, frame.pixelFormat, Int32(clamping: width),
            Int32(clamping: height), format, SWS_BICUBIC, nil, nil, nil)
        guard scaler != nil else {
            throw CodecError(
                call: "sws_getCachedContext", code: CodecError.invalidArgument,
                text: "no conversion from \(frame.pixelFormatName) \(frame.width)x\(frame.height)")
        }
        setColorSpace(of: frame, color: color)

        var target = av_frame_alloc()
        defer { av_frame_free(&target) }
        guard let target else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        av_frame_copy_props(target, source)
        target.pointee.width = Int32(clamping: width)
        target.pointee.height = Int32(clamping: height)
        target.pointee.format = format.rawValue
        if frame.width != width || frame.height != height {
            (target.pointee.crop_left, target.pointee.crop_right) = (0, 0)
            (target.pointee.crop_top, target.pointee.crop_bottom) = (0, 0)
        }
        tag(target, format: format, color: color)
        var code = av_frame_get_buffer(target, 0)
        guard code >= 0 else { throw CodecError(call: "av_frame_get_buffer", code: code) }
        let planes = UnsafeRawPointer(CLibAV_frame_planes(source))
            .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        code = sws_scale(
            scaler, planes, CLibAV_frame_linesizes(source), 0, source.pointee.height, CLibAV_frame_planes(target),
            CLibAV_frame_linesizes(target))
        guard code >= 0 else { throw CodecError(call: "sws_scale", code: code) }
        return try VideoFrame(
            moving: target, pts: frame.pts, timescale: frame.timescale, duration: frame.duration,
            itemTime: frame.itemTime)
    }

    /// Otherwise libswscale treats RGB and YUV as BT.601.
    private func setColorSpace(of frame: VideoFrame, color: Color) {
        let matrix = sws_getCoefficients(Int32(clamping: Self.matrix(of: frame)))
        let isFullRange: Int32 = Self.isFullRange(frame) ? 1 : 0
        let unity: Int32 = 1 << 16
        let target = color == .source ? matrix : sws_getCoefficients(SWS_CS_ITU709)
        sws_setColorspaceDetails(
            scaler, matrix, isFullRange, target, color == .source ? isFullRange : 0, 0, unity, unity)
    }

    static func isFullRange(_ frame: VideoFrame) -> Bool {
        frame.colorTags.isFullRange == true || frame.pixelFormatName.hasPrefix("yuvj")
    }

    /// Undeclared values are inferred from the size: BT.601 below 720 lines.
    static func matrix(of frame: VideoFrame) -> Int {
        frame.colorTags.matrix == 2 && frame.height < 720 ? 6 : frame.colorTags.matrix == 2 ? 1 : frame.colorTags.matrix
    }

    private static func isRec709(_ frame: VideoFrame) -> Bool {
        let isRGB = av_pix_fmt_desc_get(frame.pixelFormat).map {
            $0.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
        }
        return isRGB == true || matrix(of: frame) == 1 && !isFullRange(frame)
    }

    private func tag(_ target: UnsafeMutablePointer<AVFrame>, format: AVPixelFormat, color: Color) {
        let flags = av_pix_fmt_desc_get(format)?.pointee.flags ?? 0
        if flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0 {
            target.pointee.colorspace = AVCOL_SPC_RGB
            target.pointee.color_range = AVCOL_RANGE_JPEG
        } else if color == .rec709 {
            target.pointee.colorspace = AVCOL_SPC_BT709
            target.pointee.color_range = AVCOL_RANGE_MPEG
        }
    }
}
