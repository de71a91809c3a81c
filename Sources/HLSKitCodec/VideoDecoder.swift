import CLibAV
import Glibc
package import HLSKitMedia
import Synchronization

/// Decodes the samples of one video track into frames.
///
/// Use it on one thread at a time, which it blocks while libavcodec works. libavcodec may use further threads
/// internally. With several threads, frames are some samples late, and ``drain(to:)`` returns the rest. Size or format
/// may change within the stream because each frame has its own. If the codec or configuration changes, drain the
/// decoder and create another one.
package final class VideoDecoder {
    /// The largest number of frames that H.264 allows to hold back for reordering (ITU-T H.264 A.3.1: 16 frames).
    private static let maximumReorderDelay: Int64 = 16

    private let track: MediaTrack
    private let threadCount: Int
    private let isSharing: Bool
    private var context: DecoderContext
    /// Only H.264 streams may leave the number of reordered frames undeclared. If so, it is derived from the first two
    /// samples before decoding starts.
    private var learnsReorderDelay: Bool
    private var firstSample: MediaSample?
    /// The expected time of the next frame, for frames without a time.
    private var nextPTS: Int64 = 0
    private var hasBegun = false
    /// The first sample, while its frame is certain to be shown first and has not been output.
    private var firstRefresh: MediaSample?
    /// The time of the frame that was output early and must not be output again.
    private var givenPTS: Int64?

    /// Whether unreferenced frames are omitted, from the next sample on. This saves a third to a half of the work if a
    /// decoder is too slow. The default is false.
    package var skipsUnreferencedFrames = false

    /// Whether interlaced frames are deinterlaced if libavfilter is installed. Frames are then output one later, from
    /// the first interlaced one on. The default is false.
    package var deinterlaces = false
    private var deinterlacer: Deinterlacer?

    /// Opens the decoder for `track`.
    ///
    /// - Parameters:
    ///   - threadCount: The number of threads that libavcodec may use. 0 (the default) is a share of the cores, with at
    ///     least one thread: all for the only decoder of the process, half if there is another one, and so on.
    /// - Throws: ``CodecError`` if there is no such decoder, or it refuses the track's configuration.
    package init(track: MediaTrack, threadCount: Int = 0) throws(CodecError) {
        isSharing = threadCount == 0
        self.threadCount =
            isSharing ? Self.share(of: Self.sharingCount.add(1, ordering: .relaxed).newValue) : threadCount
        do throws(CodecError) {
            context = try DecoderContext(track: track, threadCount: self.threadCount)
        } catch {
            if isSharing { Self.sharingCount.subtract(1, ordering: .relaxed) }
            throw error
        }
        self.track = track
        learnsReorderDelay = track.codec == .h264
    }

    deinit {
        if isSharing { Self.sharingCount.subtract(1, ordering: .relaxed) }
    }

    /// The number of decoders in this process that share the cores.
    private static let sharingCount = Atomic(0)

    /// Returns the threads for the last of `count` decoders. 0 leaves the choice to libavcodec, which uses one per
    /// core.
    static func share(of count: Int, cores: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN))) -> Int {
        count <= 1 ? 0 : max(1, cores / count)
    }

    /// Decodes one sample and appends the completed frames in presentation order.
    ///
    /// - Throws: The first ``CodecError`` of a damaged frame, after all good frames have been appended. Decoding
    ///   continues with the next sample.
    package func decode(_ sample: MediaSample, to frames: inout [VideoFrame]) throws(CodecError) {
        if !hasBegun {
            hasBegun = true
            firstRefresh = H264Sample.isInstantaneousRefresh(sample, of: track) ? sample : nil
        }
        guard learnsReorderDelay else {
            try send(sample, to: &frames)
            return
        }
        if firstSample == nil, sample.pts > sample.dts {
            // Its frame cannot leave the decoder before the second sample because it is shown later than decoded.
            // Waiting for that sample costs no time.
            firstSample = sample
            return
        }
        try learnReorderDelay(from: sample)
        var failure: CodecError?
        do throws(CodecError) { try sendHeldSample(to: &frames) } catch { failure = error }
        do throws(CodecError) { try send(sample, to: &frames) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    /// Appends all pending frames. Call it at the end and before samples of another timeline. The decoder accepts new
    /// samples afterwards.
    ///
    /// - Throws: The first ``CodecError`` of a damaged frame, after all good frames have been appended.
    package func drain(to frames: inout [VideoFrame]) throws(CodecError) {
        var failure: CodecError?
        do throws(CodecError) { try sendHeldSample(to: &frames) } catch { failure = error }
        do throws(CodecError) {
            try context.drain { frame throws(CodecError) in try take(frame, to: &frames) }
        } catch {
            failure = failure ?? error
        }
        deinterlacer?.drain(to: &frames)
        forgetFirst()
        if let failure { throw failure }
    }

    /// Discards all input. Call it before samples from another position, after a seek.
    package func flush() {
        firstSample = nil
        forgetFirst()
        context.flush()
        deinterlacer?.flush()
    }

    package var hasFirstFrame: Bool { firstRefresh != nil }

    /// Appends the frame of the first sample if there is no second sample yet. Decoders output it some samples late
    /// because they do not know that no other frame is shown before it. It is not output again.
    ///
    /// This is possible only for H.264, and if the first sample is complete and an instantaneous refresh. It decodes
    /// that frame a second time.
    package func decodeFirstFrame(to frames: inout [VideoFrame]) {
        guard let sample = firstRefresh else { return }
        firstRefresh = nil
        let nextPTS = nextPTS
        defer { self.nextPTS = nextPTS }
        var decoded: [VideoFrame] = []
        var isWhole = true
        do throws(CodecError) {
            let context = try DecoderContext(track: track, threadCount: 1)
            let rate = context.frameRate
            func receive(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) {
                // The second field may be in the next sample.
                if CLibAV_frame_is_interlaced(frame) != 0 || frame.pointee.decode_error_flags != 0 { isWhole = false }
                if frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 { isWhole = false }
                decoded.append(try makeFrame(from: frame, frameRate: rate))
            }
            try context.decode(sample, receive: receive)
            try context.drain(receive: receive)
        } catch {
            // Regular decoding will show whether the frame is damaged.
            return
        }
        guard isWhole, decoded.count == 1, let videoFrame = decoded.first, videoFrame.pts == sample.pts else { return }
        givenPTS = videoFrame.pts
        frames.append(videoFrame)
    }

    private func forgetFirst() {
        hasBegun = false
        firstRefresh = nil
        givenPTS = nil
    }

    private func learnReorderDelay(from second: MediaSample) throws(CodecError) {
        learnsReorderDelay = false
        guard let first = firstSample else { return }
        let (delay, delayOverflow) = first.pts.subtractingReportingOverflow(first.dts)
        let (step, stepOverflow) = second.dts.subtractingReportingOverflow(first.dts)
        guard !delayOverflow, !stepOverflow, step > 0, delay >= step else { return }
        // libavcodec's frame threads read the number only when they are created.
        context = try DecoderContext(
            track: track, threadCount: threadCount, reorderDelay: Int32(min(delay / step, Self.maximumReorderDelay)))
    }

    private func sendHeldSample(to frames: inout [VideoFrame]) throws(CodecError) {
        guard let first = firstSample else { return }
        firstSample = nil
        try send(first, to: &frames)
    }

    private func send(_ sample: MediaSample, to frames: inout [VideoFrame]) throws(CodecError) {
        context.setSkipsUnreferencedFrames(skipsUnreferencedFrames)
        try context.decode(sample) { frame throws(CodecError) in try take(frame, to: &frames) }
    }

    private func take(_ frame: UnsafeMutablePointer<AVFrame>, to frames: inout [VideoFrame]) throws(CodecError) {
        let videoFrame = try makeFrame(from: frame, frameRate: context.frameRate)
        firstRefresh = nil
        defer { givenPTS = nil }
        guard videoFrame.pts != givenPTS else { return }
        if deinterlaces, deinterlacer == nil, videoFrame.isInterlaced {
            deinterlacer = try? Deinterlacer()
            // Without libavfilter, frames remain interlaced.
            deinterlaces = deinterlacer != nil
        }
        if let deinterlacer { deinterlacer.filter(videoFrame, to: &frames) } else { frames.append(videoFrame) }
    }

    private func makeFrame(
        from frame: UnsafeMutablePointer<AVFrame>, frameRate: DecoderContext.FrameRate?
    ) throws(CodecError) -> VideoFrame {
        let time = frame.pointee.best_effort_timestamp
        let pts = time == CLibAV_no_pts() ? nextPTS : time
        if let aspect = containerAspectRatio { frame.pointee.sample_aspect_ratio = aspect }
        if let color = track.colorInformation { Self.complete(frame, with: color) }
        if let aperture = track.cleanAperture { FrameNotes.note(aperture, in: frame) }
        try FrameNotes.note(rotation: track.rotation, in: frame)
        FrameNotes.note(track.masteringDisplayColorVolume, track.contentLightLevelInfo, in: frame)
        var duration = CLibAV_frame_duration(frame)
        if duration <= 0 { duration = declaredDuration(of: frame, at: frameRate) }
        nextPTS = pts.addingReportingOverflow(duration).partialValue
        return try VideoFrame(moving: frame, pts: pts, timescale: track.timescale, duration: duration)
    }

    private static func complete(_ frame: UnsafeMutablePointer<AVFrame>, with color: ColorInformation) {
        if frame.pointee.color_primaries == AVCOL_PRI_UNSPECIFIED, let value = UInt32(exactly: color.colorPrimaries) {
            frame.pointee.color_primaries = AVColorPrimaries(rawValue: value)
        }
        if frame.pointee.color_trc == AVCOL_TRC_UNSPECIFIED, let value = UInt32(exactly: color.transferCharacteristics)
        {
            frame.pointee.color_trc = AVColorTransferCharacteristic(rawValue: value)
        }
        if frame.pointee.colorspace == AVCOL_SPC_UNSPECIFIED, let value = UInt32(exactly: color.matrixCoefficients) {
            frame.pointee.colorspace = AVColorSpace(rawValue: value)
        }
        if frame.pointee.color_range == AVCOL_RANGE_UNSPECIFIED, let isFullRange = color.isFullRange {
            frame.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        }
    }

    /// The container's pixel shape, which has precedence over the stream's.
    private var containerAspectRatio: AVRational? {
        guard let aspect = track.pixelAspectRatio, let width = Int32(exactly: aspect.horizontalSpacing),
            let height = Int32(exactly: aspect.verticalSpacing), width > 0, height > 0
        else { return nil }
        return AVRational(num: width, den: height)
    }

    /// The duration from the stream's frame rate, or 0 if it declares none.
    private func declaredDuration(
        of frame: UnsafeMutablePointer<AVFrame>, at frameRate: DecoderContext.FrameRate?
    ) -> Int64 {
        guard let rate = frameRate else { return 0 }
        // `repeat_pict` is the number of fields that are shown again.
        let fieldCount = 2 + Int64(max(0, min(frame.pointee.repeat_pict, 8)))
        let duration = av_rescale(
            Int64(track.timescale) * fieldCount, Int64(rate.denominator), 2 * Int64(rate.numerator))
        return max(0, duration)
    }
}
