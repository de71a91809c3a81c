import CLibAV

/// Turns pictures into another size or pixel format with libswscale. Used by one thread at a time.
final class PictureScaler {
    private var scaler: OpaquePointer?

    deinit { sws_freeContext(scaler) }

    /// `frame` in the given size and format, or `frame` itself where it has them already.
    func convert(
        _ frame: VideoFrame, width: Int, height: Int, format: AVPixelFormat
    ) throws(CodecError) -> VideoFrame {
        if frame.width == width, frame.height == height, frame.pixelFormat == format { return frame }
        let source = frame.storage.raw
        scaler = sws_getCachedContext(
            scaler, source.pointee.width, source.pointee.height, frame.pixelFormat, Int32(clamping: width),
            Int32(clamping: height), format, SWS_BICUBIC, nil, nil, nil)
        guard scaler != nil else {
            throw CodecError(
                call: "sws_getCachedContext", code: CodecError.invalidArgument,
                text: "no conversion from \(frame.pixelFormatName) \(frame.width)x\(frame.height)")
        }
        setColorSpace(of: frame, format: format)

        var target = av_frame_alloc()
        defer { av_frame_free(&target) }
        guard let target else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        av_frame_copy_props(target, source)
        target.pointee.width = Int32(clamping: width)
        target.pointee.height = Int32(clamping: height)
        target.pointee.format = format.rawValue
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

    /// Range and matrix stay what they are; without this libswscale takes RGB and YUV for BT.601.
    private func setColorSpace(of frame: VideoFrame, format: AVPixelFormat) {
        let matrix = sws_getCoefficients(Int32(clamping: frame.colorTags.matrix))
        let isFullRange: Int32 = frame.colorTags.isFullRange == true || frame.pixelFormatName.hasPrefix("yuvj") ? 1 : 0
        let unity: Int32 = 1 << 16
        sws_setColorspaceDetails(scaler, matrix, isFullRange, matrix, isFullRange, 0, unity, unity)
    }
}
