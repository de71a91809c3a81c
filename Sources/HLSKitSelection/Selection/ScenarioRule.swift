import Glibc
import HLSKitLoading
import HLSKitTime

/// The default rule, which plans for five scenarios of the future throughput.
///
/// It selects the variant whose next segment is best for playback, averaged over the scenarios.
///
/// 1. `RatePredictor` gives a level of the throughput and a spread, and `RateOutlook` corrects both. They yield five
///    equally probable scenarios of the next download.
/// 2. In each scenario, a segment has the value of its bit rate plus the remaining buffer, minus the costs of the stall
///    and the change of bit rate. That value comes from `PlanTable`, a plan of the next 20 segments in which most of
///    the scenario's deviation persists. A download that step 3 would abandon counts as abandoned.
/// 3. If a running download is late, its rate so far is blended into the prediction. The rule then compares finishing
///    it with starting over at each lower variant. It abandons the download if another variant is clearly better.
///
/// The segment sizes come from the playlist if it declares them, otherwise from the average bit rates. One set of
/// constants serves all networks and ladders.
///
/// A live stream that is played in parts has no buffer to plan with. A separate rule (`LowLatencyRule`) decides for it.
public struct ScenarioRule: VariantSelector {
    /// The approximate means of five equally probable parts of a normal distribution.
    private static let deviations = [-1.2816, -0.5244, 0, 0.5244, 1.2816]
    /// The share of a deviation that persists after the next download.
    private static let persistence = 0.8
    /// The share of the predicted throughput that is assumed.
    private static let safetyFactor = 0.92
    private static let horizon = 20

    /// The time in seconds after which a download is judged: the first, or the second if more than one segment is
    /// buffered.
    private static let judgeAfter = 0.3
    private static let judgeAfterWithBuffer = 20.0
    /// The share of the expected data with which a download counts as on time.
    private static let lateness = 0.9
    /// The weight of the rate so far grows to 1 in this time (seconds), and begins with the least weight.
    private static let beliefTime = 4.0
    private static let leastBelief = 0.4
    /// The required gain of starting over, in segments of the top variant.
    private static let abandonGain = 0.5
    /// The earliest time (seconds) at which the plan assumes that a download is abandoned, and the time that this has to
    /// save.
    private static let earliestAbandoning = 1.0
    private static let leastSaving = 0.2

    private var predictor = RatePredictor()
    private var lowLatency = LowLatencyRule()
    private var tables = [PlanTable](repeating: PlanTable(), count: deviations.count)
    /// Bits per second of the next download in each scenario.
    private var rates = [Double](repeating: 1, count: deviations.count)

    /// Creates the default rule, without any measurements yet.
    public init() {}

