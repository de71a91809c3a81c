/// The media of ``SyntheticStream``: one repeated key frame with filler data (ISO/IEC 14496-10 §7.4.2.7).
enum SyntheticMedia {
    static let codec = "avc1.42C00A"
    static let resolution = "64x36"
    private static let framesPerSecond = 25
    private static let timescale = 90_000

    // 64x36 grey, baseline profile, as x264 has written it.
    private static let sequenceParameterSet: [UInt8] = [
        0x67, 0x42, 0xC0, 0x0A, 0xA6, 0x11, 0x11, 0xFE, 0x7C, 0x04, 0x40, 0x00, 0x00, 0x03, 0x00, 0x40, 0x00, 0x00,
        0x0C,
        0x83, 0xC4, 0x89, 0x84, 0x60,
    ]
    private static let pictureParameterSet: [UInt8] = [0x68, 0xC8, 0x42, 0x0F, 0x2C, 0x80]
    private static let frameBytes: [UInt8] = [
        0x65, 0x88, 0x82, 0x05, 0x79, 0x31, 0x40, 0x00, 0xBD, 0xF7, 0xDF, 0x5D, 0x75, 0xD7, 0x5D, 0x75, 0xD7, 0x80,
    ]

    static let initializationSection: [UInt8] = {
        let configuration = box(
            "avcC", [1, 0x42, 0xC0, 0x0A, 0xFF, 0xE1], be16(sequenceParameterSet.count), sequenceParameterSet, [1],
            be16(pictureParameterSet.count), pictureParameterSet)
        let entry = box(
            "avc1", zeros(6), be16(1), zeros(16), be16(64), be16(36), be32(0x48_0000), be32(0x48_0000), zeros(4),
            be16(1),
            zeros(32), be16(24), [0xFF, 0xFF], configuration)
        return initializationSection(
            "vide", entry, header: fullBox("vmhd", flags: 1, zeros(8)), timescale: timescale, size: (64, 36))
    }()

    /// Creates the header of a movie with one track and fragmented samples.
    ///
    /// - Parameters:
    ///   - volume: 0x100 for audio.
    static func initializationSection(
        _ handler: String, _ entry: [UInt8], header: [UInt8], timescale: Int, volume: Int = 0,
        size: (width: Int, height: Int) = (0, 0)
    ) -> [UInt8] {
        let empty =
            fullBox("stts", be32(0)) + fullBox("stsc", be32(0)) + fullBox("stsz", zeros(8)) + fullBox("stco", be32(0))
        let information = box(
            "minf", header, box("dinf", fullBox("dref", be32(1), fullBox("url ", flags: 1))),
            box("stbl", fullBox("stsd", be32(1), entry), empty))
        let media = box(
            "mdia", fullBox("mdhd", zeros(8), be32(timescale), zeros(4), be16(0x55C4), zeros(2)),
            fullBox("hdlr", zeros(4), Array(handler.utf8), zeros(13)), information)
        let track = box(
            "trak",
            fullBox(
                "tkhd", flags: 3, zeros(8), be32(1), zeros(20), be16(volume), zeros(2), matrix, be32(size.width << 16),
                be32(size.height << 16)), media)
        let movie = box(
            "moov",
            fullBox(
                "mvhd", zeros(8), be32(timescale), zeros(4), be32(0x10000), be16(0x100), zeros(10), matrix, zeros(24),
                be32(2)),
            track, box("mvex", fullBox("trex", be32(1), be32(1), zeros(12))))
        return box("ftyp", Array("iso6".utf8), zeros(4), Array("iso6".utf8)) + movie
    }

    private static let matrix = be32(0x10000) + zeros(12) + be32(0x10000) + zeros(12) + be32(0x4000_0000)

    /// Creates a segment of `byteCount` bytes, or slightly more if its frames do not fit.
    static func segment(_ index: Int, duration: Duration, byteCount: Int) -> [UInt8] {
        let length = Int((duration * timescale / .seconds(1)).rounded())
        let frameCount = max(1, length * framesPerSecond / timescale)
        let headerCount = 8 + 16 + 8 + 16 + 20 + 20 + 8 * frameCount + 8
        // A length, the frame, a length, and filler data of at least its two bytes.
        let smallest = 4 + frameBytes.count + 4 + 2
        let mediaCount = max(byteCount - headerCount, smallest * frameCount)
        func share(_ whole: Int, _ frame: Int) -> Int { whole * (frame + 1) / frameCount - whole * frame / frameCount }

        var run: [UInt8] = be32(frameCount) + be32(headerCount)
        for frame in 0..<frameCount { run += be32(share(length, frame)) + be32(share(mediaCount, frame)) }
        var segment = box(
            "moof", fullBox("mfhd", be32(index + 1)),
            box(
                "traf", fullBox("tfhd", flags: 0x20000, be32(1)), fullBox("tfdt", version: 1, be64(index * length)),
                fullBox("trun", flags: 0x301, run)))
        segment += be32(8 + mediaCount) + Array("mdat".utf8)
        var place = segment.count
        segment += [UInt8](repeating: 0xFF, count: mediaCount)
        for frame in 0..<frameCount {
            let end = place + share(mediaCount, frame)
            let filler = end - place - 4 - frameBytes.count - 4
            let head = be32(frameBytes.count) + frameBytes + be32(filler) + [0x0C]
            segment.replaceSubrange(place..<place + head.count, with: head)
            segment[end - 1] = 0x80
            place = end
        }
        return segment
    }

    // MARK: Boxes

    static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let payload = parts.flatMap { $0 }
        return be32(8 + payload.count) + Array(type.utf8) + payload
    }

    static func fullBox(_ type: String, version: UInt8 = 0, flags: Int = 0, _ parts: [UInt8]...) -> [UInt8] {
        box(type, [version] + be32(flags).dropFirst() + parts.flatMap { $0 })
    }

    static func be16(_ value: Int) -> [UInt8] { be64(value).suffix(2) }
    static func be32(_ value: Int) -> [UInt8] { be64(value).suffix(4) }
    static func be64(_ value: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }
    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
