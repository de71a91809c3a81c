/// Silent audio for a separate rendition: AAC with one channel.
extension SyntheticMedia {
    static let audioCodec = "mp4a.40.2"
    private static let sampleRate = 48_000
    private static let frameLength = 1024
    // One channel without any spectral band, and the end (ISO/IEC 14496-3 §4.4.2).
    private static let silence: [UInt8] = [0, 0, 0, 7]

    static let audioInitializationSection: [UInt8] = {
        // AAC LC, 48 kHz, one channel (ISO/IEC 14496-3 §1.6.2).
        let decoder: [UInt8] = [0x04, 17, 0x40, 0x15] + zeros(11) + [0x05, 2, 0x11, 0x88]
        let descriptor: [UInt8] = [0x03, 25] + zeros(3) + decoder + [0x06, 1, 2]
        let entry = box(
            "mp4a", zeros(6), be16(1), zeros(8), be16(1), be16(16), zeros(4), be32(sampleRate << 16),
            fullBox("esds", descriptor))
        return initializationSection(
            "soun", entry, header: fullBox("smhd", zeros(4)), timescale: sampleRate, volume: 0x100)
    }()

    /// Creates the frames that begin in a part. All parts have the same size.
    static func audioSegment(_ index: Int, duration: Duration) -> [UInt8] {
        let length = Int((duration * sampleRate / .seconds(1)).rounded())
        func first(_ index: Int) -> Int { (index * length + frameLength - 1) / frameLength }
        let frames = first(index)..<first(index + 1)
        let headerCount = 8 + 16 + 8 + 20 + 20 + 20 + 4 * frames.count + 8
        var run: [UInt8] = be32(frames.count) + be32(headerCount)
        for _ in frames { run += be32(silence.count) }
        let segment = box(
            "moof", fullBox("mfhd", be32(index + 1)),
            box(
                "traf", fullBox("tfhd", flags: 0x20008, be32(1), be32(frameLength)),
                fullBox("tfdt", version: 1, be64(frames.lowerBound * frameLength)),
                fullBox("trun", flags: 0x201, run)))
        let missing = length / frameLength + 1 - frames.count
        return segment + box("mdat", frames.flatMap { _ in silence })
            + box("free", zeros(max(0, missing) * (4 + silence.count)))
    }
}
