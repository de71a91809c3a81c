package import HLSKitCore

/// The published behaviour of Shaka Player 4, to compare with: not its code, and nothing of its network.
///
/// The throughput is the lower of two averages with half-lives of 2 s and 5 s of loading, waiting included; what is smaller
/// than 16 kB or there within 20 ms is no sample, and before 128 kB a megabit a second is assumed. The variant is taken whose bit rate is within
/// 0.95 of it (`bandwidthDowngradeTarget`) while the next better one is not within 0.85 (`bandwidthUpgradeTarget`), else the
/// lowest. That is looked at once as soon as the measurements count, and then every 8 s (`switchInterval`). No download is
/// given up.
///
/// Its low-latency mode changes when playing begins and how parts are read, not this rule; its rate control
/// (`liveSync.enabled`) is off by default, so that there is none here.
///
/// Source: https://github.com/shaka-project/shaka-player: lib/abr/simple_abr_manager.js (choice),
/// lib/abr/ewma_bandwidth_estimator.js (averages) and lib/util/player_configuration.js (constants).
package struct ShakaRule: BuiltInSelector {
    /// `bandwidthDowngradeTarget`, `bandwidthUpgradeTarget`, `switchInterval` and `defaultBandwidthEstimate` in bits per
    /// second (player_configuration.js).
    private static let downgradeTarget = 0.95
    private static let upgradeTarget = 0.85
    private static let switchInterval = Duration.seconds(8)
    private static let defaultEstimate = 1_000_000.0
    /// `cacheLoadThreshold`: sooner it is from a cache (player_configuration.js).
    private static let leastTime = Duration.milliseconds(20)
    /// `minBytes_` and `minTotalBytes_` (ewma_bandwidth_estimator.js).
    private static let leastByteCount = 16_000
    private static let enoughByteCount = 128_000

    private var history = TransferHistory()
    private var fast = MovingAverage(halfLife: 2)
    private var slow = MovingAverage(halfLife: 5)
    private var byteCount = 0
    /// When the variant was chosen last; nil before the measurements counted.
    private var chosen: Duration?

    /// Knows nothing yet.
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
