import HLSMedia
import HLSTime

/// The decoder of a track.
enum TrackDecoder {
    case video(VideoDecoder)
    case audio(AudioDecoder)

    /// nil for media that is not decoded.
    static func make(for track: MediaTrack, threadCount: Int) throws(CodecError) -> TrackDecoder? {
        switch track.mediaType {
        case .video: .video(try VideoDecoder(track: track, threadCount: threadCount))
        case .audio: .audio(try AudioDecoder(track: track))
        default: nil
        }
    }
}

/// What came out of a decoder, with its item time.
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
