import CLibAV
public import HLSKitLoading

extension VideoFrame {
    /// Creates a frame from an image: opaque full-range RGB in the image's colours, with square pixels.
    ///
    /// Together with ``StillImage/init(_:maximumSize:apertureMode:dynamicRangePolicy:appliesPreferredTransform:)``, it
    /// lets a ``FrameCompositor`` draw on pixels in memory and convert them back to a frame. It copies the pixels.
    ///
    /// - Parameters:
    ///   - image: The image, which may have another size. It is treated as not rotated.
    ///   - original: The frame that provides the times and the ``rotation``.
    public convenience init(_ image: StillImage, inPlaceOf original: VideoFrame) throws(HLSError) {
        do throws(CodecError) {
            try self.init(converting: image, inPlaceOf: original)
        } catch {
            throw HLSError(converting: error)
        }
    }

    private convenience init(converting image: StillImage, inPlaceOf original: VideoFrame) throws(CodecError) {
        try UtilLibrary.check()
        var target = av_frame_alloc()
        defer { av_frame_free(&target) }
        guard let target else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        target.pointee.width = Int32(clamping: image.width)
        target.pointee.height = Int32(clamping: image.height)
        target.pointee.format = AV_PIX_FMT_RGBA.rawValue
        target.pointee.colorspace = AVCOL_SPC_RGB
        target.pointee.color_range = AVCOL_RANGE_JPEG
        target.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        target.pointee.color_primaries = AVColorPrimaries(UInt32(clamping: image.colorPrimaries.rawValue))
        target.pointee.color_trc = AVColorTransferCharacteristic(UInt32(clamping: image.transferFunction.rawValue))
        try FrameNotes.note(rotation: original.rotation, in: target)
        let code = av_frame_get_buffer(target, 0)
        guard code >= 0 else { throw CodecError(call: "av_frame_get_buffer", code: code) }
        let rowByteCount = image.width * 4
        let distance = Int(CLibAV_frame_linesize(target, 0))
        guard let base = CLibAV_frame_data(target, 0), distance >= rowByteCount,
            image.pixels.count == rowByteCount * image.height
        else {
            throw CodecError(call: "av_frame_get_buffer", code: CodecError.outOfMemory)
        }
        let rows = UnsafeMutableRawBufferPointer(start: base, count: distance * image.height)
        for row in 0..<image.height {
            rows[(row * distance)..<(row * distance + rowByteCount)]
                .copyBytes(from: image.pixels[(row * rowByteCount)..<((row + 1) * rowByteCount)])
        }
        try self.init(
            moving: target, pts: original.pts, timescale: original.timescale, duration: original.duration,
            itemTime: original.itemTime)
    }
}
