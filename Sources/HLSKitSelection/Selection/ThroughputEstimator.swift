import Glibc
import HLSKitLoading

/// An estimate of how fast the next bytes will arrive.
public struct ThroughputEstimate: Sendable, Hashable {
    /// Bits per second while bytes flow, without the time to the first one.
    public var bitsPerSecond: Double
    /// From 0 (a guess) to 1 (much, recent evidence).
    public var confidence: Double
    /// Standard deviation of the natural logarithm of the rate from one measurement to the next.
    public var spread: Double
    /// Time from a request to the first byte of its response.
    public var latency: Duration

    /// Makes an estimate; certain and without latency, unless stated otherwise.
    package init(bitsPerSecond: Double, confidence: Double = 1, spread: Double = 0, latency: Duration = .zero) {
        self.bitsPerSecond = bitsPerSecond
        self.confidence = confidence
        self.spread = spread
        self.latency = latency
    }
}

/// Estimates the throughput of the link from the arrival of every piece of media.
///
/// It measures the link, not a transfer: the bits of all transfers over the time in which at least one of them was
/// receiving. The time to the first byte is kept apart. Measurements close after 250 ms of such time and feed two moving
/// averages, weighted by time, with half-lives of 3 s and 8 s; the lower one is the estimate, so that a drop is believed
/// sooner than a rise. Both are corrected for their start: with weight W and half-life h the average is divided by
/// 1 − 0.5^(W/h). An open measurement counts as it stands, so that a link that went dead is noticed.
///
/// A body that came in less than 5 ms says only that the link is *not slower*: it counts as if it had taken 5 ms, a lower
/// bound, so that on the fastest links as well the estimate rises to what better variants need. A transfer of less than
/// 16 kB is not measured; while nothing else is known, all of them together, with their waiting, are a lower bound as soon
/// as they make a megabyte. What comes from memory is no transfer at all (``forget(_:at:)``).
///
/// Parts of a stream of low latency are smaller than segments, and their server may be what is waited for:
/// - A body that the server makes while it sends it comes in bursts. Only bytes within a burst count, by the time since
///   the ones before them; pauses and what comes first behind one do not (``startedAtServersPace(_:)``).
/// - Parts of less than 16 kB count together, as soon as they make as much (``startedPart(_:)``).
///
/// `docs/behaviour/selection.md` has the whole of it.
package struct ThroughputEstimator: Sendable {
    /// Names a transfer from its start to its end.
    package typealias TransferID = Int

    /// How many finished transfers ``recentTransfers`` holds.
    static let historyCount = 20

    private static let fastHalfLife = 3.0
    private static let slowHalfLife = 8.0
    private static let latencyHalfLife = 3.0  // transfers
    private static let measurementTime = Duration.milliseconds(250)
    private static let leastMeasurementTime = Duration.milliseconds(50)
    private static let leastByteCount = 16_000
    /// Shorter times cannot be distinguished from those of buffers, timers and other threads.
    private static let leastReceivingTime = Duration.milliseconds(5)
    /// This much is evidence, however short the time in which it arrived.
    private static let enoughBits = 8e6
    /// A transfer this long counts as one even if it brought next to nothing.
    private static let silenceTime = Duration.milliseconds(300)
    /// A server that makes what it sends has nothing to send for at least this long between two bursts, and less than this
    /// goes by between two pieces of one, but on a link that is all but dead.
    private static let leastPause = Duration.milliseconds(50)
    /// Confidence halves while nothing is measured for this long.
    private static let ageHalfLife = 60.0

    /// The last transfers that counted, newest last.
    package private(set) var recentTransfers: [MeasuredTransfer] = []

    private var record = LoadingRecord()
    private var running: [TransferID: Running] = [:]
    private var fast = MovingAverage(halfLife: fastHalfLife)
    private var slow = MovingAverage(halfLife: slowHalfLife)
    private var latency = MovingAverage(halfLife: latencyHalfLife)
    /// The value of that average: durations are slow to make.
    private var meanLatency = Duration.zero
    private var logRate = MovingAverage(halfLife: slowHalfLife)
    private var squaredDeviation = MovingAverage(halfLife: slowHalfLife)
    private var open = Measurement()
    /// Transfers that were too small to count, from their requests to their ends.
    private var small = Measurement()
    /// Parts that were too small to count, from their first bytes to their ends.
    private var smallParts = Measurement()
    /// Transfers that count and are receiving now.
    private var receivingCount = 0
    private var lastMeasured: Duration?
    /// Up to here time has been counted, so that overlapping transfers do not count it twice.
    private var accountedUntil = Duration.zero

    /// Makes an estimator that knows nothing.
    package init() {}

    /// Bits per second in each of the last seconds in which something was being loaded, the oldest first; two minutes at
    /// most.
    package var secondRates: [Double] { record.rates }

    /// A request was sent.
    package mutating func started(_ id: TransferID, at now: Duration) {
        record.began(at: now)
        running[id] = Running(requested: now)
    }

    /// The request that was sent last waits for others of its kind: its time to the first byte says nothing of the
    /// link.
    package mutating func startedBesideOthers(_ id: TransferID) {
        running[id]?.tellsLatency = false
    }

    /// The request that was sent last is for a part of a segment, of which many make up what is measured.
    package mutating func startedPart(_ id: TransferID) { running[id]?.isPart = true }

    /// The server makes the body of this transfer while it sends it: what does not come may not be there yet. Counts from its
    /// first bytes on: call it before they come.
    package mutating func startedAtServersPace(_ id: TransferID) {
        guard let transfer = running[id], transfer.byteCount == 0 else { return }
        running[id]?.isAtServersPace = true
    }

    /// The header of the response arrived: what follows is the body.
    package mutating func responded(_ id: TransferID, at now: Duration) {
        guard var transfer = running[id], transfer.firstByte == nil else { return }
        transfer.firstByte = now
        running[id] = transfer
    }

    /// Bytes of the body arrived, counted as they were sent.
    package mutating func received(_ id: TransferID, byteCount: Int, at now: Duration) {
        guard byteCount > 0, var transfer = running[id] else { return }
        record.received(byteCount: byteCount, at: now)
        let firstByte = transfer.firstByte ?? now
        transfer.firstByte = firstByte
        transfer.byteCount += byteCount
        if transfer.isAtServersPace {
            receiveInBurst(byteCount, of: &transfer, at: now)
        } else if transfer.counts {
            transfer.addedByteCount += byteCount
            add(byteCount, at: now)
        } else {
            // The duration of what came with the first byte is unknown.
            if now > firstByte { transfer.addedByteCount += byteCount }
            let counts =
                transfer.byteCount >= Self.leastByteCount && now - transfer.requested >= Self.leastReceivingTime
            if counts {
                transfer.counts = true
                begin(at: firstByte)
                add(transfer.addedByteCount, at: now)
                if transfer.tellsLatency {
                    latency.add((firstByte - transfer.requested).seconds, weight: 1)
                    meanLatency = .seconds(latency.value ?? 0)
                }
            }
        }
        running[id] = transfer
    }

    /// Ends a transfer whose response came from memory, not over the link.
    package mutating func forget(_ id: TransferID, at now: Duration) {
        guard let transfer = running.removeValue(forKey: id) else { return }
        record.ended(at: now)
        if transfer.counts { stopReceiving(at: now) }
    }

    /// The transfer is over: finished, failed or cancelled.
    package mutating func ended(_ id: TransferID, at now: Duration) {
        guard let transfer = running.removeValue(forKey: id) else { return }
        record.ended(at: now)
        if transfer.isAtServersPace { return endBursts(of: transfer, at: now) }
        let firstByte = transfer.firstByte ?? now
        let isLarge = transfer.byteCount >= Self.leastByteCount
        let isTooFast = isLarge && now - firstByte < Self.leastReceivingTime
        // Little that took long is news as well: the link was all but dead.
        if transfer.counts || isTooFast || now - transfer.requested >= Self.silenceTime {
            var ended = MeasuredTransfer(
                byteCount: transfer.byteCount, requested: transfer.requested, firstByte: firstByte, finished: now)
            if isTooFast {
                ended.firstByte = now - Self.leastReceivingTime
                ended.requested = min(ended.requested, ended.firstByte)
            }
            remember(ended)
        }
        if !isLarge {
            small.bits += 8 * Double(transfer.byteCount)
            small.time += max(now - transfer.requested, Self.leastReceivingTime)
            if transfer.isPart, !transfer.counts { pool(transfer, receivedIn: now - firstByte, at: now) }
        }
        if transfer.counts {
            add(0, at: now)
            receivingCount -= 1
        }
        if isTooFast { addLowerBound(transfer, receivedIn: transfer.counts ? now - firstByte : .zero) }
        if receivingCount == 0 {
            if open.time >= Self.leastMeasurementTime { close(at: now) }
            open.since = nil
        }
    }

    /// Counts a body as if it had taken as long as can just be measured.
    private mutating func addLowerBound(_ transfer: Running, receivedIn time: Duration) {
        let added = transfer.counts ? transfer.addedByteCount : 0
        open.bits += 8 * Double(transfer.byteCount - added)
        open.time += Self.leastReceivingTime - time
    }

    // MARK: Parts

    /// Takes bytes of a body that is made while it is sent.
    ///
    /// With arrivals of n(1), n(2) … bytes at t(1), t(2) … a burst ends where t(i) − t(i − 1) is a pause; it brought
    /// n(2) + n(3) + … in the time from t(1) on, since nobody knows when the server began to send n(1).
    private mutating func receiveInBurst(_ byteCount: Int, of transfer: inout Running, at now: Duration) {
        defer { transfer.lastArrival = now }
        guard let last = transfer.lastArrival, now - last < Self.leastPause else {
            endBurst(of: &transfer, at: now)
            transfer.burst = Burst(firstByteCount: byteCount)
            return
        }
        transfer.burst.byteCount += byteCount
        transfer.burst.time += now - last
        // Where the link is what is waited for there may be no pause for long.
        guard transfer.burst.time >= Self.measurementTime else { return }
        let burst = transfer.burst
        transfer.burst = Burst()
        count(burst, of: &transfer, at: now)
    }

    /// A burst that came too fast to be measured counts as if it had taken as long as can just be measured; little is no
    /// measurement.
    private mutating func endBurst(of transfer: inout Running, at now: Duration) {
        var burst = transfer.burst
        transfer.burst = Burst()
        if burst.time < Self.leastReceivingTime {
            burst.byteCount += burst.firstByteCount
            burst.time = Self.leastReceivingTime
        }
        if burst.byteCount >= Self.leastByteCount { count(burst, of: &transfer, at: now) }
    }

    private mutating func count(_ burst: Burst, of transfer: inout Running, at now: Duration) {
        transfer.addedByteCount += burst.byteCount
        transfer.burstTime += burst.time
        count(Measurement(bits: 8 * Double(burst.byteCount), time: burst.time), at: now)
    }

    private mutating func endBursts(of transfer: Running, at now: Duration) {
        var transfer = transfer
        endBurst(of: &transfer, at: now)
        guard transfer.addedByteCount > 0 else { return }
        // As if it had come in one piece, after a wait as long as others have.
        let firstByte = now - transfer.burstTime
        remember(
            MeasuredTransfer(
                byteCount: transfer.addedByteCount, requested: firstByte - meanLatency, firstByte: firstByte,
                finished: now))
    }

    /// Takes a part that is too small to be measured; together with others it is large enough.
    private mutating func pool(_ transfer: Running, receivedIn time: Duration, at now: Duration) {
        guard transfer.byteCount > 0 else { return }
        smallParts.bits += 8 * Double(transfer.byteCount)
        smallParts.time += max(time, Self.leastReceivingTime)
        guard smallParts.bits >= 8 * Double(Self.leastByteCount) else { return }
        if transfer.tellsLatency, let firstByte = transfer.firstByte {
            latency.add((firstByte - transfer.requested).seconds, weight: 1)
            meanLatency = .seconds(latency.value ?? 0)
        }
        let firstByte = now - smallParts.time
        remember(
            MeasuredTransfer(
                byteCount: Int(smallParts.bits / 8), requested: firstByte - meanLatency, firstByte: firstByte,
                finished: now))
        count(smallParts, at: now)
        smallParts = Measurement()
    }

    /// Counts what was measured apart.
    private mutating func count(_ measurement: Measurement, at now: Duration) {
        open = open.extended(to: now)
        open.bits += measurement.bits
        // Where something else was receiving, that time has been counted.
        if receivingCount == 0 { open.time += measurement.time }
        if open.time >= Self.leastMeasurementTime { close(at: now) }
    }

    private mutating func stopReceiving(at now: Duration) {
        add(0, at: now)
        receivingCount -= 1
        if receivingCount == 0 { open.since = nil }
    }

    private mutating func remember(_ transfer: MeasuredTransfer) {
        if recentTransfers.count == Self.historyCount { recentTransfers.removeFirst() }
        recentTransfers.append(transfer)
    }

    /// The estimate at this time; nil while nothing was measured.
    package func estimate(at now: Duration) -> ThroughputEstimate? {
        let (fast, slow) = averages(at: now)
        guard let low = fast.value, let high = slow.value else { return nil }
        let age = lastMeasured.map { open.since == nil ? max(0, (now - $0).seconds) : 0 } ?? 0
        return ThroughputEstimate(
            bitsPerSecond: min(low, high),
            confidence: age > 0 ? slow.share * exp2(-age / Self.ageHalfLife) : slow.share,
            spread: (squaredDeviation.value ?? 0).squareRoot(), latency: meanLatency)
    }

    /// The rate of the estimate alone.
    package func bitsPerSecond(at now: Duration) -> Double? {
        let (fast, slow) = averages(at: now)
        guard let low = fast.value, let high = slow.value else { return nil }
        return min(low, high)
    }

    /// The averages with the open measurement, if that is worth counting.
    private func averages(at now: Duration) -> (fast: MovingAverage, slow: MovingAverage) {
        var (fast, slow) = (fast, slow)
        guard let pending = pending(at: now) else { return (fast, slow) }
        let weight = max(pending.time, Self.leastReceivingTime).seconds
        fast.add(pending.bits / weight, weight: weight)
        slow.add(pending.bits / weight, weight: weight)
        return (fast, slow)
    }

    /// The open measurement, if it is worth counting: while nothing else is known, less will do.
    private func pending(at now: Duration) -> Measurement? {
        let pending = open.extended(to: now)
        guard lastMeasured == nil else { return pending.time >= Self.measurementTime ? pending : nil }
        if pending.time >= Self.leastMeasurementTime || pending.bits >= Self.enoughBits { return pending }
        let all = Measurement(bits: pending.bits + small.bits, time: pending.time + small.time)
        return all.bits >= Self.enoughBits ? all : nil
    }

    // MARK: - Measurements

    private mutating func begin(at time: Duration) {
        receivingCount += 1
        if receivingCount == 1 { open.since = max(time, accountedUntil) }
    }

    private mutating func add(_ byteCount: Int, at now: Duration) {
        open = open.extended(to: now)
        accountedUntil = max(accountedUntil, now)
        open.bits += 8 * Double(byteCount)
        if open.time >= Self.measurementTime { close(at: now) }
    }

    private mutating func close(at now: Duration) {
        let weight = open.time.seconds
        let rate = open.bits / weight
        fast.add(rate, weight: weight)
        slow.add(rate, weight: weight)
        // Below a kilobit a second the logarithm says nothing more.
        let level = log(max(rate, 1000))
        if let expected = logRate.value {
            squaredDeviation.add((level - expected) * (level - expected), weight: weight)
        }
        logRate.add(level, weight: weight)
        open = Measurement(since: open.since == nil ? nil : now)
        lastMeasured = now
    }
}

