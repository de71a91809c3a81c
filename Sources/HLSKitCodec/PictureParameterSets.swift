package import HLSKitMedia

package enum PictureParameterSets {
    package static func areInBand(_ track: MediaTrack) -> Bool {
        track.configuration.isEmpty && types(track.codec) != nil
    }

    /// Whether samples of the track contain the parameter sets for a decoder, but this one does not.
    package static func areMissing(in sample: MediaSample, of track: MediaTrack) -> Bool {
        guard areInBand(track) else { return false }
        return copy(of: sample, track.codec).isEmpty
    }

    /// Returns the parameter sets of a sample with their start codes, or no bytes if there are none. This examines only
    /// the units before the first slice.
    package static func copy(of sample: MediaSample, _ codec: MediaCodec) -> [UInt8] {
        guard let (wanted, slices, number) = types(codec) else { return [] }
        return sample.data.withUnsafeBytes { bytes in
            var sets: [UInt8] = []
            var at = NALUnits.startCode(in: bytes, from: 0)
            while let start = at {
                guard start + 3 < bytes.count, !slices.contains(number(bytes[start + 3])) else { break }
                let next = NALUnits.startCode(in: bytes, from: start + 3)
                let end = next ?? bytes.count
                if wanted.contains(number(bytes[start + 3])) {
                    sets += [0]
                    sets += bytes[start..<end]
                }
                at = next
            }
            return sets
        }
    }

    /// Returns the parameter sets of a sample with start codes, which the sample itself may lack.
    package static func copy(of sample: MediaSample, in track: MediaTrack) -> [UInt8] {
        guard let lengthSize = track.nalUnitLengthSize, let (wanted, slices, number) = types(track.codec) else {
            return copy(of: sample, track.codec)
        }
        return sample.data.withUnsafeBytes { bytes in
            var sets: [UInt8] = []
            var at = 0
            while at + lengthSize < bytes.count {
                let length = (0..<lengthSize).reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
                at += lengthSize
                guard length > 0, length <= bytes.count - at, !slices.contains(number(bytes[at])) else { break }
                if wanted.contains(number(bytes[at])) { sets += [0, 0, 0, 1] + bytes[at..<at + length] }
                at += length
            }
            return sets
        }
    }

    package static func prepend(_ sets: [UInt8], to sample: MediaSample) -> MediaSample {
        guard !sets.isEmpty else { return sample }
        var sample = sample
        sample.data = SampleData(sets + sample.data.withUnsafeBytes { Array($0) })
        return sample
    }

    /// The types of parameter sets and of slices, and the position of the type in a unit's header.
    ///
    /// Source: ISO/IEC 14496-10 table 7-1, 23008-2 table 7-1.
    private static func types(
        _ codec: MediaCodec
    ) -> (sets: ClosedRange<UInt8>, slices: ClosedRange<UInt8>, number: @Sendable (UInt8) -> UInt8)? {
        switch codec {
        case .h264: (7...8, 1...5, { $0 & 0x1f })
        case .hevc: (32...34, 0...31, { ($0 >> 1) & 0x3f })
        default: nil
        }
    }
}
