import CLibAV
import HLSKitMedia
import Synchronization

/// Owns one `AVCodecContext` for decoding and runs its loop from packets to frames.
///
/// Use it on one thread at a time. libavcodec creates its own threads internally.
struct DecoderContext: ~Copyable {
    private let raw: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let packet: Packet

    /// The number of failures in one call after which the loop stops. libavcodec itself ends each failing drain. The
    /// limit only stops a decoder that does not.
    private static let maximumFailuresInARow = 1000

    /// The number of pixels above which a frame is refused before memory is allocated for it.
    ///
    /// 8192 x 8192 is above all commonly used levels of H.264 and HEVC, and takes at most 200 MB per frame.
    private static let maximumPixelCount: Int64 = 8192 * 8192

    /// - Parameter reorderDelay: The minimum number of frames that the decoder holds back before the first output.
    init(track: MediaTrack, threadCount: Int, reorderDelay: Int32 = 0) throws(CodecError) {
        LibAVLog.silence
        try CodecLibrary.check()
        guard let decoder = CodecRegistry.decoder(for: track.codec) else {
            throw CodecError(
                call: "avcodec_find_decoder_by_name", code: CLibAV_error_decoder_not_found(),
                text: "no decoder for \(track.codec.rawValue)")
        }
        guard track.timescale > 0 else {
            throw CodecError(call: "avcodec_open2", code: CodecError.invalidArgument, text: "timescale is not positive")
        }
        let packet = try Packet()
        (raw, frame) = try Self.open(
            decoder, for: track, threadCount: threadCount, reorderDelay: reorderDelay)
        self.packet = packet
        Self.counter.add(1, ordering: .relaxed)
    }

    static var openCount: Int { counter.load(ordering: .relaxed) }
    private static let counter = Atomic(0)

    func setSkipsUnreferencedFrames(_ skips: Bool) {
        raw.pointee.skip_frame = skips ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
    }

    deinit {
        Self.counter.subtract(1, ordering: .relaxed)
        var context: UnsafeMutablePointer<AVCodecContext>? = raw
        avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    private static func open(
        _ decoder: UnsafePointer<AVCodec>, for track: MediaTrack, threadCount: Int, reorderDelay: Int32
    ) throws(CodecError) -> (UnsafeMutablePointer<AVCodecContext>, UnsafeMutablePointer<AVFrame>) {
        var context = avcodec_alloc_context3(decoder)
        var frame = av_frame_alloc()
        do throws(CodecError) {
            guard let context, let frame else {
                throw CodecError(call: "avcodec_alloc_context3", code: CodecError.outOfMemory)
            }
            try configure(context, for: track, threadCount: threadCount)
            context.pointee.has_b_frames = reorderDelay
            let code = avcodec_open2(context, decoder, nil)
            guard code >= 0 else { throw CodecError(call: "avcodec_open2", code: code) }
            return (context, frame)
        } catch {
            avcodec_free_context(&context)
            av_frame_free(&frame)
            throw error
        }
    }

    private static func configure(
        _ context: UnsafeMutablePointer<AVCodecContext>, for track: MediaTrack, threadCount: Int
    ) throws(CodecError) {
        context.pointee.pkt_timebase = AVRational(num: 1, den: track.timescale)
        context.pointee.thread_count = Int32(clamping: max(0, threadCount))
        context.pointee.thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE
        context.pointee.max_pixels = maximumPixelCount
        if track.mediaType == .audio {
            // The caller trims priming because it knows the edit list.
            context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL
            context.pointee.sample_rate = Int32(clamping: max(0, track.sampleRate))
            if track.channelCount > 0 {
                av_channel_layout_default(&context.pointee.ch_layout, Int32(clamping: track.channelCount))
            }
        } else {
            context.pointee.width = Int32(clamping: max(0, track.width))
            context.pointee.height = Int32(clamping: max(0, track.height))
            setColors(context, from: track.colorInformation)
        }
        guard !track.configuration.isEmpty, let data = try ExtraData(track.decoderConfiguration) else { return }
        context.pointee.extradata = data.bytes
        context.pointee.extradata_size = data.byteCount
    }

    private static func setColors(_ context: UnsafeMutablePointer<AVCodecContext>, from colors: ColorInformation?) {
        guard let color = colors.map(LibAVColor.init) else { return }
        context.pointee.color_primaries = color.primaries
        context.pointee.color_trc = color.transfer
        context.pointee.colorspace = color.matrix
        if let range = color.range { context.pointee.color_range = range }
    }

    // MARK: - The loop

    /// Decodes one sample and passes each completed frame to `receive`, which takes over its contents.
    ///
    /// Throws the first failure, after all frames have been delivered.
    func decode(
        _ sample: MediaSample, receive: (UnsafeMutablePointer<AVFrame>) throws(CodecError) -> Void
    ) throws(CodecError) {
        try packet.wrap(sample)
        let result = send(packet.raw, receive: receive)
        packet.unwrap()
        if let failure = result { throw failure }
    }

    func drain(
        receive: (UnsafeMutablePointer<AVFrame>) throws(CodecError) -> Void
    ) throws(CodecError) {
        let result = send(nil, receive: receive)
        avcodec_flush_buffers(raw)
        if let failure = result { throw failure }
    }

    func flush() { avcodec_flush_buffers(raw) }

    typealias FrameRate = (numerator: Int32, denominator: Int32)
    var frameRate: FrameRate? {
        let rate = raw.pointee.framerate
        guard rate.num > 0, rate.den > 0 else { return nil }
        return (rate.num, rate.den)
    }

    private func send(
        _ packet: UnsafeMutablePointer<AVPacket>?,
        receive: (UnsafeMutablePointer<AVFrame>) throws(CodecError) -> Void
    ) -> CodecError? {
        // "Full" is not expected because every call below empties the decoder. If it occurs, read the frames and send
        // the packet again, so that neither is lost.
        var failure: CodecError?
        var code = avcodec_send_packet(raw, packet)
        if code == CLibAV_error_again() {
            failure = receiveAll(receive)
            code = avcodec_send_packet(raw, packet)
        }
        if code < 0, code != CLibAV_error_eof() {
            failure = failure ?? CodecError(call: "avcodec_send_packet", code: code)
        }
        let later = receiveAll(receive)
        return failure ?? later
    }

    /// Reads frames until the decoder needs input or has ended. Failures do not stop it because good frames may follow
    /// a damaged one.
    private func receiveAll(
        _ receive: (UnsafeMutablePointer<AVFrame>) throws(CodecError) -> Void
    ) -> CodecError? {
        var first: CodecError?
        var failuresInARow = 0
        while failuresInARow < Self.maximumFailuresInARow {
            let code = avcodec_receive_frame(raw, frame)
            if code == CLibAV_error_again() || code == CLibAV_error_eof() { break }
            do throws(CodecError) {
                guard code >= 0 else { throw CodecError(call: "avcodec_receive_frame", code: code) }
                try receive(frame)
                failuresInARow = 0
            } catch {
                first = first ?? error
                failuresInARow += 1
            }
            av_frame_unref(frame)
        }
        return first
    }
}

extension MediaTrack {
    /// The configuration in libavcodec's form, in which ALAC's has the header of its `alac` box.
    var decoderConfiguration: [UInt8] {
        let cookieByteCount = 24  // ALACSpecificConfig without the box header
        guard codec == .alac, configuration.count == cookieByteCount else { return configuration }
        return [0, 0, 0, 36] + Array("alac".utf8) + [0, 0, 0, 0] + configuration
    }
}