    public mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        if input.partTarget != nil { return lowLatency.decide(input) }
        predictor.update(from: input)
        if let download = input.download { return judge(download, input) }
        let known = predictor.expectedLevel(at: input.now)
        guard let level = known ?? input.throughput.map({ log(max(1000, $0.bitsPerSecond)) }) else {
            return .unmeasured(input)
        }
        let situation = Situation(input)
        let spread = predictor.plannedSpread(filled: situation.filled)
        prepare(situation, level: level, spread: spread)
        let last = situation.position(of: input.currentVariantID)
        var choice = 0
        var best = -Double.infinity
        for position in situation.variantIDs.indices {
            let value = value(
                of: position, bits: situation.firstSizes[position], wait: predictor.latency, after: last, situation,
                mayBeAbandoned: true)
            if value > best {
                best = value
                choice = position
            }
        }
        let rate = situation.rates[choice]
        let buffer = situation.buffer
        let worth = best
        return SelectionDecision(
            variantID: situation.variantIDs[choice],
            explanation: """
                \(Int64(clamping: rate)) bit/s of \(Int64(clamping: exp(level))) bit/s expected \
                (give or take a factor of \((exp(spread) * 100).rounded() / 100)), \
                \((buffer * 10).rounded() / 10) s ahead, worth \((worth * 100).rounded() / 100)
                """)
    }

    // MARK: - Running downloads

    private mutating func judge(_ download: SelectionInput.Download, _ input: SelectionInput) -> SelectionDecision {
        let elapsed = (input.now - download.requested).seconds
        guard elapsed >= Self.judgeAfter, let level = predictor.level else { return .keep(download) }
        let received = 8 * Double(download.receivedByteCount)
        let expected = exp(level) * max(0.001, elapsed - predictor.latency)
        guard received <= Self.lateness * expected,
            elapsed >= Self.judgeAfterWithBuffer || input.forwardBuffer <= download.segmentDuration
        else { return .keep(download) }
        let situation = Situation(input)
        guard let current = situation.position(of: download.variantID), current > 0 else { return .keep(download) }

        let waited = download.firstByte.map { ($0 - download.requested).seconds } ?? elapsed
        let receiving = max(0.001, elapsed - min(waited, predictor.latency))
        let belief = min(1, max(Self.leastBelief, receiving / Self.beliefTime))
        let seen = RatePredictor.level(bits: received, seconds: receiving)
        let blended = level + belief * (seen - level)
        prepare(situation, level: blended, spread: predictor.plannedSpread(filled: situation.filled))
        let last = situation.position(of: input.currentVariantID)
        let size = 8 * Double(download.expectedByteCount)
        let rest = size - received
        let wait = download.firstByte == nil ? max(0, predictor.latency - elapsed) : 0
        let keeping = value(of: current, bits: rest, wait: wait, after: last, situation)
        var choice: Int?
        var best = keeping + Self.abandonGain
        for position in 0..<current {
            let other =
                situation.knowsSizes
                ? situation.firstSizes[position] : size * situation.rates[position] / situation.rates[current]
            guard other < rest else { break }
            let value = value(
                of: position, bits: other, wait: predictor.latency, after: last, situation)
            if value > best {
                best = value
                choice = position
            }
        }
        guard let choice else { return .keep(download) }
        let gain = best - keeping
        return SelectionDecision(
            variantID: situation.variantIDs[choice],
            explanation: """
                download abandoned after \((elapsed * 10).rounded() / 10) s: \(Int64(clamping: rest)) bit left at \
                \(Int64(clamping: exp(blended))) bit/s, better by \((gain * 100).rounded() / 100)
                """)
    }

    // MARK: - Values

    private mutating func prepare(_ situation: borrowing Situation, level: Double, spread: Double) {
        var problem = situation.problem
        problem.latency = predictor.latency
        for (index, deviation) in Self.deviations.enumerated() {
            rates[index] = exp(level + deviation * spread) * Self.safetyFactor
            tables[index].solve(
                problem, throughput: exp(level + Self.persistence * deviation * spread) * Self.safetyFactor)
        }
    }

    /// Returns the value of loading `bits` of a variant, averaged over the scenarios.
    ///
    /// - Parameter mayBeAbandoned: Whether a late download costs at most as much as abandoning it.
    private func value(
        of position: Int, bits: Double, wait: Double, after last: Int?, _ situation: borrowing Situation,
        mayBeAbandoned: Bool = false
    ) -> Double {
        let base = situation.problem.gain(of: position, after: last)
        var sum = 0.0
        for (index, rate) in rates.enumerated() {
            let time = bits / rate + wait
            var value = worth(of: position, in: time, index, situation)
            if mayBeAbandoned, position > 0,
                let other = worthOfAbandoning(position, lasting: time, index, after: last, situation)
            {
                value = max(value, other - base)
            }
            sum += value
        }
        return sum / Double(Self.deviations.count) + base
    }

    /// Returns the value, in one scenario, of the buffer left by a segment loaded in `time`, minus the stall.
    private func worth(
        of position: Int, in time: Double, _ scenario: Int, _ situation: borrowing Situation
    ) -> Double {
        let problem = situation.problem
        let most = problem.capacity - problem.segmentDuration
        let then = min(max(situation.buffer - time, 0) + problem.segmentDuration, most)
        return tables[scenario].value(variant: position, buffer: then) - max(0, time - situation.buffer)
    }

    /// Returns the value, in one scenario, of abandoning a download for the best lower variant as soon as it is judged.
    /// The required gain is subtracted. Returns nil if it is too late to abandon it.
    private func worthOfAbandoning(
        _ position: Int, lasting time: Double, _ scenario: Int, after last: Int?, _ situation: borrowing Situation
    ) -> Double? {
        let rate = rates[scenario]
        let judged = max(
            Self.earliestAbandoning,
            min(Self.judgeAfterWithBuffer, situation.buffer - situation.problem.segmentDuration))
        guard time > judged + Self.leastSaving else { return nil }
        let rest = (time - judged) * rate
        var best: Double?
        for other in 0..<position {
            let bits = situation.firstSizes[other]
            guard bits < rest else { break }
            let value =
                worth(of: other, in: judged + predictor.latency + bits / rate, scenario, situation)
                + situation.problem.gain(of: other, after: last)
            best = max(best ?? value, value)
        }
        return best.map { $0 - Self.abandonGain }
    }
}

