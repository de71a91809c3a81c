import Glibc
package import HLSKitCore

/// The published behaviour of hls.js 1.5 for comparison, without its code and its network layer.
///
/// The throughput is the lower of two averages with half-lives of 3 s and 9 s of loading (`abrEwmaFastLive`,
/// `abrEwmaSlowLive`, and the same for VOD). The usual time to the first byte is subtracted. The rule selects the best
/// variant whose bit rate is within 0.95 of the throughput (`abrBandWidthFactor`), or 0.7 for one above the current
/// variant (`abrBandWidthUpFactor`). For VOD, its segment must also arrive before the buffer is empty.
///
/// A download is cancelled if it takes more than half of its playing time and longer than the buffer lasts, and if a
/// lower variant arrives sooner. The measurement then restarts from the lower variant's bit rate if that is higher.
/// Because hls.js does not compute the time of the lowest variant, the variant above it is never cancelled.
///
/// With low-latency live streams, the rule counts parts instead of segments. hls.js disables rate control by default
/// (`maxLiveSyncPlaybackRate` 1), so it is omitted here.
///
/// Source: https://github.com/video-dev/hls.js: src/config.ts (constants), src/controller/abr-controller.ts (selection,
/// cancellation) and src/utils/ewma-bandwidth-estimator.ts (averages).
package struct HLSJSRule: BuiltInSelector {
    /// `abrBandWidthFactor` and `abrBandWidthUpFactor` (config.ts).
    private static let factor = 0.95
    private static let upFactor = 0.7
    /// `abrEwmaDefaultEstimate`, bits per second (config.ts).
    private static let defaultEstimate = 500_000.0
    /// `maxStarvationDelay`, seconds (config.ts).
    private static let longestStarvation = 4.0
    /// `minDelayMs_` and `defaultTTFB_`, in seconds (ewma-bandwidth-estimator.ts).
    private static let leastSample = 0.05
    private static let defaultFirstByte = 0.1
    /// Beyond this number of playing times, a download does not restart the measurement (abr-controller.ts).
    private static let unreasonable = 10.0

    private var history = TransferHistory()
    private var fast = MovingAverage(halfLife: 3)
    private var slow = MovingAverage(halfLife: 9)
    private var firstByte = MovingAverage(halfLife: 9)
    private var estimate = defaultEstimate

    package init() {}

    private var throughput: Double {
        guard let fast = fast.value, let slow = slow.value else { return estimate }
        return min(fast, slow)
    }

    private var timeToFirstByte: Double { firstByte.value ?? Self.defaultFirstByte }

    private mutating func sample(seconds: Double, byteCount: Int) {
        let time = max(seconds, Self.leastSample)
        fast.add(8 * Double(byteCount) / time, weight: time)
        slow.add(8 * Double(byteCount) / time, weight: time)
    }

    private mutating func sample(firstByte seconds: Double) {
        firstByte.add(max(seconds, 0.005), weight: 2.0.squareRoot() * exp(-seconds * seconds / 2))
    }

    private mutating func begin(from bitRate: Double) {
        (fast, slow) = (MovingAverage(halfLife: 3), MovingAverage(halfLife: 9))
        firstByte = MovingAverage(halfLife: 9)
        estimate = bitRate
    }

    package mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        for transfer in history.takeNew(from: input) where transfer.byteCount > 0 {
            let waited = (transfer.firstByte - transfer.requested).seconds
            let whole = (transfer.finished - transfer.requested).seconds
            sample(firstByte: waited)
            sample(seconds: whole - min(waited, timeToFirstByte), byteCount: transfer.byteCount)
        }
        let ladder = Ladder(input)
        if let download = input.download { return judge(download, ladder, input) }
        let current = input.currentVariantID.flatMap(ladder.position) ?? 0
        let choice =
            best(ladder, current: current, delay: 0) ?? best(
                ladder, current: current, delay: min(ladder.duration, Self.longestStarvation)) ?? 0
        let measured = throughput
        return SelectionDecision(
            variantID: ladder.variants[choice].id,
            explanation: "as hls.js: \(Int(measured)) bit/s measured, \(ladder.buffer) s ahead")
    }

    private func best(_ ladder: Ladder, current: Int, delay: Double) -> Int? {
        let isSafe = ladder.buffer >= 2 * ladder.duration && delay == 0
        return ladder.variants.indices.last { position in
            let available = (position > current ? Self.upFactor : Self.factor) * throughput
            let rate = isSafe ? ladder.averages[position] : ladder.peaks[position]
            guard available >= rate else { return false }
            let time = timeToFirstByte + rate * ladder.duration / available
            return ladder.isLive || time < ladder.buffer + delay
        }
    }

    private mutating func judge(
        _ download: SelectionInput.Download, _ ladder: Ladder, _ input: SelectionInput
    ) -> SelectionDecision {
        let keep = SelectionDecision(variantID: download.variantID, explanation: "the download continues")
        let elapsed = (input.now - download.requested).seconds
        guard elapsed > max(timeToFirstByte, ladder.duration / 2), let current = ladder.position(download.variantID),
            current > 0
        else {
            return keep
        }
        let received = Double(download.receivedByteCount)
        let rest = 8 * max(0, Double(download.expectedByteCount) - received)
        let streaming = download.firstByte.map { (input.now - $0).seconds } ?? elapsed
        let seen = received > 0 ? 8 * received / max(streaming, 0.001) : nil
        let left = seen.map { rest / $0 } ?? rest / throughput + timeToFirstByte
        guard left > ladder.buffer else { return keep }
        let rate = seen ?? throughput
        var choice = current - 1
        var time = Double.infinity
        while choice > 0 {
            // The playlist of the other variant is loaded first.
            time = 2 * timeToFirstByte + ladder.duration * ladder.peaks[choice] / rate
            if time < min(ladder.buffer, ladder.duration + timeToFirstByte) { break }
            choice -= 1
        }
        guard time < left, time <= Self.unreasonable * ladder.duration else { return keep }
        if received > 0 {
            sample(
                seconds: elapsed - min(timeToFirstByte, elapsed - streaming), byteCount: download.receivedByteCount)
        } else {
            sample(firstByte: elapsed)
        }
        if throughput * Self.upFactor > ladder.peaks[choice] { begin(from: ladder.peaks[choice]) }
        return SelectionDecision(
            variantID: ladder.variants[choice].id,
            explanation: "as hls.js: given up after \(elapsed) s, \(Int(rest)) bit left at \(Int(rate)) bit/s")
    }
}

extension HLSJSRule {
    /// The variants, lowest first, and times of the clock.
    private struct Ladder {
        let variants: [AssetVariant]
        let averages: [Double]
        let peaks: [Double]
        let duration: Double
        let buffer: Double
        let isLive: Bool

        init(_ input: SelectionInput) {
            let speed = max(abs(input.rate), 1e-3)
            variants = input.candidates
            averages = variants.map { ($0.averageBitRate ?? $0.peakBitRate ?? 0) * speed }
            peaks = variants.map { ($0.peakBitRate ?? 0) * speed }
            let media = input.download?.segmentDuration ?? input.upcoming.first?.duration ?? .seconds(6)
            duration = max(0.1, media.seconds / speed)
            buffer = input.forwardBuffer.seconds / speed
            isLive = input.segmentCount == nil
        }

        func position(_ id: AssetVariant.ID) -> Int? { variants.firstIndex { $0.id == id } }
    }
}
