import Glibc
import HLSKitLoading

/// The mode of ``ScenarioRule`` for streams that are played by parts, with a second or two of media ahead.
///
/// There is no buffer to plan with: a variant is right if its parts arrive while they are made, and if what is ahead lasts
/// through the slump that comes. So the rule asks what the link gave at its worst of late, and not what it gives on average.
///
/// With bit rate R, part duration d, time to the first byte l, media ahead B, and the throughput C:
///
/// 1. C(now) is the lower of what the last transfer and the transfers of the last second had; C(low) is the least C(now) of
///    the last eight seconds, as slumps of mobile networks come in groups. A fall is believed at once, a rise when it has
///    lasted. A part that has been on its way for half of d counts with what it has had so far.
/// 2. A variant *keeps up* if a part takes no longer than its share of d: l + R·d / C(now) ≤ 0.95·d for the variant in use and
///    those below, 0.8·d for a better one. The distance between the two is what keeps it from going to and fro.
/// 3. It is *safe* if what is listed and not here, of duration b, comes while something is ahead, though C is 0.8·C(low):
///    w + R·b / 0.8·C(low) ≤ B, where w is l, or 3·l for another variant, whose playlist is loaded first. b is d where all
///    goes well, more (up to 3·d) while a part before is late. And if the slump could come again and last a second:
///    (l / d + R / C(low) − 1)·1 s ≤ B, as that is what it takes of what is ahead.
/// 4. The best variant that keeps up and is safe is taken; a better one than that in use only where the last fall to a lower
///    one was long enough ago: four seconds, twice as long after each rise that did not last for two of these times, up to
///    32 s, and half as long after one that did. Where none is, the lowest.
/// 5. A part on its way is late once more than d has passed, or the rest of it at the rate that is seen takes longer than what
///    is ahead lasts. It is given up for the best lower variant that keeps up at that rate and whose part, with 2·l
///    for the way there, is there while something is ahead, else for the lowest; in any case only where that is sooner by a fifth than to wait for the rest.
///
/// See docs/behaviour/selection.md.
struct LowLatencyRule: Sendable {
    /// Seconds.
    private static let recent = 1.0
    private static let memory = 8.0
    private static let slumpTime = 1.0
    /// Shares of the playing time of a part that loading it may take.
    private static let share = 0.95
    private static let upShare = 0.8
    /// The share of the throughput that is counted on for the next part.
    private static let safety = 0.8
    /// In parts: after an outage, when much is listed and nothing here, waiting for all of it would be no help.
    private static let longestBacklog = 3.0
    /// A part that is on its way for this share of its playing time tells how fast the link is.
    private static let tellingShare = 0.5
    private static let patiences = (least: Duration.seconds(4), most: Duration.seconds(32))
    private static let gain = 0.8

    /// Throughput and when it was measured.
    private struct Sample: Sendable {
        var time: Double
        var bits: Double
        var seconds: Double
    }

    private var history = TransferHistory()
    private var samples: [Sample] = []
    /// What C(now) was when it was measured, of the last seconds.
    private var levels: [(time: Double, rate: Double)] = []
    private var latency = MovingAverage(halfLife: 8)
    private var wentDown: Duration?
    private var wentUp: Duration?
    /// How long after a fall it stays down.
    private var patience = patiences.least

    /// Takes in what ended since the last call.
    private mutating func learn(_ input: SelectionInput) {
        for transfer in history.takeNew(from: input) {
            let time = transfer.finished.seconds
            let receiving = transfer.receivingSeconds
            if receiving > 0 { latency.add(transfer.latencySeconds, weight: 1) }
            // Without a first byte all the time was spent waiting for one.
            let seconds = receiving > 0 ? receiving : transfer.latencySeconds
            let bits = transfer.linkBits(among: input.recentTransfers)
            guard seconds > 0, bits > 0 else { continue }
            samples.append(Sample(time: time, bits: bits, seconds: seconds))
            samples.removeAll { $0.time < time - Self.recent }
            let pooled = samples.reduce((0.0, 0.0)) { ($0.0 + $1.bits, $0.1 + $1.seconds) }
            note(min(pooled.0 / pooled.1, bits / seconds), at: time)
        }
    }

    private mutating func note(_ rate: Double, at time: Double) {
        levels.removeAll { $0.time < time - Self.memory }
        levels.append((time, rate))
    }

    /// A rise that did not last makes the next one wait twice as long; one that did, half as long.
    private mutating func fall(at now: Duration) {
        let lasted = wentUp.map { now - $0 >= patience + patience } ?? true
        patience = min(max(lasted ? patience / 2 : patience * 2, Self.patiences.least), Self.patiences.most)
        wentUp = nil
        wentDown = now
    }

    mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        learn(input)
        let situation = Situation(input)
        if let download = input.download { return judge(download, situation, input) }
        guard let now = levels.last?.rate ?? input.throughput?.bitsPerSecond else { return .unmeasured(input) }
        let low = levels.reduce(now) { min($0, $1.rate) }
        let wait = latency.value ?? input.throughput?.latency.seconds ?? 0
        let current = situation.position(of: input.currentVariantID)
        let mayRise = wentDown.map { input.now - $0 >= patience } ?? true
        let choice =
            situation.rates.indices.last { position in
                let isHigher = current.map { position > $0 } ?? false
                guard mayRise || !isHigher else { return false }
                let rate = situation.rates[position]
                let share = isHigher ? Self.upShare : Self.share
                let parts = situation.partDuration
                guard wait + rate * parts / now <= share * parts else { return false }
                let way = position == current ? wait : 3 * wait
                guard way + rate * situation.backlog / (Self.safety * low) <= situation.buffer else { return false }
                let excess = max(0, (wait + rate * parts / low) / parts - 1)
                return Self.slumpTime * excess <= situation.buffer
            } ?? 0
        if let current, choice < current { fall(at: input.now) }
        if let current, choice > current { wentUp = input.now }
        let rate = situation.rates[choice]
        let buffer = situation.buffer
        return SelectionDecision(
            variantID: situation.variants[choice].id,
            explanation: """
                low latency: \(Int64(clamping: rate)) bit/s of \(Int64(clamping: low)) bit/s at the worst of late, \
                \((buffer * 100).rounded() / 100) s ahead
                """)
    }

    private mutating func judge(
        _ download: SelectionInput.Download, _ situation: Situation, _ input: SelectionInput
    ) -> SelectionDecision {
        guard let current = situation.position(of: download.variantID), current > 0 else { return .keep(download) }
        let elapsed = (input.now - download.requested).seconds
        let wait = latency.value ?? 0
        let received = 8 * Double(download.receivedByteCount)
        let rest = max(0, 8 * Double(download.expectedByteCount) - received)
        let receiving = download.firstByte.map { (input.now - $0).seconds } ?? max(0, elapsed - wait)
        // What is waited for is on its way.
        guard receiving > 0.05, elapsed > wait + 0.1 else { return .keep(download) }
        let seen = max(1000, received / receiving)
        let left = rest / seen
        if elapsed > Self.tellingShare * situation.partDuration, seen < levels.last?.rate ?? .infinity {
            note(seen, at: input.now.seconds)
        }
        guard elapsed > situation.partDuration || left > situation.buffer else { return .keep(download) }
        let size = received + rest
        func time(_ position: Int) -> Double {
            2 * wait + size * situation.rates[position] / situation.rates[current] / seen
        }
        func keepsUp(_ position: Int) -> Bool {
            wait + situation.rates[position] * situation.partDuration / seen <= Self.share * situation.partDuration
        }
        let choice = (0..<current).last { time($0) <= situation.buffer && keepsUp($0) } ?? 0
        guard time(choice) <= Self.gain * left else { return .keep(download) }
        note(seen, at: input.now.seconds)
        fall(at: input.now)
        return SelectionDecision(
            variantID: situation.variants[choice].id,
            explanation: """
                low latency: part given up after \((elapsed * 100).rounded() / 100) s, \(Int64(clamping: rest)) bit left \
                at \(Int64(clamping: seen)) bit/s, \((situation.buffer * 100).rounded() / 100) s ahead
                """)
    }
}

extension LowLatencyRule {
    /// The input in seconds of the clock, from the worst variant to the best.
    private struct Situation {
        let variants: [AssetVariant]
        let rates: [Double]
        let partDuration: Double
        let buffer: Double
        /// How much is listed and not here: one part, or more of them.
        let backlog: Double

        init(_ input: SelectionInput) {
            let speed = max(abs(input.rate), 1e-3)
            variants = input.candidates.sortedByQuality()
            // What every part may take: there is no buffer that evens it out.
            rates = variants.map { max(1, $0.bandwidth) * speed }
            let duration = input.download?.segmentDuration ?? input.partTarget ?? .seconds(1)
            partDuration = max(0.05, duration.seconds / speed)
            buffer = input.forwardBuffer.seconds / speed
            let listed = (input.availableAhead ?? .zero).seconds / speed
            backlog = min(max(partDuration, listed - buffer), LowLatencyRule.longestBacklog * partDuration)
        }

        func position(of id: AssetVariant.ID?) -> Int? { variants.firstIndex { $0.id == id } }
    }
}
