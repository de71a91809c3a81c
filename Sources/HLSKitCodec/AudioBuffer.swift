import CLibAV
public import HLSKitLoading
public import HLSKitTime

/// Decoded audio of one access unit.
///
/// A buffer is immutable, and threads can share it because copies share the samples.
public final class AudioBuffer: Sendable {
    /// The form of one interleaved audio sample, in the machine's byte order.
    public enum InterleavedFormat: Sendable, Hashable {
        /// Signed 16 bit.
        case int16
        /// 32-bit float, nominally -1 to 1.
        case float32
    }

    /// The presentation time of the first sample as in the container, in units of the track's timescale.
    public let pts: Int64
    /// The units of ``pts`` and ``duration`` per second.
    public let timescale: Int32
    /// The duration of ``frameCount`` samples in units of the timescale, rounded to the nearest.
    public let duration: Int64
    /// The presentation time on the item's timeline, or `nil` until the buffer has been placed.
    public let itemTime: MediaTime?
    /// FFmpeg's name for the form of the samples, such as `fltp` or `s16`.
    public let sampleFormatName: String
    /// A Boolean value that indicates whether each channel has its own plane.
    ///
    /// Otherwise there is one plane of interleaved samples.
    public let isPlanar: Bool
    /// Samples per second and channel.
    public let sampleRate: Int
    /// Number of channels, at least 1.
    public let channelCount: Int
    /// FFmpeg's name for the order of the channels, such as `stereo` or `5.1(side)`.
    public let channelLayoutName: String
    /// The number of samples in each channel.
    public let frameCount: Int

    let storage: FrameStorage

    /// Returns the same audio at `itemTime` on the item's timeline. No sample is copied.
    package func placed(at itemTime: MediaTime) -> AudioBuffer {
        AudioBuffer(sharing: self, itemTime: itemTime)
    }

    /// Returns the same audio without its first and last samples, per channel. No sample is copied.
    ///
    /// - Precondition: The numbers are not negative, and some samples remain.
    /// - Throws: ``CodecError`` if there is no memory.
    package func trimmed(leading: Int, trailing: Int) throws(CodecError) -> AudioBuffer {
        precondition(leading >= 0 && trailing >= 0 && leading + trailing < frameCount, "some samples must be left")
        var frame = av_frame_alloc()
        defer { av_frame_free(&frame) }
        guard let frame else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        let code = av_frame_ref(frame, storage.raw)
        guard code >= 0 else { throw CodecError(call: "av_frame_ref", code: code) }
        let byteCount = leading * Int(av_get_bytes_per_sample(sampleFormat)) * (isPlanar ? 1 : channelCount)
        CLibAV_frame_skip(frame, Int32(clamping: isPlanar ? channelCount : 1), Int32(clamping: byteCount))
        frame.pointee.nb_samples = Int32(clamping: frameCount - leading - trailing)
        let shift = av_rescale(Int64(leading), Int64(timescale), Int64(sampleRate))
        return try AudioBuffer(
            moving: frame, pts: pts.addingReportingOverflow(shift).partialValue, timescale: timescale)
    }

    /// Returns silence with the same rate and channels.
    ///
    /// - Parameter frameCount: The samples of each channel, at least 1.
    /// - Throws: ``CodecError`` if there is no memory.
    package func silence(frameCount: Int, at itemTime: MediaTime) throws(CodecError) -> AudioBuffer {
        var frame = av_frame_alloc()
        defer { av_frame_free(&frame) }
        guard let frame else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        frame.pointee.format = storage.raw.pointee.format
        frame.pointee.sample_rate = storage.raw.pointee.sample_rate
        frame.pointee.nb_samples = Int32(clamping: max(1, frameCount))
        var code = av_channel_layout_copy(&frame.pointee.ch_layout, &storage.raw.pointee.ch_layout)
        guard code >= 0 else { throw CodecError(call: "av_channel_layout_copy", code: code) }
        code = av_frame_get_buffer(frame, 0)
        guard code >= 0, let planes = frame.pointee.extended_data else {
            throw CodecError(call: "av_frame_get_buffer", code: min(code, CodecError.outOfMemory))
        }
        code = av_samples_set_silence(
            planes, 0, frame.pointee.nb_samples, frame.pointee.ch_layout.nb_channels, sampleFormat)
        guard code >= 0 else { throw CodecError(call: "av_samples_set_silence", code: code) }
        return try AudioBuffer(moving: frame, pts: pts, timescale: timescale, itemTime: itemTime)
    }

