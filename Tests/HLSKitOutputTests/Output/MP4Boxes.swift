struct MP4Boxes {
    struct Malformed: Error {}

    /// The names of the top-level boxes, in order. The last box may be truncated.
    private(set) var names: [String] = []
    /// The language of each track, and the durations in seconds of the empty edits before its media.
    private(set) var languages: [String] = []
    private(set) var editDurations: [Double] = []
    private var timescale = 1.0

    init(_ bytes: [UInt8]) throws {
        try walk(bytes[...], isTop: true)
    }

    private mutating func walk(_ bytes: ArraySlice<UInt8>, isTop: Bool) throws {
        var rest = bytes
        while rest.count >= 8 {
            var size = Self.number(rest.prefix(4))
            let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            var header = 8
            if size == 1 {
                size = Self.number(rest.dropFirst(8).prefix(8))
                header = 16
            }
            guard size >= header else { throw Malformed() }
            if isTop { names.append(name) }
            let body = rest.dropFirst(header).prefix(size - header)
            switch name {
            case "moov", "trak", "mdia", "edts": try walk(body, isTop: false)
            case "mvhd": timescale = Double(Self.number(body.dropFirst(12).prefix(4)))
            case "mdhd":
                let isLong = body.first == 1
                let code = Self.number(body.dropFirst(isLong ? 32 : 20).prefix(2))
                let letters = [10, 5, 0].map { UInt8(code >> $0 & 31) + 0x60 }
                languages.append(String(decoding: letters, as: UTF8.self))
            case "elst" where body.first == 0 && body.count >= 20:
                if Self.number(body.dropFirst(12).prefix(4)) == 0xFFFF_FFFF {
                    editDurations.append(Double(Self.number(body.dropFirst(8).prefix(4))) / timescale)
                }
            default: break
            }
            rest = rest.dropFirst(size)
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
