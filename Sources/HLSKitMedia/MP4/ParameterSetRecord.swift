/// The parameter sets in the configuration of H.264 (`avcC`) and HEVC (`hvcC`).
///
/// Source: ISO/IEC 14496-15 §5.3.3.1 and §8.3.3.1.
enum ParameterSetRecord {
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
