extension MediaTrack {
    /// Adopts the properties that a sequence parameter set of H.264 or HEVC declares.
    ///
    /// - Parameter unit: The unit from its header byte on, including emulation prevention.
    /// - Returns: The duration of a frame, if declared.
    /// - Throws: `malformed` if the set cannot be read. The track does not change in that case.
    mutating func describe(
        by unit: some Collection<UInt8>
    ) throws(MediaError) -> VideoUsabilityInfo.FrameDuration? {
        let usability: VideoUsabilityInfo
        if codec == .hevc {
            let set = try HEVCSPS(parsing: unit)
            (width, height, usability) = (set.width, set.height, set.usability)
        } else {
            let set = try H264SPS(parsing: unit)
            (width, height, usability) = (set.width, set.height, set.usability)
            fieldCount = set.isFramesOnly ? 1 : 2
        }
        let ratio = usability.sampleAspectRatio
        pixelAspectRatio =
            ratio.width == ratio.height
            ? nil : PixelAspectRatio(horizontalSpacing: ratio.width, verticalSpacing: ratio.height)
        colorInformation = usability.colorInformation
        return usability.frameDuration
    }

    /// Adopts the HDR grading that the messages of an access unit declare. This examines the units before the first
    /// slice.
    ///
    /// Source: ISO/IEC 23008-2 §D.2.28 and §D.2.35, ISO/IEC 14496-10 §D.1.29 and §D.1.31.
    mutating func describeLight(byMessagesIn bytes: UnsafeRawBufferPointer) {
        var at = NALUnits.startCode(in: bytes, from: 0)
        while let start = at {
            let header = start + 3
            guard header + 2 < bytes.count else { return }
            let type = codec == .hevc ? bytes[header] >> 1 & 0x3f : bytes[header] & 0x1f
            if codec == .hevc ? type < 32 : (1...5).contains(type) { return }
            let next = NALUnits.startCode(in: bytes, from: header)
            at = next
            guard type == (codec == .hevc ? 39 : 6) else { continue }
            // These messages are short, and others may be long.
            let (first, end) = (header + (codec == .hevc ? 2 : 1), min(next ?? bytes.count, header + 4096))
            guard first < end else { continue }
            let unit = bytes[first..<end]
            for (number, message) in NALUnits.messages(inSEI: NALUnits.rawPayload(of: unit)[...]) {
                let reader = BoxReader(message, offset: 0)
                switch number {
                case 137:
                    if let volume = try? MasteringDisplayColorVolume(parsing: reader) {
                        masteringDisplayColorVolume = volume
                    }
                case 144:
                    if let light = try? ContentLightLevelInfo(parsing: reader) { contentLightLevelInfo = light }
                default: break
                }
            }
        }
    }

    /// The track with the properties of parameter sets with start codes. A configuration of H.264 (`avcC`) then contains
    /// these sets.
    ///
    /// The result is nil if the sets contain no readable sequence parameter set.
    package func described(by sets: [UInt8]) -> MediaTrack? {
        sets.withUnsafeBytes { bytes in
            var at = NALUnits.startCode(in: bytes, from: 0)
            while let start = at {
                let next = NALUnits.startCode(in: bytes, from: start + 3)
                let unit = bytes[start + 3..<(next ?? bytes.count)]
                at = next
                guard let header = unit.first else { continue }
                guard codec == .hevc ? header >> 1 & 0x3f == 33 : header & 0x1f == 7 else { continue }
                var track = self
                do throws(MediaError) {
                    _ = try track.describe(by: Array(unit))
                    if codec == .h264, let lengthSize = nalUnitLengthSize,
                        let record = ParameterSetRecord.configuration(of: bytes, lengthSize: lengthSize)
                    {
                        track.configuration = record
                    }
                    return track
                } catch {
                    continue
                }
            }
            return nil
        }
    }
}
