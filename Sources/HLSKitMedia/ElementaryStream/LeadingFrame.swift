/// Frames that follow a sync frame in decoding order, are shown before it, and may depend on frames before it.
package enum LeadingFrame {
    /// Whether such frames may follow a sync frame.
    ///
    /// Source: ISO/IEC 14496-10 §3.69, ISO/IEC 23008-2 table 7-1, ISO/IEC 13818-2 §6.3.8.
    package static func mayFollow(_ sync: MediaSample, of track: MediaTrack) -> Bool {
        switch track.codec {
        case .h264: !H264Sample.isInstantaneousRefresh(sync, of: track)
        case .hevc: true
        case .mpeg1Video, .mpeg2Video: sync.data.withUnsafeBytes(beginsOpenGroup)
        default: false
        }
    }

    /// Whether a frame that is shown before the sync frame depends on frames before that one. In HEVC, its type shows
    /// this (RASL).
    package static func isSkipped(_ sample: MediaSample, of track: MediaTrack) -> Bool {
        guard track.codec == .hevc else { return true }
        return H264Sample.firstSliceType(of: sample, in: track).map { (8...9).contains($0) } ?? false
    }

    /// Whether the header of a group of pictures does not declare that the group is closed.
    private static func beginsOpenGroup(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var at = NALUnits.startCode(in: bytes, from: 0)
        while let start = at, start + 7 < bytes.count {
            // The flag follows the 25 bits of a time code.
            if bytes[start + 3] == 0xb8 { return bytes[start + 7] & 0x40 == 0 }
            at = NALUnits.startCode(in: bytes, from: start + 3)
        }
        return false
    }
}
