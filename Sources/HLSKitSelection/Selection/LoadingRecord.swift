import HLSKitLoading

/// How much arrived in each of the last seconds of loading.
///
/// Time in which nothing was asked for does not count; waiting for a first byte does. So a second is one in which a player
/// wanted media, and its rate says what the player got.
struct LoadingRecord: Sendable, Hashable {
    /// Seconds that are remembered: before that, the network may have been a different one.
    static let length = 120

    /// Bits per second in each whole second, the oldest first.
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

    /// Bytes since the last call are taken to have arrived evenly.
    private mutating func advance(to now: Duration, bits: Double) {
        let time = now.seconds
        var rest = activeCount > 0 ? max(0, time - last) : 0
        last = max(last, time)
        guard rest > 0 else {
            openBits += bits
            return
        }
        // A silence that fills the memory makes everything before it forgotten.
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
