/// The parameter sets in the configuration of H.264 (`avcC`) and HEVC (`hvcC`).
///
/// Source: ISO/IEC 14496-15 §5.3.3.1 and §8.3.3.1.
enum ParameterSetRecord {
    /// Returns the `avcC` of parameter sets with start codes, or nil if it cannot hold them.
    static func configuration(of bytes: UnsafeRawBufferPointer, lengthSize: Int) -> [UInt8]? {
        var sets: [UInt8: [ArraySlice<UInt8>]] = [:]
        var at = NALUnits.startCode(in: bytes, from: 0)
        while let start = at {
            at = NALUnits.startCode(in: bytes, from: start + 3)
            // Zeros before the next start code do not belong to the set.
            let unit = Array(bytes[start + 3..<(at ?? bytes.count)])
            let end = unit.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
            if let header = unit.first { sets[header & 0x1f, default: []].append(unit[..<end]) }
        }
        guard let sequences = sets[7], let pictures = sets[8], let first = sequences.first, first.count >= 4,
            sequences.count < 32, pictures.count < 256, (sequences + pictures).allSatisfy({ $0.count <= 0xffff })
        else { return nil }
        var record = [1, first[1], first[2], first[3], 0xfc | UInt8(lengthSize - 1), 0xe0 | UInt8(sequences.count)]
        func add(_ set: ArraySlice<UInt8>) { record += [UInt8(set.count >> 8), UInt8(set.count & 0xff)] + set }
        sequences.forEach(add)
        record.append(UInt8(pictures.count))
        pictures.forEach(add)
        return record
    }

    static func size(configuration: [UInt8], codec: MediaCodec) -> (width: Int, height: Int)? {
        switch codec {
        case .h264:
            // Version, profile, compatibility, level, length size and count, followed by a length and the set.
            guard configuration.count > 8, configuration[5] & 0x1f > 0 else { return nil }
            let count = Int(configuration[6]) << 8 | Int(configuration[7])
            guard let set = try? H264SPS(parsing: configuration[8...].prefix(count)) else { return nil }
            return (set.width, set.height)
        case .hevc:
            guard configuration.count > 23 else { return nil }
            var at = 23
            for _ in 0..<configuration[22] {
                guard at + 3 <= configuration.count else { return nil }
                let type = configuration[at] & 0x3f
                let units = Int(configuration[at + 1]) << 8 | Int(configuration[at + 2])
                at += 3
                for _ in 0..<units {
                    guard at + 2 <= configuration.count else { return nil }
                    let count = Int(configuration[at]) << 8 | Int(configuration[at + 1])
                    at += 2
                    if type == 33, let set = try? HEVCSPS(parsing: configuration[at...].prefix(count)) {
                        return (set.width, set.height)
                    }
                    at += count
                    guard at <= configuration.count else { return nil }
                }
            }
            return nil
        default: return nil
        }
    }
}
