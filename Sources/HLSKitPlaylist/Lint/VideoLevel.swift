/// The largest frame of a video codec level, which is declared in an RFC 6381 string.
///
/// Source: ITU-T H.264 table A-1, ITU-T H.265 table A.8, AV1 annex A.3.
struct VideoLevel {
    /// The level in its usual notation: `4.1`.
    var name: String
    /// Luma samples.
    var maximumPictureSize: Int
    /// The longest side, in luma samples.
    var maximumSide: Int

    init?(codec: String) {
        let fields = codec.split(separator: ".", omittingEmptySubsequences: false)
        switch fields.first {
        case "avc1", "avc3":
            guard fields.count == 2, fields[1].utf8.count == 6, let level = Int(fields[1].suffix(2), radix: 16),
                let blocks = Self.macroblocks[level]
            else { return nil }
            // A.3.1: no side exceeds the root of 8 x MaxFS macroblocks of 16 samples.
            self.init(tenths: level, size: blocks * 256, side: Self.root(8 * blocks) * 16)
        case "hvc1", "hev1":
            // profile, compatibility, tier and level: hvc1.2.4.L153.B0
            guard fields.count >= 4, let level = Int(fields[3].dropFirst()), let size = Self.lumaSamples[level] else {
                return nil
            }
            // A.4.1: no side exceeds the root of 8 x MaxLumaPs samples.
            self.init(tenths: level / 3, size: size, side: Self.root(8 * size))
        case "av01":
            guard fields.count >= 3, let index = Int(fields[2].prefix(2)), let limits = Self.av1[index] else {
                return nil
            }
            self.init(tenths: 20 + index / 4 * 10 + index % 4, size: limits.size, side: limits.side)
        default: return nil
        }
    }

    private init(tenths: Int, size: Int, side: Int) {
        name = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        maximumPictureSize = size
        maximumSide = side
    }

    func allows(_ resolution: Resolution) -> Bool {
        resolution.pixelCount <= maximumPictureSize && max(resolution.width, resolution.height) <= maximumSide
    }

    private static func root(_ number: Int) -> Int { Int(Double(number).squareRoot()) }

    /// MaxFS by level_idc.
    private static let macroblocks = [
        9: 99, 10: 99, 11: 396, 12: 396, 13: 396, 20: 396, 21: 792, 22: 1620, 30: 1620, 31: 3600, 32: 5120, 40: 8192,
        41: 8192, 42: 8704, 50: 22_080, 51: 36_864, 52: 36_864, 60: 139_264, 61: 139_264, 62: 139_264,
    ]

    /// MaxLumaPs by general_level_idc (thirty times the level).
    private static let lumaSamples = [
        30: 36_864, 60: 122_880, 63: 245_760, 90: 552_960, 93: 983_040, 120: 2_228_224, 123: 2_228_224,
        150: 8_912_896, 153: 8_912_896, 156: 8_912_896, 180: 35_651_584, 183: 35_651_584, 186: 35_651_584,
    ]

    /// MaxPicSize and the larger of MaxHSize and MaxVSize, by seq_level_idx.
    private static let av1: [Int: (size: Int, side: Int)] = [
        0: (147_456, 2048), 1: (278_784, 2816), 4: (665_856, 4352), 5: (1_065_024, 5504), 8: (2_359_296, 6144),
        9: (2_359_296, 6144), 12: (8_912_896, 8192), 13: (8_912_896, 8192), 14: (8_912_896, 8192),
        15: (8_912_896, 8192), 16: (35_651_584, 16_384), 17: (35_651_584, 16_384), 18: (35_651_584, 16_384),
        19: (35_651_584, 16_384),
    ]
}