    /// Calls `body` with the decoded samples, in one plane or one per channel.
    ///
    /// The pointers are valid only during the call.
    public func withPlanes<Result, Failure: Error>(
        _ body: ([UnsafeRawBufferPointer]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let raw = storage.raw
        let sampleSize = Int(av_get_bytes_per_sample(sampleFormat))
        let planeCount = isPlanar ? channelCount : 1
        let size = frameCount * sampleSize * (isPlanar ? 1 : channelCount)
        // `extended_data` has an entry for each plane, even for many planes.
        let planes = (0..<planeCount).map { plane in
            UnsafeRawBufferPointer(start: raw.pointee.extended_data?[plane], count: size)
        }
        return try body(planes)
    }

    /// Returns the interleaved samples of all channels, with the decoded rate and channels.
    ///
    /// Each call sets up a converter, which is inefficient for whole streams.
    public func interleavedSamples(as format: InterleavedFormat) throws(HLSError) -> [UInt8] {
        try HLSError.converting { () throws(CodecError) in
            let converter = AudioConverter(to: format)
            var samples: [UInt8] = []
            try converter.convert(self, into: &samples)
            return samples
        }
    }

    /// Takes over the samples of `frame`. Throws if it has none.
    init(
        moving frame: UnsafeMutablePointer<AVFrame>, pts: Int64, timescale: Int32, itemTime: MediaTime? = nil
    ) throws(CodecError) {
        let format = AVSampleFormat(frame.pointee.format)
        let channels = frame.pointee.ch_layout.nb_channels
        guard frame.pointee.nb_samples > 0, frame.pointee.sample_rate > 0, channels > 0,
            let name = av_get_sample_fmt_name(format), Self.hasPlanes(frame, format: format)
        else {
            throw CodecError(
                call: "avcodec_receive_frame", code: CodecError.invalidArgument, text: "audio frame without samples")
        }
        if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            av_channel_layout_default(&frame.pointee.ch_layout, channels)
        }
        self.pts = pts
        self.timescale = timescale
        self.itemTime = itemTime
        sampleFormatName = String(cString: name)
        isPlanar = av_sample_fmt_is_planar(format) != 0
        sampleRate = Int(frame.pointee.sample_rate)
        channelCount = Int(channels)
        frameCount = Int(frame.pointee.nb_samples)
        duration = av_rescale(Int64(frame.pointee.nb_samples), Int64(timescale), Int64(frame.pointee.sample_rate))
        channelLayoutName = Self.layoutName(frame)
        storage = try FrameStorage(moving: frame)
    }

    private init(sharing other: AudioBuffer, itemTime: MediaTime) {
        pts = other.pts
        timescale = other.timescale
        duration = other.duration
        self.itemTime = itemTime
        sampleFormatName = other.sampleFormatName
        isPlanar = other.isPlanar
        sampleRate = other.sampleRate
        channelCount = other.channelCount
        channelLayoutName = other.channelLayoutName
        frameCount = other.frameCount
        storage = other.storage
    }

    var sampleFormat: AVSampleFormat { AVSampleFormat(storage.raw.pointee.format) }

    /// The bits of the channels as numbered by `WAVEFORMATEXTENSIBLE`, or 0 if the channels have no such order.
    package var channelMask: UInt64 {
        let layout = storage.raw.pointee.ch_layout
        return layout.order == AV_CHANNEL_ORDER_NATIVE ? layout.u.mask : 0
    }

    private static func hasPlanes(_ frame: UnsafeMutablePointer<AVFrame>, format: AVSampleFormat) -> Bool {
        let planeCount = av_sample_fmt_is_planar(format) != 0 ? Int(frame.pointee.ch_layout.nb_channels) : 1
        guard let planes = frame.pointee.extended_data else { return false }
        return (0..<planeCount).allSatisfy { planes[$0] != nil }
    }

    private static func layoutName(_ frame: UnsafeMutablePointer<AVFrame>) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            buffer.initialize(repeating: 0)
            guard let base = buffer.baseAddress,
                av_channel_layout_describe(&frame.pointee.ch_layout, base, buffer.count) >= 0
            else { return "" }
            return String(cString: base)
        }
    }
}
