import Glibc
import HLSKitLoading
import HLSKitTime

/// The mode of ``ScenarioRule`` for streams that are played in parts, with a second or two of media ahead.
///
/// There is no buffer to plan with. A variant is suitable if its parts arrive while they are made, and if the media
/// ahead lasts through the next slump. So the rule uses the worst recent throughput rather than the average.
///
/// With bit rate R, part duration d, time to the first byte l, media ahead B, and throughput C:
///
/// 1. C(now) is the lower of two rates: the last transfer's, and the rate of all transfers of the last second. C(low)
///    is the lowest C(now) of the last eight seconds, because slumps of mobile networks come in groups. So a fall has
///    effect at once, and a rise only after it has lasted. A part that has been loading for half of d counts with the
///    data received so far.
/// 2. A variant *keeps up* if a part takes no longer than its share of d: l + R·d / C(now) ≤ 0.95·d for the current
///    variant and lower ones, 0.8·d for a better one. The difference between the two prevents oscillation.
/// 3. A variant is *safe* if the listed media that is not loaded, of duration b, arrives before the media ahead is
///    played, even if C is 0.8·C(low): w + R·b / 0.8·C(low) ≤ B. Here w is l, or 3·l for another variant, whose
///    playlist is loaded first. Normally b is d, and more (up to 3·d) while an earlier part is late. The media ahead
///    must also last if the slump returns for one second: (l / d + R / C(low) − 1)·1 s ≤ B, the amount by which it
///    shortens the media ahead.
/// 4. The rule takes the best variant that keeps up and is safe, or the lowest if there is none. It rises above the
///    current variant only if the last fall was long enough ago. That time is four seconds. It doubles, up to 32 s,
///    after each rise that did not last for twice that time, and is halved after one that did.
/// 5. A part that is loading is late after d has passed, or if the rest would take longer at the current rate than the
///    media ahead lasts. The rule then abandons it for the best lower variant that keeps up at that rate. After 2·l for
///    the request, its part must arrive before the media ahead is played. If there is none, it takes the lowest. It
///    only does so if this is faster by a fifth than waiting for the rest.
struct LowLatencyRule: Sendable {
    /// In seconds.
    private static let recent = 1.0
    private static let memory = 8.0
    private static let slumpTime = 1.0
    /// The shares of a part's duration that loading it may take.
    private static let share = 0.95
    private static let upShare = 0.8
    /// The share of the throughput that is assumed for the next part.
    private static let safety = 0.8
    /// The largest backlog in parts. After an outage much more is listed, but waiting for all of it would not help.
    private static let longestBacklog = 3.0
    /// The share of its duration after which a part that is still loading shows the speed of the link.
    private static let significantShare = 0.5
    private static let patiences = (least: Duration.seconds(4), most: Duration.seconds(32))
    private static let gain = 0.8

    private struct Sample: Sendable {
        var time: Double
        var bits: Double
        var seconds: Double
    }

    private var history = TransferHistory()
    private var samples: [Sample] = []
    /// The values of C(now) in the last seconds, at the times of measurement.
    private var levels: [(time: Double, rate: Double)] = []
    private var latency = MovingAverage(halfLife: 8)
    private var wentDown: Duration?
    private var wentUp: Duration?
    private var patience = patiences.least

    private mutating func learn(_ input: SelectionInput) {
        for transfer in history.takeNew(from: input) {
            let time = transfer.finished.seconds
            let receiving = transfer.receivingSeconds
            if receiving > 0 { latency.add(transfer.latencySeconds, weight: 1) }
            // Without a first byte, all the time was spent waiting for one.
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

    /// Doubles the waiting time after a rise that did not last, and halves it after one that did.
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
        // While the first byte is awaited, there is no rate to judge.
        guard receiving > 0.05, elapsed > wait + 0.1 else { return .keep(download) }
        let seen = max(1000, received / receiving)
        let left = rest / seen
        if elapsed > Self.significantShare * situation.partDuration, seen < levels.last?.rate ?? .infinity {
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
    /// The input in seconds of the clock, with variants from worst to best.
    private struct Situation {
        let variants: [AssetVariant]
        let rates: [Double]
        let partDuration: Double
        let buffer: Double
        /// The duration of listed media that is not loaded: one part or more.
        let backlog: Double

        init(_ input: SelectionInput) {
            let speed = max(abs(input.rate), 1e-3)
            variants = input.candidates.sortedByQuality()
            // Every part must fit the peak rate, because there is no buffer to even it out.
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
