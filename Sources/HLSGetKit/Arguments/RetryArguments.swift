import HLSKitCore

/// The number of retries of failed requests, or `inf` for no limit.
enum RetriesArgument: Sendable, Equatable {
    case count(Int)
    case unlimited

    init(parsing text: String) throws(ArgumentValueError) {
        if text == "inf" {
            self = .unlimited
        } else {
            self = .count(try NumberArgument.retries(text))
        }
    }

    func apply(to policies: inout RetryPolicies) {
        switch self {
        case .count(let count): policies.maximumRetryCount = count
        case .unlimited:
            // Retry temporary failures without limit. Missing segments are still skipped.
            policies.maximumRetryCount = nil
            (policies.budget, policies.liveBudget, policies.lostMediaTime) = (nil, nil, nil)
            policies.unsuccessfulRequestTotal = .max
        }
    }
}

/// The delays after the first, second, … failure: `1s,5s,30s`. The last one repeats.
struct BackoffArgument: Sendable, Equatable {
    var delays: [Duration]

    init(parsing text: String) throws(ArgumentValueError) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= 100 else { throw ArgumentValueError("too many times") }
        var delays: [Duration] = []
        for part in parts { delays.append(try DurationArgument.parse(String(part))) }
        self.delays = delays
    }

    func apply(to policies: inout RetryPolicies) {
        guard let first = delays.first else { return }
        policies.delays = delays
        policies.secondAttemptDelay = first
    }
}

package enum GapAction: String, Sendable, CaseIterable { case skip, fail, fill }
