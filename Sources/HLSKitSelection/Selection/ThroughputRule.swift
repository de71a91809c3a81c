import HLSKitLoading
import HLSKitTime

/// A rule that selects the highest variant that the measured throughput supports.
///
/// A segment must arrive within its duration, with a margin, and before a share of the buffer is used up. That share
/// shrinks from 0.9 to 0.5 with the first decisions. A download that would take much longer than its duration is
/// abandoned if another variant would finish sooner.
///
/// Source: the throughput, insufficient-buffer and abandon rules of Sabre and dash.js.
public struct ThroughputRule: VariantSelector, Hashable {
    /// The share of the throughput that a variant may use. The default is 0.9.
    package var safetyFactor: Double
    /// Whether a download may be abandoned. The default is true.
    package var abandonsDownloads: Bool

    private var averages = TransferAverages()
    /// The share of the buffer that may be used up while one segment loads.
    private var bufferShare = 0.9
    private static let leastBufferShare = 0.5
    private static let bufferShareDecay = 0.9
    /// Downloads are judged after this many seconds, and abandoned if they would take this many times their duration.
    private static let abandonAfter = 0.5
    private static let abandonSlowness = 1.8

    /// Creates a rule that uses the share `safetyFactor` of the throughput.
    public init(safetyFactor: Double = 0.9, abandonsDownloads: Bool = true) {
        self.safetyFactor = safetyFactor
        self.abandonsDownloads = abandonsDownloads
    }

    public mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        averages.update(from: input)
        if let download = input.download { return judge(download, input) }
        guard let throughput = averages.bitsPerSecond ?? input.throughput?.bitsPerSecond else {
            return .unmeasured(input)
        }
        let ladder = RuleLadder(input)
        let latency = averages.latency
        var position = ladder.highest(within: safetyFactor * throughput, latency: latency)
        let affordable = bufferShare * (ladder.buffer - latency) * throughput
        bufferShare = max(Self.leastBufferShare, bufferShare * Self.bufferShareDecay)
        let isLimited = ladder.rates[1...].prefix(position).contains { $0 * ladder.segmentDuration > affordable }
        while position > 0, ladder.rates[1...position].contains(where: { $0 * ladder.segmentDuration > affordable }) {
            position -= 1
        }
        let rate = ladder.rates[position]
        return SelectionDecision(
            variantID: ladder.variants[position].id,
            explanation: """
                \(Int64(clamping: rate)) bit/s of \(Int64(clamping: throughput)) bit/s measured, \
                \(ladder.buffer) s ahead\(isLimited ? ", limited by the buffer" : "")
                """)
    }

    private func judge(_ download: SelectionInput.Download, _ input: SelectionInput) -> SelectionDecision {
        let elapsed = (input.now - download.requested).seconds
        guard abandonsDownloads, elapsed >= Self.abandonAfter, download.receivedByteCount > 0,
            let firstByte = download.firstByte, input.now > firstByte
        else { return .keep(download) }
        let throughput = 8 * Double(download.receivedByteCount) / (input.now - firstByte).seconds
        let rest = 8 * Double(max(0, download.expectedByteCount - download.receivedByteCount))
        let playingTime = RuleLadder.playingTime(input)
        guard elapsed + rest / throughput > Self.abandonSlowness * playingTime else { return .keep(download) }
        let ladder = RuleLadder(input)
        guard let current = ladder.position(of: download.variantID) else { return .keep(download) }
        let position = ladder.highest(within: safetyFactor * throughput, latency: averages.latency)
        guard position < current else { return .keep(download) }
        let size = 8 * Double(download.expectedByteCount) * ladder.rates[position] / ladder.rates[current]
        guard size < rest else { return .keep(download) }
        return SelectionDecision(
            variantID: ladder.variants[position].id,
            explanation: """
                download abandoned: \(Int64(clamping: rest)) bit left at \(Int64(clamping: throughput)) bit/s, \
                \(Int64(clamping: size)) bit there
                """)
    }
}
