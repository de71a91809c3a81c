/// Chooses the highest variant that the measured throughput carries.
///
/// A segment has to arrive in its own playing time, with a margin, and before the buffer is empty. Going up asks for
/// a larger margin than staying, and staying is allowed while the buffer is well filled, so that a throughput between two
/// variants does not make the choice oscillate. A download that would take much longer than its playing time is abandoned
/// when another variant is there sooner.
///
/// Source: ABR.md §2 (throughput, insufficient buffer, abandon).
public struct ThroughputRule: VariantSelector, Hashable {
    /// The share of the throughput that the present variant may take. Default 0.9.
    public var safetyFactor: Double
    /// The share of the throughput that a higher variant may take. Default 0.85; equal to ``safetyFactor`` for no
    /// hysteresis.
    public var upSwitchFactor: Double
    /// With this much media ahead the present variant is kept while it takes no more than the whole throughput. Default
    /// 10 s; nil never.
    public var patientBuffer: Duration?
    /// Whether a download may be abandoned. Default true.
    public var abandonsDownloads: Bool

    /// The share of the buffer that loading one segment may use up (dash.js: insufficient buffer rule).
    private static let bufferShare = 0.7
    /// Downloads are judged from this time on, and abandoned when they would take this many playing times.
    private static let abandonAfter = 0.5
    private static let abandonSlowness = 1.8

    public init(
        safetyFactor: Double = 0.9, upSwitchFactor: Double = 0.85, patientBuffer: Duration? = .seconds(10),
        abandonsDownloads: Bool = true
    ) {
        self.safetyFactor = safetyFactor
        self.upSwitchFactor = upSwitchFactor
        self.patientBuffer = patientBuffer
        self.abandonsDownloads = abandonsDownloads
    }

    public mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        if let download = input.download { return judge(download, input) }
        return chooseNext(input)
    }

    // MARK: - Next segment

    private func chooseNext(_ input: SelectionInput) -> SelectionDecision {
        guard let throughput = input.throughput else {
            let current = input.candidates.first { $0.index == input.currentVariantIndex }
            let kept = current ?? input.candidates.lowestBandwidth
            return SelectionDecision(variantIndex: kept?.index ?? 0, explanation: "throughput unknown")
        }
        let rate = throughput.bitsPerSecond
        let ahead = input.forwardBuffer.seconds
        let duration = input.upcoming.first?.duration ?? .seconds(6)
        // Several seconds of media ride out the peaks of a variant.
        let usesAverage = input.forwardBuffer >= duration * 2
        let cost = { (variant: VariantCandidate) in
            (usesAverage ? variant.averageBandwidth ?? variant.bandwidth : variant.bandwidth) * abs(input.rate)
        }
        let quality = input.candidates.sortedByQuality()
        let current = quality.firstIndex { $0.index == input.currentVariantIndex }
        let isPatient = patientBuffer.map { input.forwardBuffer >= $0 } ?? false
        let limits = Limits(throughput: throughput, duration: duration.seconds / abs(input.rate), input)

        for (position, variant) in quality.enumerated().reversed() {
            let isUp = current.map { position > $0 } ?? false
            let isKept = position == current && isPatient
            let factor = isUp ? upSwitchFactor : isKept ? 1 : safetyFactor
            let cost = cost(variant)
            guard cost <= limits.sustainable(factor), cost <= limits.bufferAllows else { continue }
            return SelectionDecision(
                variantIndex: variant.index,
                explanation: """
                    \(Int64(clamping: cost)) bit/s of \(Int64(clamping: rate)) bit/s measured, \
                    factor \(factor), \(ahead) s ahead
                    """)
        }
        return SelectionDecision(
            variantIndex: input.candidates.lowestBandwidth?.index ?? 0,
            explanation: "lowest variant, \(Int64(clamping: rate)) bit/s measured, \(ahead) s ahead")
    }

    /// Bit rates that are possible; `duration` is the time in which a segment is played.
    private struct Limits {
        var rate: Double
        var latency: Double
        var duration: Double
        var buffer: Double
        var isAtRisk: Bool

        init(throughput: ThroughputEstimate, duration: Double, _ input: SelectionInput) {
            rate = throughput.bitsPerSecond
            latency = throughput.latency.seconds
            self.duration = duration
            buffer = input.forwardBuffer.seconds / abs(input.rate)
            isAtRisk = input.isPlaying
        }

        /// Latency and transfer take no longer than the segment plays.
        func sustainable(_ factor: Double) -> Double {
            factor * rate * max(0, duration - latency) / duration
        }

        /// The segment is there before the buffer is empty.
        var bufferAllows: Double {
            isAtRisk ? ThroughputRule.bufferShare * rate * max(0, buffer - latency) / duration : .infinity
        }
    }

    // MARK: - Download under way

    private func judge(_ download: SelectionInput.Download, _ input: SelectionInput) -> SelectionDecision {
        let keep = SelectionDecision(variantIndex: download.variantIndex, explanation: "download goes on")
        let elapsed = (input.now - download.requested).seconds
        let duration = download.segmentDuration.seconds / abs(input.rate)
        guard abandonsDownloads, elapsed >= Self.abandonAfter, duration > 0, download.receivedByteCount > 0,
            let current = input.candidates.first(where: { $0.index == download.variantIndex })
        else { return keep }
        let transferTime = max(0.001, (input.now - (download.firstByte ?? download.requested)).seconds)
        let rate = 8 * Double(download.receivedByteCount) / transferTime
        let rest = 8 * Double(max(0, download.expectedByteCount - download.receivedByteCount))
        let restTime = rest / rate
        guard elapsed + restTime > Self.abandonSlowness * duration,
            restTime > input.forwardBuffer.seconds / abs(input.rate)
        else { return keep }
        let lower = input.candidates.filter { $0.bandwidth < current.bandwidth }.sortedByQuality()
        let limit = safetyFactor * rate / abs(input.rate)
        guard let choice = lower.last(where: { $0.bandwidth <= limit }) ?? lower.lowestBandwidth else { return keep }
        let size = 8 * Double(download.expectedByteCount) * choice.bandwidth / current.bandwidth
        guard size < rest else { return keep }
        return SelectionDecision(
            variantIndex: choice.index,
            explanation: """
                download abandoned: \(Int64(clamping: rest)) bit left at \(Int64(clamping: rate)) bit/s, \
                \(Int64(clamping: size)) bit there
                """)
    }
}
