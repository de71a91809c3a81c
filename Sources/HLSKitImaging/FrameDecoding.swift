import HLSKitCodec
import HLSKitMedia
import HLSKitPlayback
import HLSKitTime

struct Frame: Sendable {
    var frame: VideoFrame
    var time: Duration
    var end: Duration { time + ItemTimeline.duration(max(frame.duration, 0), frame.timescale) }
}

enum FrameDecoding {
    static func single(_ sample: MediaSample, of track: MediaTrack, offset: Duration) throws(CodecError) -> Frame? {
        let decoder = try VideoDecoder(track: track.inTheClear, threadCount: 1)
        decoder.deinterlaces = true
        var frames: [VideoFrame] = []
        var failure: CodecError?
        do throws(CodecError) { try decoder.decode(sample, to: &frames) } catch { failure = error }
        do throws(CodecError) { try decoder.drain(to: &frames) } catch { failure = failure ?? error }
        guard let frame = frames.first else {
            if let failure { throw failure }
            return nil
        }
        return placedFrame(frame, offset)
    }

    /// Decodes the frames for the times of `requests`, in order: the last frame that is not later than the time, or else
    /// the very first. Calls `found` for each as soon as it is known.
    static func frames(
        of find: FrameFinder.Find, track: MediaTrack, offset: Duration,
        _ found: (RequestedImage, Frame) async throws -> Void
    ) async throws {
        let decoder = try VideoDecoder(track: track.inTheClear)
        decoder.deinterlaces = true
        var requests = find.requests[...]
        var last: Frame?
        var frames: [VideoFrame] = []
        var failure: CodecError?
        func pass() async throws {
            for frame in frames {
                let next = placedFrame(frame, offset)
                // Frames before the first sample depend on samples that were not provided.
                guard next.time >= find.start else { continue }
                while let request = requests.first, next.time > request.time {
                    try await found(request, last ?? next)
                    requests = requests.dropFirst()
                }
                last = next
            }
            frames = []
        }
        for placed in find.samples where !requests.isEmpty {
            do throws(CodecError) { try decoder.decode(placed.sample, to: &frames) } catch {
                failure = failure ?? error
            }
            try await pass()
        }
        if !requests.isEmpty {
            do throws(CodecError) { try decoder.drain(to: &frames) } catch { failure = failure ?? error }
            try await pass()
        }
        for request in requests {
            guard let last else { throw failure ?? CodecError.noFrame }
            try await found(request, last)
        }
    }

    private static func placedFrame(_ frame: VideoFrame, _ offset: Duration) -> Frame {
        let time = (ItemTimeline.duration(frame.pts, frame.timescale) + offset).roundedDownToNanoseconds
        return Frame(frame: frame.placed(at: MediaTime(time)), time: time)
    }
}

extension Duration {
    /// The duration rounded down to nanoseconds, as results report it.
    ///
    /// With this rounding, a request for a reported time returns the same frame instead of the previous one.
    var roundedDownToNanoseconds: Duration {
        let (seconds, attoseconds) = components
        // Round towards the past, including below zero.
        let rest = attoseconds % 1_000_000_000
        let down = rest < 0 ? rest + 1_000_000_000 : rest
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds - down)
    }
}

extension CodecError {
    static let noFrame = CodecError(
        call: "avcodec_receive_frame", code: invalidArgument, text: "no frame was decoded")
}

extension MediaTrack {
    var inTheClear: MediaTrack {
        var track = self
        track.encryption = nil
        return track
    }
}
