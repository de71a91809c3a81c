import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import Synchronization

/// Writes frames as YUV4MPEG2: `-f y4m`.
///
/// 4:2:0, 4:2:2 and 4:4:4 with 8 or 10 bits are written unchanged. Other pixel formats and later sizes are converted.
/// The format has a frame rate but no timestamps, so frames have equal intervals.
///
/// Source: yuv4mpeg(5) of mjpegtools. The tags for 10 bits and for the range are FFmpeg's.
final class Y4MWriter: FrameWriter {
    private struct State: ~Copyable {
        let file: OutputFile
        let conformer: FrameConformer
        var hasHeader = false
    }

    private let frameRate: VideoFrame.Ratio?
    private let state: Mutex<State>

    /// - Parameter frameRate: The frames per second for the header. With `nil`, it is computed from the duration of the
    ///   first frame, or 25 without a duration.
    init(
        file: consuming sending OutputFile, frameRate: VideoFrame.Ratio? = nil, note: @escaping WriterNote = { _ in }
    ) {
        self.frameRate = frameRate
        state = Mutex(State(file: file, conformer: .planarYUV(note: note)))
    }

    var mediaTypes: Set<MediaKind> { [.video] }
    var isEmpty: Bool { state.withLock { !$0.hasHeader } }
    var isReadAsWritten: Bool { state.withLock { !$0.file.isSeekable } }

    func begin(_ tracks: [MediaTrack]) {}

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            let frame = try state.file.converting { () throws(CodecError) in try state.conformer.conform(frame) }
            if !state.hasHeader {
                try state.file.write(Array(header(for: frame).utf8))
                state.hasHeader = true
            }
            try state.file.write(Array("FRAME\n".utf8))
            try state.file.write(frame: frame)
        }
    }

    func flush() throws(HLSError) {
        try state.withLock { state throws(HLSError) in try state.file.flush() }
    }

    func finish() throws(HLSError) {
        try state.withLock { state throws(HLSError) in try state.file.finish(keeping: state.hasHeader) }
    }

    private func header(for frame: VideoFrame) -> String {
        let rate = frameRate ?? Self.nominalFrameRate(duration: frame.duration, timescale: frame.timescale)
        let aspect = frame.sampleAspectRatio ?? VideoFrame.Ratio(numerator: 0, denominator: 0)
        let isFullRange = frame.pixelFormatName.hasPrefix("yuvj") ? true : frame.colorTags.isFullRange
        let range =
            switch isFullRange {
            case true?: " XCOLORRANGE=FULL"
            case false?: " XCOLORRANGE=LIMITED"
            case nil: ""
            }
        return "YUV4MPEG2 W\(frame.width) H\(frame.height) F\(rate.numerator):\(rate.denominator) Ip "
            + "A\(aspect.numerator):\(aspect.denominator) \(Self.colorSpaceTag(for: frame))\(range)\n"
    }

    private static func colorSpaceTag(for frame: VideoFrame) -> String {
        switch frame.pixelFormatName {
        case "yuv422p", "yuvj422p": return "C422 XYSCSS=422"
        case "yuv444p", "yuvj444p": return "C444 XYSCSS=444"
        case "yuv420p10le": return "C420p10 XYSCSS=420P10"
        case "yuv422p10le": return "C422p10 XYSCSS=422P10"
        case "yuv444p10le": return "C444p10 XYSCSS=444P10"
        default: break
        }
        // The position of the chroma samples: between the rows at the left, at the top left, or (unknown) in the
        // centre.
        return switch frame.colorTags.chromaLocation {
        case 0: "C420mpeg2 XYSCSS=420MPEG2"
        case 2: "C420paldv XYSCSS=420PALDV"
        default: "C420jpeg XYSCSS=420JPEG"
        }
    }

    /// Returns the standard frame rate whose period, rounded to the timescale, is closest to `duration`.
    static func nominalFrameRate(duration: Int64, timescale: Int32) -> VideoFrame.Ratio {
        let fallback = VideoFrame.Ratio(numerator: 25, denominator: 1)
        guard duration > 0, timescale > 0 else { return fallback }
        let usual: [(Int, Int)] = [
            (24, 1), (25, 1), (30, 1), (24000, 1001), (30000, 1001), (50, 1), (60, 1), (48, 1), (60000, 1001),
            (12, 1), (15, 1), (10, 1), (100, 1), (120, 1), (120_000, 1001),
        ]
        func distance(_ rate: (Int, Int)) -> Double {
            abs(Double(timescale) * Double(rate.1) / Double(rate.0) - Double(duration))
        }
        if let best = usual.min(by: { distance($0) < distance($1) }), distance(best) < 1,
            distance(best) < Double(duration) / 20  // rounding and no more
        {
            return VideoFrame.Ratio(numerator: best.0, denominator: best.1)
        }
        var (a, b) = (Int64(timescale), duration)
        while b != 0 { (a, b) = (b, a % b) }
        guard let denominator = Int(exactly: duration / a) else { return fallback }
        return VideoFrame.Ratio(numerator: Int(timescale) / Int(a), denominator: denominator)
    }
}
