import CLibAV
package import HLSKitMedia

/// The coding formats that the libraries of this machine can decode.
package enum CodecRegistry {
    /// Whether a track of `codec` can be decoded. This is only a lookup in libavcodec's table.
    package static func canDecode(_ codec: MediaCodec) -> Bool { decoder(for: codec) != nil }

    /// libavcodec's decoders for each format, the preferred one first.
    ///
    /// Names identify them, not numbers. For AV1, the number may select a decoder that needs a hardware accelerator.
    /// For MPEG audio and AC-3, it may select an integer decoder, although `ffmpeg` uses the floating-point one.
    private static let decoderNames: [MediaCodec: [String]] = [
        .h264: ["h264"],
        .hevc: ["hevc"],
        .av1: ["libdav1d", "libaom-av1"],
        .vp9: ["vp9", "libvpx-vp9"],
        .aac: ["aac"],
        .aacLATM: ["aac_latm"],
        .mp2: ["mp2", "mp2float"],
        .mp3: ["mp3float", "mp3"],
        .ac3: ["ac3", "ac3_fixed"],
        .eac3: ["eac3"],
        .opus: ["opus", "libopus"],
        .flac: ["flac"],
        .alac: ["alac"],
        .xheAAC: ["aac"],
        .dts: ["dca"],
        .mpeg1Video: ["mpeg1video"],
        .mpeg2Video: ["mpeg2video"],
        .mpeg4Video: ["mpeg4"],
        .jpeg: ["mjpeg"],
    ]

    /// FFmpeg 7.1, the first version whose AAC decoder supports USAC.
    private static let firstVersionWithUSAC: UInt32 = 61 << 16 | 19 << 8

    static func decoder(for codec: MediaCodec) -> UnsafePointer<AVCodec>? {
        if codec == .xheAAC, avcodec_version() < firstVersionWithUSAC { return nil }
        // PCM formats have the names of their decoders.
        for name in codec.pcmByteCount == nil ? decoderNames[codec] ?? [] : [codec.rawValue] {
            if let decoder = avcodec_find_decoder_by_name(name) { return decoder }
        }
        return nil
    }

    /// The format for one of libavcodec's numbers, or nil if it is not one of ``MediaCodec``.
    static func codec(of identifier: AVCodecID) -> MediaCodec? {
        (decoderNames.keys + MediaCodec.pcmForms).first { $0 != .xheAAC && Self.identifier(of: $0) == identifier }
    }

    static func identifier(of codec: MediaCodec) -> AVCodecID? {
        switch codec {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        case .av1: AV_CODEC_ID_AV1
        case .vp9: AV_CODEC_ID_VP9
        case .aac: AV_CODEC_ID_AAC
        case .aacLATM: AV_CODEC_ID_AAC_LATM
        case .mp2: AV_CODEC_ID_MP2
        case .mp3: AV_CODEC_ID_MP3
        case .ac3: AV_CODEC_ID_AC3
        case .eac3: AV_CODEC_ID_EAC3
        case .opus: AV_CODEC_ID_OPUS
        case .flac: AV_CODEC_ID_FLAC
        case .alac: AV_CODEC_ID_ALAC
        case .xheAAC: AV_CODEC_ID_AAC
        case .dts: AV_CODEC_ID_DTS
        case .mpeg1Video: AV_CODEC_ID_MPEG1VIDEO
        case .mpeg2Video: AV_CODEC_ID_MPEG2VIDEO
        case .mpeg4Video: AV_CODEC_ID_MPEG4
        case .jpeg: AV_CODEC_ID_MJPEG
        default: codec.pcmByteCount == nil ? nil : decoder(for: codec)?.pointee.id
        }
    }
}
