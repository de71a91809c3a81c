/// The header of an audio frame, or of an ID3 tag, regardless of the format.
package struct AudioFrameHeader: Sendable, Hashable {
    package var codec: MediaCodec
    package var byteCount: Int
    package var strippedByteCount = 0
    /// Samples per channel. It is 0 if only the payload declares them (LATM) or the frame takes no time (ID3).
    package var sampleCount: Int
    /// Samples per second. This and ``channelCount`` are 0 if only the payload declares them.
    package var sampleRate: Int
    package var channelCount: Int
    /// Whether the frame belongs to the access unit of the previous frame (E-AC-3 dependent and additional substreams).
    package var isContinuation = false
    package var mayContinue = false
}

/// The formats whose frames declare their own length.
package enum AudioFraming: Sendable, Hashable, CaseIterable {
    case adts, mpegAudio, ac3, loas, id3, dts

    /// The actual formats of streams that are declared to have another one, the most reliable first.
    static let declaredWrongly: [AudioFraming] = [.ac3, .dts, .adts, .loas, .mpegAudio]

    package var headerByteCount: Int {
        switch self {
        case .adts: ADTSHeader.byteCount
        case .mpegAudio: 4
        case .ac3: AC3Header.byteCount
        case .loas: 3
        case .id3: ID3Tag.headerByteCount
        case .dts: DTSHeader.byteCount
        }
    }

    /// The codec before the first header. A header may indicate another one (E-AC-3, layer 2).
    package var codec: MediaCodec {
        switch self {
        case .adts: .aac
        case .mpegAudio: .mp3
        case .ac3: .ac3
        case .loas: .aacLATM
        case .id3: .id3
        case .dts: .dts
        }
    }

    package func header(at offset: Int, in bytes: [UInt8]) -> AudioFrameHeader? {
        guard offset >= 0, offset <= bytes.count - headerByteCount else { return nil }
        let head = bytes[offset..<offset + headerByteCount]
        switch self {
        case .adts: return ADTSHeader(parsing: head)?.frame
        case .mpegAudio: return MPEGAudioHeader(parsing: head)?.frame
        case .ac3: return AC3Header(parsing: head)?.frame
        case .dts: return DTSHeader(parsing: head)?.frame
        case .loas:
            // ISO/IEC 14496-3 §1.7.2: AudioSyncStream. libavcodec's decoder needs its header.
            let word = head.reduce(0) { $0 << 8 | Int($1) }
            guard word >> 13 == 0x2b7, word & 0x1fff > 0 else { return nil }
            return AudioFrameHeader(
                codec: .aacLATM, byteCount: 3 + (word & 0x1fff), sampleCount: 0, sampleRate: 0, channelCount: 0)
        case .id3:
            guard let byteCount = ID3Tag.byteCount(ofTagWithHeader: head) else { return nil }
            return AudioFrameHeader(
                codec: .id3, byteCount: byteCount, sampleCount: 0, sampleRate: 0, channelCount: 0)
        }
    }
}
