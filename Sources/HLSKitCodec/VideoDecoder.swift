import CLibAV
import Glibc
package import HLSKitMedia
import Synchronization

/// Decodes the samples of one video track into frames.
///
/// Belongs to one thread at a time and blocks it while libavcodec works; libavcodec may use threads of its own behind
/// it. With more than one of them frames come out some samples late: ``drain(to:)`` gives the rest. A size or format
/// that changes inside the stream needs nothing, because each frame carries its own; a track with another codec or
/// configuration needs a new decoder, after the old one was drained.
package final class VideoDecoder {
    /// Frames that an H.264 stream may hold back to put others in front of them (ITU-T H.264 A.3.1: 16 frames).
    private static let maximumReorderDelay: Int64 = 16

    private let track: MediaTrack
    private let threadCount: Int
    /// It is one of those that share the cores.
    private let isSharing: Bool
    private var context: DecoderContext
    /// H.264 alone may leave undeclared how many frames it holds back; what the first two samples show is given to
    /// the decoder before it starts.
    private var learnsReorderDelay: Bool
    private var firstSample: MediaSample?
    /// Where the next frame is expected, for frames that come out without a time.
    private var nextPTS: Int64 = 0
    private var hasBegun = false
    /// The first sample, while its frame is sure to be the first one shown and has not come out.
    private var firstRefresh: MediaSample?
    /// The frame that was given ahead of the others, which is not given again.
    private var givenPTS: Int64?

    /// Whether frames that no other frame refers to are omitted, from the next sample on: a third to a half of
    /// the work, where a decoder is too slow. Default: false.
    package var skipsUnreferencedPictures = false

    /// Whether interlaced pictures come out as whole ones, where libavfilter is installed. Default: false. Pictures come out one
    /// later, from the first interlaced one on.
    package var deinterlaces = false
    private var deinterlacer: Deinterlacer?

    /// Opens the decoder of `track`'s codec.
    ///
    /// - Parameters:
    ///   - track: with its codec and configuration.
    ///   - threadCount: threads that libavcodec may use; 0 (the default) is a share of the cores: all of them for the only
    ///     decoder of the process, half of them for one beside another, and so on, and one thread at the least.
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

    /// Decoders of the process that share the cores.
    private static let sharingCount = Atomic(0)

    /// The threads of the last of so many decoders; 0 leaves it to libavcodec, which takes one per core.
    static func share(of count: Int, cores: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN))) -> Int {
        count <= 1 ? 0 : max(1, cores / count)
    }

    /// Decodes one sample and appends the frames that are ready, in presentation order.
    ///
    /// - Throws: the first ``CodecError`` of a damaged frame, after all good frames were appended. Decoding continues
    ///   with the next sample.
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
            // Shown later than decoded, so its frame leaves the decoder after the second sample at the earliest:
            // waiting for that one costs no time.
            firstSample = sample
            return
        }
        try learnReorderDelay(from: sample)
        var failure: CodecError?
        do throws(CodecError) { try sendHeldSample(to: &frames) } catch { failure = error }
        do throws(CodecError) { try send(sample, to: &frames) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    /// Appends all frames that are still held back: at the end, and before samples of another timeline. The decoder
    /// takes new samples afterwards.
    ///
    /// - Throws: the first ``CodecError`` of a damaged frame, after all good frames were appended.
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

    /// Forgets all that was put in: before samples from elsewhere, after a seek.
    package func flush() {
        firstSample = nil
        forgetFirst()
        context.flush()
        deinterlacer?.flush()
    }

    /// Whether ``decodeFirstPicture(to:)`` has something to give.
    package var hasFirstPicture: Bool { firstRefresh != nil }

    /// Appends the frame of the first sample, for who has no second one to put in yet: decoders give it some samples
    /// late, because they do not know that no other frame is shown before it. It does not come out again.
    ///
    /// Only for H.264, and where the first sample is whole and an instantaneous refresh. Cost: decodes that frame a
    /// second time.
    package func decodeFirstPicture(to frames: inout [VideoFrame]) {
        guard let sample = firstRefresh else { return }
        firstRefresh = nil
        let nextPTS = nextPTS
        defer { self.nextPTS = nextPTS }
        var pictures: [VideoFrame] = []
        var isWhole = true
        do throws(CodecError) {
            let context = try DecoderContext(track: track, threadCount: 1)
            let rate = context.frameRate
            func receive(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) {
                // The second field may be in the next sample.
                if CLibAV_frame_is_interlaced(frame) != 0 || frame.pointee.decode_error_flags != 0 { isWhole = false }
                if frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 { isWhole = false }
                pictures.append(try makeFrame(from: frame, frameRate: rate))
            }
            try context.decode(sample, receive: receive)
            try context.drain(receive: receive)
        } catch {
            // Decoding in turn will show.
            return
        }
        guard isWhole, pictures.count == 1, let picture = pictures.first, picture.pts == sample.pts else { return }
        givenPTS = picture.pts
        frames.append(picture)
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
        // libavcodec's frame threads take the number over only when they are made.
        context = try DecoderContext(
            track: track, threadCount: threadCount, reorderDelay: Int32(min(delay / step, Self.maximumReorderDelay)))
    }

    private func sendHeldSample(to frames: inout [VideoFrame]) throws(CodecError) {
        guard let first = firstSample else { return }
        firstSample = nil
        try send(first, to: &frames)
    }

    private func send(_ sample: MediaSample, to frames: inout [VideoFrame]) throws(CodecError) {
        context.setSkipsUnreferencedPictures(skipsUnreferencedPictures)
        try context.decode(sample) { frame throws(CodecError) in try take(frame, to: &frames) }
    }

    private func take(_ frame: UnsafeMutablePointer<AVFrame>, to frames: inout [VideoFrame]) throws(CodecError) {
        let picture = try makeFrame(from: frame, frameRate: context.frameRate)
        firstRefresh = nil
        defer { givenPTS = nil }
        guard picture.pts != givenPTS else { return }
        if deinterlaces, deinterlacer == nil, picture.isInterlaced {
            deinterlacer = try? Deinterlacer()
            // Without libavfilter they stay as they are.
            deinterlaces = deinterlacer != nil
        }
        if let deinterlacer { deinterlacer.filter(picture, to: &frames) } else { frames.append(picture) }
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

    /// Colours that the stream does not declare may come from the container.
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

    /// The container's word on the shape of a pixel, which counts more than the stream's.
    private var containerAspectRatio: AVRational? {
        guard let aspect = track.pixelAspectRatio, let width = Int32(exactly: aspect.horizontalSpacing),
            let height = Int32(exactly: aspect.verticalSpacing), width > 0, height > 0
        else { return nil }
        return AVRational(num: width, den: height)
    }

    /// The duration from the stream's frame rate; 0 if it declares none.
    private func declaredDuration(
        of frame: UnsafeMutablePointer<AVFrame>, at frameRate: DecoderContext.FrameRate?
    ) -> Int64 {
        guard let rate = frameRate else { return 0 }
        // `repeat_pict` counts the fields that are shown once more.
        let fieldCount = 2 + Int64(max(0, min(frame.pointee.repeat_pict, 8)))
        let duration = av_rescale(
            Int64(track.timescale) * fieldCount, Int64(rate.denominator), 2 * Int64(rate.numerator))
        return max(0, duration)
    }
}