extension ScenarioRule {
    /// The input in seconds of the clock, with variants from worst to best.
    private struct Situation {
        let variantIDs: [AssetVariant.ID]
        /// The declared rates in bits per second of the clock.
        let rates: [Double]
        /// The sizes in bits of the segment to choose for.
        let firstSizes: [Double]
        let knowsSizes: Bool
        let buffer: Double
        let problem: PlanTable.Problem
        var filled: Double { min(1, max(0, buffer / problem.capacity)) }

        init(_ input: SelectionInput) {
            let speed = max(abs(input.rate), 1e-3)
            let variants = input.candidates.sortedByQuality()
            variantIDs = variants.map(\.id)
            let nominal = variants.map { max(1, $0.averageBandwidth ?? $0.bandwidth) }
            rates = nominal.map { $0 * speed }
            // A better variant is never worth less, even if SCORE puts it above one with a higher bit rate.
            let ranked = nominal.sorted()
            let top = ranked.last ?? 1
            let count = max(1, input.upcoming.count)
            let total = input.upcoming.reduce(0) { $0 + $1.duration.seconds }
            let mean = max(0.1, input.upcoming.isEmpty ? 6 : total / Double(count))
            func hasSizes(_ segment: SelectionInput.UpcomingSegment) -> Bool {
                segment.byteCounts.count == variants.count
            }
            let order: [Int] =
                input.upcoming.contains(where: hasSizes)
                ? variants.map { variant in input.candidates.firstIndex { $0.index == variant.index } ?? 0 } : []
            func sizes(_ segment: SelectionInput.UpcomingSegment) -> [Double] {
                order.map { 8 * Double(segment.byteCounts[$0]) }
            }
            let first = input.upcoming.first ?? .init(duration: .seconds(mean))
            knowsSizes = hasSizes(first)
            firstSizes = knowsSizes ? sizes(first) : nominal.map { $0 * first.duration.seconds }
            var rows: [Double] = []
            // If no sizes are declared, one row stands for all segments.
            for segment in input.upcoming.dropFirst() where hasSizes(segment) { rows += sizes(segment) }
            rows += nominal.map { $0 * mean }
            let following = input.segmentNumber.flatMap { number in input.segmentCount.map { $0 - number - 1 } } ?? .max
            buffer = input.forwardBuffer.seconds / speed
            let held = min(input.bufferCapacity, input.availableAhead ?? input.bufferCapacity).seconds
            problem = PlanTable.Problem(
                qualities: ranked.map { $0 / top }, sizes: rows, segmentCount: max(0, min(following, horizon)),
                continues: following > horizon, segmentDuration: mean / speed,
                capacity: max(held, 2 * mean) / speed, latency: 0, topRate: top * speed)
        }

        func position(of id: AssetVariant.ID?) -> Int? { variantIDs.firstIndex { $0 == id } }
    }
}
