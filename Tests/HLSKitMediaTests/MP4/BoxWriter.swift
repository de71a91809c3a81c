enum BoxWriter {
    static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let payload = parts.flatMap { $0 }
        return be32(8 + payload.count) + Array(type.utf8) + payload
    }

    static func fullBox(_ type: String, version: UInt8 = 0, flags: Int = 0, _ parts: [UInt8]...) -> [UInt8] {
        box(type, [version] + be32(flags).dropFirst() + parts.flatMap { $0 })
    }

    static func be16(_ value: Int) -> [UInt8] { (0..<2).map { UInt8(truncatingIfNeeded: value >> (8 - 8 * $0)) } }
    static func be32(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    static func be64(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
    static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
}

extension BoxWriter {
    struct Track {
        var id = 1
        var flags = 3
        var handler = "vide"
        var timescale = 1000
        /// The three letters that `mdhd` packs. The default is "und".
        var language = [21, 14, 4]
        var extendedLanguage: String?
        var entries: [[UInt8]] = [BoxWriter.visualEntry("avc1", BoxWriter.box("avcC", [1, 2, 3]))]
        var descriptionVersion: UInt8 = 0
        var edits: [UInt8] = []
        var tables: [UInt8] = []
        var userData: [UInt8] = []
    }

    struct Defaults {
        var description = 1
        var duration = 0
        var size = 0
        var flags = 0
    }

    static func visualEntry(_ type: String, width: Int = 64, height: Int = 48, _ children: [UInt8]...) -> [UInt8] {
        box(
            type, zeros(6), be16(1), zeros(16), be16(width), be16(height), zeros(50), children.flatMap { $0 })
    }

    static func audioEntry(
        _ type: String, version: Int = 0, channels: Int = 2, bits: Int = 16, rate: Int = 48_000, _ children: [UInt8]...
    ) -> [UInt8] {
        box(
            type, zeros(6), be16(1), be16(version), zeros(6), be16(channels), be16(bits), zeros(4), be32(rate << 16),
            children.flatMap { $0 })
    }

    static func textEntry(_ type: String, _ children: [UInt8]...) -> [UInt8] {
        box(type, zeros(6), be16(1), children.flatMap { $0 })
    }

    static func trak(_ track: Track) -> [UInt8] {
        let language = track.language.reduce(0) { $0 << 5 | $1 }
        return box(
            "trak",
            fullBox("tkhd", flags: track.flags, zeros(8), be32(track.id), zeros(68)),
            track.edits,
            box(
                "mdia",
                fullBox("mdhd", zeros(8), be32(track.timescale), zeros(4), be16(language), zeros(2)),
                fullBox("hdlr", zeros(4), Array(track.handler.utf8), zeros(13)),
                track.extendedLanguage.map { fullBox("elng", Array($0.utf8), [0]) } ?? [],
                box(
                    "minf",
                    box(
                        "stbl",
                        fullBox(
                            "stsd", version: track.descriptionVersion, be32(track.entries.count),
                            track.entries.flatMap { $0 }),
                        track.tables))),
            track.userData.isEmpty ? [] : box("udta", track.userData))
    }

    static func elst(_ entries: (duration: Int, mediaTime: Int)...) -> [UInt8] {
        box(
            "edts",
            fullBox(
                "elst", be32(entries.count), entries.flatMap { be32($0.duration) + be32($0.mediaTime) + be32(0x10000) })
        )
    }

    static func moov(_ tracks: [Track], defaults: Defaults? = Defaults(), movieTimescale: Int = 1000) -> [UInt8] {
        let trex = tracks.flatMap { track in
            defaults.map {
                fullBox(
                    "trex", be32(track.id), be32($0.description), be32($0.duration), be32($0.size), be32($0.flags))
            } ?? []
        }
        return box(
            "moov", fullBox("mvhd", zeros(8), be32(movieTimescale), zeros(84)), tracks.flatMap(trak),
            trex.isEmpty ? [] : box("mvex", trex))
    }

    static func header(_ tracks: [Track] = [Track()], defaults: Defaults? = Defaults()) -> [UInt8] {
        box("ftyp", Array("iso6".utf8), zeros(4)) + moov(tracks, defaults: defaults)
    }

    static func tfhd(_ id: Int = 1, flags: Int = 0x20000, _ fields: [UInt8]...) -> [UInt8] {
        fullBox("tfhd", flags: flags, be32(id), fields.flatMap { $0 })
    }

    static func tfdt(_ time: Int) -> [UInt8] { fullBox("tfdt", version: 1, be64(time)) }

    static func trun(version: UInt8 = 0, flags: Int, count: Int, _ fields: [UInt8]...) -> [UInt8] {
        fullBox("trun", version: version, flags: flags, be32(count), fields.flatMap { $0 })
    }

    static func traf(_ boxes: [UInt8]...) -> [UInt8] { box("traf", boxes.flatMap { $0 }) }

    static func moof(_ trafs: [UInt8]...) -> [UInt8] {
        box("moof", fullBox("mfhd", be32(1)), trafs.flatMap { $0 })
    }

    /// Returns a fragment of one track, followed by an `mdat` box. Each sample is 10 units long and filled with its
    /// number.
    ///
    /// - Parameter isShort: Whether the decode time has 32 bits.
    static func fragment(
        time: Int = 0, id: Int = 1, sizes: [Int], extra: [UInt8] = [], isShort: Bool = false
    ) -> [UInt8] {
        func fragment(offset: Int) -> [UInt8] {
            let run = trun(
                flags: 0x301, count: sizes.count, be32(offset), sizes.flatMap { be32(10) + be32($0) })
            return moof(traf(tfhd(id), isShort ? fullBox("tfdt", be32(time)) : tfdt(time), run, extra))
        }
        let size = fragment(offset: 0).count
        let media = sizes.enumerated().flatMap { number, count in
            Array(repeating: UInt8(truncatingIfNeeded: number), count: count)
        }
        return fragment(offset: size + 8) + box("mdat", media)
    }

    static func esds(objectType: UInt8, _ specific: [UInt8]) -> [UInt8] {
        let info = [5, UInt8(specific.count)] + specific
        let decoder = [4, UInt8(13 + info.count), objectType, 0x15] + zeros(11) + info
        let stream = [3, 0x80, 0x80, UInt8(3 + decoder.count), 0, 1, 0] + decoder
        return fullBox("esds", stream)
    }
}

extension BoxWriter {
    /// A segment with its own header and one of each box that the demuxer reads.
    static let allBoxes: [UInt8] = {
        let keyID = (0..<16).map { UInt8($0) }
        let sinf = box(
            "sinf", box("frma", Array("hvc1".utf8)), fullBox("schm", Array("cbcs".utf8), be32(0x10000)),
            box("schi", fullBox("tenc", version: 1, [0, 0x19, 1, 8] + keyID)))
        let video = visualEntry(
            "encv", box("hvcC", [1, 2, 3]), box("colr", Array("nclc".utf8), be16(1), be16(1), be16(1)),
            box("pasp", be32(1), be32(1)), box("clap", [60, 1, 40, 1, 0, 1, 0, 1].flatMap { be32($0) }), sinf)
        let audio = audioEntry(
            "mp4a", version: 1, zeros(16), box("wave", esds(objectType: 0x40, [0x2B, 0x09, 0x88])))
        let start = header(
            [
                Track(id: 1, entries: [video], edits: elst((100, -1), (0, 20))),
                Track(id: 2, handler: "soun", extendedLanguage: "en-GB", entries: [audio]),
            ], defaults: Defaults(duration: 5, size: 2))
        let sidx = fullBox(
            "sidx", be32(1), be32(1000), zeros(8), be16(0), be16(1), be32(100), be32(10), be32(0))
        let emsg = fullBox("emsg", Array("urn:x\0v\0".utf8), [1000, 1, 2, 3].flatMap { be32($0) }, [1, 2])
        let subsamples = be16(1) + be16(1) + be32(2)
        let senc = fullBox("senc", flags: 2, be32(2), zeros(8) + subsamples + zeros(8) + subsamples)
        func described(_ offset: Int) -> [UInt8] {
            moof(
                traf(
                    tfhd(1), tfdt(100),
                    trun(
                        version: 1, flags: 0xF01, count: 2, be32(offset),
                        [10, 3, 0, -1, 10, 3, 0x10000, 5].flatMap { be32($0) }), senc),
                traf(
                    tfhd(2, flags: 0x20038, be32(7), be32(2), be32(0)), tfdt(200),
                    trun(flags: 5, count: 2, be32(offset + 6), be32(0)), trun(flags: 0, count: 3)))
        }
        let segment = described(described(0).count + 8) + box("mdat", (0..<16).map { UInt8($0) })
        return start + box("styp", zeros(8)) + sidx + emsg + box("prft", zeros(16)) + segment + box("abcd", zeros(9))
            + fragment(time: 300, id: 2, sizes: [4, 0, 1])
    }()
}
