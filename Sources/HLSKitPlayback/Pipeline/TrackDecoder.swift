import HLSKitCodec
import HLSKitMedia
import HLSKitTime

/// The interface between a renderer and the decoder of a video track.
protocol VideoDecoding: AnyObject {
    var skipsUnreferencedFrames: Bool { get set }
    var hasFirstFrame: Bool { get }
    func decode(_ sample: MediaSample, to frames: inout [VideoFrame]) throws(CodecError)
    func drain(to frames: inout [VideoFrame]) throws(CodecError)
    func decodeFirstFrame(to frames: inout [VideoFrame])
}

extension VideoDecoder: VideoDecoding {}

enum TrackDecoder {
    case video(any VideoDecoding)
    case audio(AudioDecoder)

    typealias Maker = @Sendable (MediaTrack, _ threadCount: Int) throws(CodecError) -> TrackDecoder?

    static let libavcodec: Maker = { track, threadCount throws(CodecError) in
        try make(for: track, threadCount: threadCount)
    }

    /// Returns `nil` for media that is not decoded.
    private static func make(for track: MediaTrack, threadCount: Int) throws(CodecError) -> TrackDecoder? {
        switch track.mediaType {
        case .video: .video(try VideoDecoder(track: track, threadCount: threadCount))
        case .audio: .audio(try AudioDecoder(track: track))
        default: nil
        }
    }
}

struct DecodedMedia {
    enum Content {
        case video(VideoFrame)
        case audio(AudioBuffer)

        func placed(at itemTime: MediaTime) -> Content {
            switch self {
            case .video(let frame): .video(frame.placed(at: itemTime))
            case .audio(let buffer): .audio(buffer.placed(at: itemTime))
            }
        }
    }

    var content: Content
    var time: Duration
    var length: Duration

    var isAudio: Bool {
        if case .audio = content { true } else { false }
    }
}
