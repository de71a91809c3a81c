/// Information about a picture from the NAL units of its H.264 sample.
package enum H264Sample {
    /// Whether the picture is an instantaneous decoding refresh (ISO/IEC 14496-10 §3.69).
    ///
    /// Such a picture depends on no earlier picture, and no picture that follows it in decoding order is shown before
    /// it. Only the units before the first slice are examined.
    package static func isInstantaneousRefresh(_ sample: MediaSample, of track: MediaTrack) -> Bool {
        guard track.codec == .h264, sample.isSync else { return false }
        return sample.data.withUnsafeBytes { bytes in
            let type =
                if let lengthSize = track.nalUnitLengthSize {
                    firstSliceType(in: bytes, lengthSize: lengthSize)
                } else {
                    firstSliceType(in: bytes)
                }
            return type == 5
        }
    }

    private static func isSlice(_ type: UInt8) -> Bool { (1...5).contains(type) }

    private static func firstSliceType(in bytes: UnsafeRawBufferPointer) -> UInt8? {
        var at = NALUnits.startCode(in: bytes, from: 0)
        while let start = at, start + 3 < bytes.count {
            let type = bytes[start + 3] & 0x1f
            if isSlice(type) { return type }
            at = NALUnits.startCode(in: bytes, from: start + 3)
        }
        return nil
    }

    private static func firstSliceType(in bytes: UnsafeRawBufferPointer, lengthSize: Int) -> UInt8? {
        var at = 0
        while at + lengthSize < bytes.count {
            var length = 0
            for offset in 0..<lengthSize { length = length << 8 | Int(bytes[at + offset]) }
            let type = bytes[at + lengthSize] & 0x1f
            if isSlice(type) { return type }
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
