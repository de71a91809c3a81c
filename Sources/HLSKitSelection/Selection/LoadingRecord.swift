import HLSKitLoading
import HLSKitTime

/// The amount of data that arrived in each recent second of loading.
///
/// Time without a request does not count, but waiting for a first byte does. So each rate is the throughput in a second
/// in which a player wanted media.
struct LoadingRecord: Sendable, Hashable {
    /// The number of seconds to keep. Earlier, the network may have been different.
    static let length = 120

    /// The rates in bits per second of each full second, the oldest first.
    private(set) var rates: [Double] = []
    private var openBits = 0.0
    private var openTime = 0.0
    private var last = 0.0
    private var activeCount = 0

    mutating func began(at now: Duration) {
        advance(to: now, bits: 0)
        activeCount += 1
    }

    mutating func received(byteCount: Int, at now: Duration) {
        advance(to: now, bits: 8 * Double(byteCount))
    }

    mutating func ended(at now: Duration) {
        advance(to: now, bits: 0)
        activeCount = max(0, activeCount - 1)
    }

    /// Assumes that the bits since the last call arrived evenly.
    private mutating func advance(to now: Duration, bits: Double) {
        let time = now.seconds
        var rest = activeCount > 0 ? max(0, time - last) : 0
        last = max(last, time)
        guard rest > 0 else {
            openBits += bits
            return
        }
        // A silence longer than the record erases everything before it.
        rest = min(rest, Double(Self.length) + 1)
        let rate = bits / rest
        while openTime + rest >= 1 {
            let part = 1 - openTime
            close(openBits + rate * part)
            rest -= part
        }
        openBits += rate * rest
        openTime += rest
    }

    private mutating func close(_ bits: Double) {
        if rates.count == Self.length { rates.removeFirst() }
        rates.append(bits)
        openBits = 0
        openTime = 0
    }
}
