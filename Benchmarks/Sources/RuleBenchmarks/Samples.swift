import Glibc
import HLSKitSimulation

enum Samples {
    /// Returns ten minutes of bandwidth between 300 kbit/s and 20 Mbit/s that changes gradually, every second.
    static func trace(seed: UInt64) throws -> NetworkTrace {
        var random = Random(state: seed)
        var level = log(3000.0)
        var text = ""
        for _ in 0..<600 {
            level = min(max(level + 0.3 * (random.next() + random.next() - 1), log(300.0)), log(20_000.0))
            text += "1000,\(Int(exp(level))),40\n"
        }
        return try NetworkTrace(parsing: text.utf8)
    }

    /// Returns nine variants from 145 kbit/s to 7.8 Mbit/s, with segments of 4 s whose sizes vary by a third.
    static func movie(segmentCount: Int) throws -> MovieFile {
        let rates = [145, 365, 730, 1100, 2000, 3000, 4500, 6000, 7800]
        var random = Random(state: 7)
        let rows = (0..<segmentCount).map { _ in
            let factor = 0.67 + 0.66 * random.next()
            return "[" + rates.map { "\(Int(Double($0) * 4000 * factor))" }.joined(separator: ",") + "]"
        }
        let text = """
            {"segment_duration_ms": 4000, "bitrates_kbps": \(rates), "segment_sizes_bits": [\(rows.joined(separator: ","))]}
            """
        return try MovieFile(parsing: Array(text.utf8))
    }

    /// Knuth's linear congruential generator, with values from 0 to 1.
    private struct Random {
        var state: UInt64

        mutating func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) / 0x1p53
        }
    }
}
