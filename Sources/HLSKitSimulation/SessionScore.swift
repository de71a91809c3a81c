import HLSKitCore

/// The quality of a session in the measures of the literature.
///
/// Startup time counts like a stall. A second of either costs as much as a segment of the top variant gains (Pensieve's
/// rule).
public struct SessionScore: Sendable, Hashable {
    /// The normalized quality: 1 is the top variant throughout without waiting or switching.
    ///
    /// It is the mean over the segments of R − R_top·(stall + start) − |ΔR|, divided by R_top.
    public var normalizedQoE: Double
    /// The quality before the division by R_top, in Mbit/s.
    public var linearQoE: Double
    /// The stalls in percent of stalls and media time.
    public var rebufferPercentage: Double
    /// The average declared bit rate in kbit/s.
    public var meanKilobitsPerSecond: Double
    /// The switches per minute of media.
    public var switchesPerMinute: Double
    /// The time from the first request to the first frame.
    public var startupTime: Duration
    /// The duration of all stalls together.
    public var stallDuration: Duration
    /// The number of stalls, without the start.
    public var stallCount: Int
    /// The abandoned bits in percent of all bits.
    public var wastedPercentage: Double

    init(_ session: SimulatedSession) {
        let rates = session.movie.averageBitRates.map { $0 / 1e6 }
        let top = rates.last ?? 1
        let count = Double(max(1, session.segments.count))
        var sum = 0.0
        var changes = 0.0
        var switchCount = 0
        var bits = 0.0
        var previous: Int?
        for segment in session.segments {
            sum += rates[segment.variant]
            bits += segment.bitCount
            if let previous, previous != segment.variant {
                changes += abs(rates[segment.variant] - rates[previous])
                switchCount += 1
            }
            previous = segment.variant
        }
        let wasted = session.abandons.reduce(0) { $0 + $1.bitCount }
        let stallSeconds = session.stallSeconds
        let mediaSeconds = session.movie.duration.milliseconds / 1000
        startupTime = session.startupTime
        stallDuration = session.stallDuration
        stallCount = session.stalls.count
        linearQoE = (sum - top * (stallSeconds + session.startupSeconds) - changes) / count
        normalizedQoE = linearQoE / top
        rebufferPercentage = 100 * stallSeconds / (stallSeconds + mediaSeconds)
        meanKilobitsPerSecond = 1000 * sum / count
        switchesPerMinute = Double(switchCount) / (mediaSeconds / 60)
        wastedPercentage = bits + wasted > 0 ? 100 * wasted / (bits + wasted) : 0
    }
}
