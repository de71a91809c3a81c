import CLibAV
public import HLSKitLoading

extension StillImage {
    /// A file format for images.
    public enum Format: Sendable, Hashable {
        /// JFIF with 4:2:0 chroma. `quality` is from 1 (small) to 100 (good), and values outside are clamped.
        case jpeg(quality: Int = 85)
        /// Lossless, with 24 bits per pixel.
        case png

        /// The usual file extension, without the point.
        package var fileExtension: String {
            switch self {
            case .jpeg: "jpg"
            case .png: "png"
            }
        }
    }
}

extension StillImage {
    /// Encodes the image as the bytes of a file.
    ///
    /// This blocks the thread for some milliseconds while libavcodec works.
    ///
    /// - Throws: An error if libavcodec has no such encoder or refuses the size.
    public func encoded(as format: StillImage.Format) throws(HLSError) -> [UInt8] {
        try HLSError.converting { () throws(CodecError) in try bytes(as: format) }
    }

    private func bytes(as format: StillImage.Format) throws(CodecError) -> [UInt8] {
        switch format {
        case .png:
            try ImageEncoder.encode(self, name: "png", format: AV_PIX_FMT_RGB24) { context in
                // Choose the best filter for each row, which halves the file size.
                av_opt_set(context.pointee.priv_data, "pred", "mixed", 0)
            }
        case .jpeg(let quality):
            try ImageEncoder.encode(self, name: "mjpeg", format: AV_PIX_FMT_YUVJ420P) { context in
                // libavcodec's scale is reversed: from 1 (good) to 31.
                let lost = 100 - min(max(quality, 1), 100)
                let scale = 1 + (Int32(lost) * 30 + 49) / 99
                context.pointee.flags |= AV_CODEC_FLAG_QSCALE
                context.pointee.qmin = 1
                context.pointee.global_quality = scale * FF_QP2LAMBDA
                context.pointee.color_range = AVCOL_RANGE_JPEG
                context.pointee.colorspace = AVCOL_SPC_BT470BG
            }
        }
    }
}

enum ImageEncoder {
    static func encode(
        _ image: StillImage, name: String, format: AVPixelFormat,
        _ configure: (UnsafeMutablePointer<AVCodecContext>) -> Void
    ) throws(CodecError) -> [UInt8] {
        try CodecLibrary.check()
        LibAVLog.silence
        guard let encoder = avcodec_find_encoder_by_name(name) else {
            throw CodecError(
                call: "avcodec_find_encoder_by_name", code: CodecError.invalidArgument, text: "no encoder for \(name)")
        }
        var context = avcodec_alloc_context3(encoder)
        defer { avcodec_free_context(&context) }
        guard let context else { throw CodecError(call: "avcodec_alloc_context3", code: CodecError.outOfMemory) }
        context.pointee.width = Int32(clamping: image.width)
        context.pointee.height = Int32(clamping: image.height)
        context.pointee.pix_fmt = format
        context.pointee.time_base = AVRational(num: 1, den: 1)
        context.pointee.thread_count = 1
        configure(context)
        var code = avcodec_open2(context, encoder, nil)
        guard code >= 0 else { throw CodecError(call: "avcodec_open2", code: code) }
        let avFrame = try ImageScaler.avFrame(of: image, format: format)
        defer { ImageScaler.free(avFrame) }
        avFrame.pointee.pts = 0
        avFrame.pointee.color_range = context.pointee.color_range
        avFrame.pointee.quality = context.pointee.global_quality
        // Declare only colours that readers do not assume by default.
        if image.colorPrimaries.isWideGamut || image.transferFunction.isHighDynamicRange {
            avFrame.pointee.color_primaries = AVColorPrimaries(UInt32(clamping: image.colorPrimaries.rawValue))
            avFrame.pointee.color_trc = AVColorTransferCharacteristic(UInt32(clamping: image.transferFunction.rawValue))
        }
        code = avcodec_send_frame(context, avFrame)
        guard code >= 0 else { throw CodecError(call: "avcodec_send_frame", code: code) }
        code = avcodec_send_frame(context, nil)
        guard code >= 0 else { throw CodecError(call: "avcodec_send_frame", code: code) }
        let packet = try Packet()
        code = avcodec_receive_packet(context, packet.raw)
        guard code >= 0 else { throw CodecError(call: "avcodec_receive_packet", code: code) }
        return Array(UnsafeBufferPointer(start: packet.raw.pointee.data, count: Int(packet.raw.pointee.size)))
    }
}
