package import HLSKitMedia

extension Remuxer {
    package enum Container: Sendable, Hashable {
        case ts, mp4, mkv
        /// Plain frames of AAC (ISO/IEC 14496-3, 1.A.2.2) and of MP3.
        case adts, mp3

        package var holdsAudioOnly: Bool { self == .adts || self == .mp3 }

        /// Whether the same file continues when tracks change.
        var joinsChanges: Bool { self == .ts || holdsAudioOnly }

        var muxerName: String {
            switch self {
            case .ts: "mpegts"
            case .mp4: "mp4"
            case .mkv: "matroska"
            case .adts: "adts"
            case .mp3: "mp3"
            }
        }
    }
}

extension Remuxer {
    /// Returns `a.2.mp4` for `a.mp4` and 2.
    package static func numbered(_ path: String, _ number: Int) -> String {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: "."), dot > name else { return "\(path).\(number)" }
        return "\(path[..<dot]).\(number)\(path[dot...])"
    }
}

extension Remuxer.Container {
    package func holds(_ codec: MediaCodec) -> Bool {
        if holdsAudioOnly { return codec == (self == .adts ? .aac : .mp3) }
        let everywhere: Set<MediaCodec> = [
            .h264, .hevc, .aac, .mp2, .mp3, .ac3, .eac3, .opus, .dts, .mpeg1Video, .mpeg2Video, .mpeg4Video,
        ]
        let further: Set<MediaCodec> =
            switch self {
            case .ts: [.aacLATM]
            case .adts, .mp3: []
            case .mp4, .mkv: [.av1, .vp9, .flac, .alac, .jpeg, .webVTT]
            }
        // Matroska does not define the other forms of PCM.
        let pcm: Set<MediaCodec> = [
            .pcmU8, .pcmS16LE, .pcmS16BE, .pcmS24LE, .pcmS24BE, .pcmS32LE, .pcmS32BE, .pcmF32LE, .pcmF64LE, .pcmALaw,
            .pcmMuLaw,
        ]
        if self == .mkv, pcm.contains(codec) { return true }
        return everywhere.contains(codec) || further.contains(codec)
    }

    /// Whether all information for the container's header is known.
    func isComplete(_ track: MediaTrack) -> Bool {
        switch track.mediaType {
        case .audio:
            track.sampleRate > 0
                && (track.codec != .aac || !track.configuration.isEmpty && !track.awaitsChannels)
        case .text: true
        default: self == .ts || (track.width > 0 && !needsConfiguration(track))
        }
    }

    /// Whether the container's header needs parameter sets that a transport stream has in its samples.
    func needsConfiguration(_ track: MediaTrack) -> Bool {
        self != .ts && track.configuration.isEmpty && [.h264, .hevc, .mpeg4Video].contains(track.codec)
    }

    /// Whether `new` can continue in the stream of `old`. Demuxers announce a track before they have read its samples,
    /// so unknown properties of `new` always match. Unknown properties of `old` match for audio before the header is
    /// written, and for sizes.
    func isSameStream(_ new: MediaTrack, _ old: MediaTrack, hasHeader: Bool) -> Bool {
        func agree<Value: Equatable>(_ field: KeyPath<MediaTrack, Value>, unknown: Value) -> Bool {
            let (newValue, oldValue) = (new[keyPath: field], old[keyPath: field])
            return newValue == oldValue || newValue == unknown
                || (oldValue == unknown && !hasHeader && new.mediaType == .audio)
        }
        // A transport stream uses start codes and MP4 lengths. libavformat decides at the start of a stream whether to
        // convert.
        if self == .ts, new.hasLengthPrefixes != old.hasLengthPrefixes { return false }
        return new.codec == old.codec && agree(\.configuration, unknown: []) && agree(\.sampleRate, unknown: 0)
            && agree(\.channelCount, unknown: 0)
            && (old.width == 0 || (agree(\.width, unknown: 0) && agree(\.height, unknown: 0)))
    }
}

extension MediaTrack {
    /// Whether samples contain units with length prefixes, as in MP4 (ISO/IEC 14496-15), instead of start codes.
    fileprivate var hasLengthPrefixes: Bool { [.h264, .hevc].contains(codec) && configuration.first == 1 }

    var isDescribedBySamples: Bool { mediaType == .video && sampleEntry.isEmpty && configuration.isEmpty }

    func completed(by other: MediaTrack) -> MediaTrack {
        var track = self
        if track.configuration.isEmpty { track.configuration = other.configuration }
        if track.sampleRate == 0 { track.sampleRate = other.sampleRate }
        if track.channelCount == 0 { track.channelCount = other.channelCount }
        if track.width == 0 { (track.width, track.height) = (other.width, other.height) }
        return track
    }
}
