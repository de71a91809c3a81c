extension MediaCodec {
    /// CEA-608 captions in a separate track.
    public static let cea608 = MediaCodec(rawValue: "cea608")
    /// CEA-708 captions in a separate track.
    public static let cea708 = MediaCodec(rawValue: "cea708")

    /// Returns the codec and media kind of a sample entry's four-character code, or nil if unknown.
    ///
    /// `mp4a` is treated as AAC because only its `esds` box or the parameters of a codec string are more specific. The
    /// same applies to the width and byte order of PCM.
    static func named(sampleEntry: String) -> (codec: MediaCodec, mediaType: MediaKind)? {
        sampleEntries[sampleEntry]
    }

    /// Source: the MP4 registration authority's list of codecs (mp4ra.org) and RFC 6381 §3.
    private static let sampleEntries: [String: (codec: MediaCodec, mediaType: MediaKind)] = [
        "avc1": (.h264, .video), "avc2": (.h264, .video), "avc3": (.h264, .video), "avc4": (.h264, .video),
        "hvc1": (.hevc, .video), "hev1": (.hevc, .video),
        // Dolby Vision, with the codec of its base layer.
        "dvh1": (.hevc, .video), "dvhe": (.hevc, .video), "dva1": (.h264, .video), "dvav": (.h264, .video),
        "dav1": (.av1, .video),
        "av01": (.av1, .video), "vp09": (.vp9, .video),
        "mp4a": (.aac, .audio), ".mp3": (.mp3, .audio), "mp3 ": (.mp3, .audio),
        "ac-3": (.ac3, .audio), "ec-3": (.eac3, .audio), "ec+3": (.eac3, .audio),
        "Opus": (.opus, .audio), "opus": (.opus, .audio), "fLaC": (.flac, .audio), "flac": (.flac, .audio),
        "alac": (.alac, .audio),
        "dtsc": (.dts, .audio), "dtsh": (.dts, .audio), "dtsl": (.dts, .audio), "dtse": (.dts, .audio),
        "ipcm": (.pcmS16LE, .audio), "fpcm": (.pcmF32LE, .audio), "lpcm": (.pcmS16LE, .audio),
        "sowt": (.pcmS16LE, .audio), "twos": (.pcmS16BE, .audio), "raw ": (.pcmU8, .audio), "NONE": (.pcmU8, .audio),
        "in24": (.pcmS24BE, .audio), "in32": (.pcmS32BE, .audio), "fl32": (.pcmF32BE, .audio),
        "fl64": (.pcmF64BE, .audio), "ulaw": (.pcmMuLaw, .audio), "alaw": (.pcmALaw, .audio),
        "mp4v": (.mpeg4Video, .video), "jpeg": (.jpeg, .video), "mjpa": (.jpeg, .video),
        // I-frame playlists of JPEG images.
        "mjpg": (.jpeg, .video),
        "wvtt": (.webVTT, .text), "stpp": (.ttml, .text), "c608": (.cea608, .text), "c708": (.cea708, .text),
        "tx3g": (.tx3g, .text), "text": (.quickTimeText, .text),
    ]
}
