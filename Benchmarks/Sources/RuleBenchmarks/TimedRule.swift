import CAllocations
import Glibc
import HLSKitCore

final class DecisionCosts {
    var nanoseconds: [Double] = []
    var allocations: [Double] = []
    var bytes: [Double] = []
}

/// A rule that forwards everything to another rule and records the cost of its choices. Checks of running downloads are
/// not counted, because most of them return at the first test.
struct TimedRule: VariantSelector {
    var rule: any VariantSelector
    nonisolated(unsafe) let costs: DecisionCosts  // A session runs on one thread.

    mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        guard input.download == nil else { return rule.decide(input) }
        let (count, bytes) = (CAllocations_count(), CAllocations_bytes())
        let start = Seconds.now(CLOCK_MONOTONIC)
        let decision = rule.decide(input)
        costs.nanoseconds.append((Seconds.now(CLOCK_MONOTONIC) - start) * 1e9)
        costs.bytes.append(Double(CAllocations_bytes() - bytes))
        costs.allocations.append(Double(CAllocations_count() - count))
        return decision
    }
}

enum Seconds {
    static func now(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
