/// Information about a picture from the NAL units of its H.264 sample.
package enum H264Sample {
    /// Whether the picture is an instantaneous decoding refresh (ISO/IEC 14496-10 §3.69).
    ///
    /// Such a picture depends on no earlier picture, and no picture that follows it in decoding order is shown before
    /// it. Only the units before the first slice are examined.
    package static func isInstantaneousRefresh(_ sample: MediaSample, of track: MediaTrack) -> Bool {
        guard track.codec == .h264, sample.isSync else { return false }
        return firstSliceType(of: sample, in: track) == 5
    }

    /// The type of the first slice of an H.264 or HEVC sample, or nil if it has none.
    static func firstSliceType(of sample: MediaSample, in track: MediaTrack) -> UInt8? {
        let isHEVC = track.codec == .hevc
        return sample.data.withUnsafeBytes { bytes in
            if let lengthSize = track.nalUnitLengthSize {
                firstSliceType(in: bytes, lengthSize: lengthSize, isHEVC)
            } else {
                firstSliceType(in: bytes, isHEVC)
            }
        }
    }

    private static func sliceType(_ header: UInt8, _ isHEVC: Bool) -> UInt8? {
        let type = isHEVC ? header >> 1 & 0x3f : header & 0x1f
        return (isHEVC ? 0...31 : 1...5).contains(type) ? type : nil
    }

    private static func firstSliceType(in bytes: UnsafeRawBufferPointer, _ isHEVC: Bool) -> UInt8? {
        var at = NALUnits.startCode(in: bytes, from: 0)
        while let start = at, start + 3 < bytes.count {
            if let type = sliceType(bytes[start + 3], isHEVC) { return type }
            at = NALUnits.startCode(in: bytes, from: start + 3)
        }
        return nil
    }

    private static func firstSliceType(
        in bytes: UnsafeRawBufferPointer, lengthSize: Int, _ isHEVC: Bool
    ) -> UInt8? {
        var at = 0
        while at + lengthSize < bytes.count {
            var length = 0
            for offset in 0..<lengthSize { length = length << 8 | Int(bytes[at + offset]) }
            if let type = sliceType(bytes[at + lengthSize], isHEVC) { return type }
            at += lengthSize + length
        }
        return nil
    }
}

extension MediaTrack {
    /// The bytes of the length before each NAL unit of H.264 or HEVC, or nil if start codes separate them.
    package var nalUnitLengthSize: Int? {
        // avcC and hvcC begin with version 1. A configuration for byte streams begins with a start code.
        let at = codec == .hevc ? 21 : 4
        guard configuration.first == 1, configuration.count > at else { return nil }
        return Int(configuration[at] & 3) + 1
    }
}
