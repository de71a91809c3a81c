package import HLSKitSimulation

package enum ThrottleArgument: Sendable, Equatable {
    case trace(path: String)
    case constant(LinkConditions)

    /// Parses `TRACE.csv` or `RATE[,LATENCY[,LOSS%]]`, as in `800k,50ms,1%`. Text that starts with a digit and does not
    /// end in `.csv` is a rate.
    package init(parsing text: String) throws(ArgumentValueError) {
        guard let first = text.first, first.isASCII, first.isNumber, !text.hasSuffix(".csv") else {
            guard !text.isEmpty else { throw ArgumentValueError("write TRACE.csv or RATE[,LATENCY[,LOSS%]]") }
            self = .trace(path: text)
            return
        }
        let parts = text.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        let rate = try BitRateArgument.parse(parts[0])
        guard rate > 0 else { throw ArgumentValueError("a rate of 0 would never deliver anything") }
        // The user may have meant a bare number as kilobits.
        guard rate >= 8000 else {
            throw ArgumentValueError(
                "\(parts[0]) is less than 8k bit/s, with which nothing arrives in time; 800k is 800 kbit/s")
        }
        var latency = Duration.zero
        if parts.count > 1 {
            // The user may have meant a bare number as milliseconds, but it would be seconds.
            guard parts[1].last?.isLetter == true, let value = DurationArgument.parseOptional(parts[1]),
                value <= .seconds(60)
            else { throw ArgumentValueError("the latency needs a unit and must not exceed 60 s, as in 800k,50ms") }
            latency = value
        }
        var loss = 0.0
        if parts.count == 3 {
            guard parts[2].hasSuffix("%"), let percent = Double(parts[2].dropLast()), (0..<100).contains(percent) else {
                throw ArgumentValueError("the loss must be from 0% to below 100%, as in 800k,50ms,1%")
            }
            loss = percent / 100
        }
        self = .constant(LinkConditions(bitsPerSecond: rate, latency: latency, packetLoss: loss))
    }

    func networkTrace() throws(ArgumentValueError) -> NetworkTrace {
        switch self {
        case .trace(let path):
            do {
                return try NetworkTrace(contentsOfFile: path)
            } catch {
                throw ArgumentValueError("--throttle: \(TerminalText.escaped(path)): \(error)")
            }
        case .constant(let conditions): return NetworkTrace(constant: conditions)
        }
    }
}
