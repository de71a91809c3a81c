package import HLSKitCore

/// The published behaviour of Shaka Player 4 for comparison, without its code and its network layer.
///
/// The throughput is the lower of two averages with half-lives of 2 s and 5 s of loading, including waiting. Downloads
/// below 16 kB or 20 ms are not sampled. Before 128 kB, a megabit per second is assumed. The rule selects the variant
/// whose bit rate is within 0.95 of the throughput (`bandwidthDowngradeTarget`) if the next better one is not within
/// 0.85 (`bandwidthUpgradeTarget`), or else the lowest. It decides as soon as there are enough measurements, and then
/// every 8 s (`switchInterval`). It never cancels a download.
///
/// Shaka's low-latency mode changes the start of playback and the reading of parts, but not this rule. Its rate control
/// (`liveSync.enabled`) is disabled by default, so it is omitted here.
///
/// Source: https://github.com/shaka-project/shaka-player: lib/abr/simple_abr_manager.js (selection),
/// lib/abr/ewma_bandwidth_estimator.js (averages) and lib/util/player_configuration.js (constants).
package struct ShakaRule: BuiltInSelector {
    /// `bandwidthDowngradeTarget`, `bandwidthUpgradeTarget`, `switchInterval` and `defaultBandwidthEstimate` in bits per
    /// second (player_configuration.js).
    private static let downgradeTarget = 0.95
    private static let upgradeTarget = 0.85
    private static let switchInterval = Duration.seconds(8)
    private static let defaultEstimate = 1_000_000.0
    /// `cacheLoadThreshold`: faster downloads come from a cache (player_configuration.js).
    private static let leastTime = Duration.milliseconds(20)
    /// `minBytes_` and `minTotalBytes_` (ewma_bandwidth_estimator.js).
    private static let leastByteCount = 16_000
    private static let enoughByteCount = 128_000

    private var history = TransferHistory()
    private var fast = MovingAverage(halfLife: 2)
    private var slow = MovingAverage(halfLife: 5)
    private var byteCount = 0
    /// The time of the last selection, or nil before there were enough measurements.
    private var chosen: Duration?

    package init() {}

    package mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        for transfer in history.takeNew(from: input)
        where transfer.byteCount >= Self.leastByteCount && transfer.finished - transfer.requested >= Self.leastTime {
            let time = (transfer.finished - transfer.requested).seconds
            let rate = 8 * Double(transfer.byteCount) / time
            fast.add(rate, weight: time)
            slow.add(rate, weight: time)
            byteCount += transfer.byteCount
        }
        if let download = input.download {
            return SelectionDecision(variantID: download.variantID, explanation: "the download continues")
        }
        let isDue = byteCount >= Self.enoughByteCount && chosen.map { input.now - $0 >= Self.switchInterval } ?? true
        if !isDue, let current = input.candidates.first(where: { $0.id == input.currentVariantID }) {
            return SelectionDecision(variantID: current.id, explanation: "as Shaka: within the switch interval")
        }
        if byteCount >= Self.enoughByteCount { chosen = input.now }
        let throughput =
            byteCount < Self.enoughByteCount
            ? Self.defaultEstimate : min(fast.value ?? Self.defaultEstimate, slow.value ?? Self.defaultEstimate)
        let speed = max(abs(input.rate), 1e-3)
        let rates = input.candidates.map { ($0.averageBitRate ?? $0.peakBitRate ?? 0) * speed }
        let choice =
            rates.indices.last { position in
                let next = position + 1 < rates.count ? rates[position + 1] : .infinity
                return throughput >= rates[position] / Self.downgradeTarget && throughput <= next / Self.upgradeTarget
            } ?? 0
        return SelectionDecision(
            variantID: input.candidates[choice].id, explanation: "as Shaka: \(Int(throughput)) bit/s measured")
    }
}