extension ThroughputEstimator {
    private struct Running: Sendable {
        var requested: Duration
        var firstByte: Duration?
        var byteCount = 0
        /// Bytes that are measured, or will be as soon as the transfer counts.
        var addedByteCount = 0
        var counts = false
        var tellsLatency = true
        var isPart = false
        var isAtServersPace = false
        /// What came since the last pause of the server, when its last bytes came, and the time of the bursts that count.
        var burst = Burst()
        var lastArrival: Duration?
        var burstTime = Duration.zero
    }

    /// Bytes without a pause between them.
    private struct Burst: Sendable {
        /// Those that came first: the time that they took is not known.
        var firstByteCount = 0
        var byteCount = 0
        var time = Duration.zero
    }

    /// Bits and the time in which they came.
    private struct Measurement: Sendable {
        var bits = 0.0
        var time = Duration.zero
        /// From when on time still has to be added; nil while nothing is being received.
        var since: Duration?

        func extended(to now: Duration) -> Measurement {
            guard let since, now > since else { return self }
            return Measurement(bits: bits, time: time + (now - since), since: now)
        }
    }
}

/// An exponentially weighted mean, corrected for its start.
package struct MovingAverage: Sendable, Hashable {
    let halfLife: Double
    private var sum = 0.0
    /// The weight that real samples have in the mean, from 0 to 1: 1 − 0.5^(W/h).
    private(set) var share = 0.0

    /// - Parameter halfLife: the weight after which a sample counts half.
    package init(halfLife: Double) {
        self.halfLife = halfLife
    }

    /// nil before the first sample.
    package var value: Double? { share > 0 ? sum / share : nil }

    /// Samples without weight, and what is not a number, count nothing.
    package mutating func add(_ sample: Double, weight: Double) {
        guard weight > 0, sample.isFinite else { return }
        let rest = exp2(-weight / halfLife)
        sum = rest * sum + (1 - rest) * sample
        share = rest * share + (1 - rest)
    }
}
