import Glibc
import HLSKitLoading
import HLSKitTime

/// An estimate of the rate at which the next bytes will arrive.
public struct ThroughputEstimate: Sendable, Hashable {
    /// The rate in bits per second while bytes flow, excluding the time to the first one.
    public var bitsPerSecond: Double
    /// The confidence from 0 (a guess) to 1 (much recent evidence).
    public var confidence: Double
    /// The standard deviation of the natural logarithm of the rate between measurements.
    public var spread: Double
    /// The time from a request to the first byte of its response.
    public var latency: Duration

    package init(bitsPerSecond: Double, confidence: Double = 1, spread: Double = 0, latency: Duration = .zero) {
        self.bitsPerSecond = bitsPerSecond
        self.confidence = confidence
        self.spread = spread
        self.latency = latency
    }
}

/// Estimates the throughput of the link from the arrival of all media.
///
/// It measures the link, not a transfer: the bits of all transfers, divided by the time in which at least one of them
/// was receiving. The time to the first byte is measured separately. A measurement ends after 250 ms of receiving, and
/// feeds two time-weighted moving averages with half-lives of 3 s and 8 s. The lower one is the estimate, so that it
/// follows a drop sooner than a rise. Both are corrected for their start: with weight W and half-life h, the average is
/// divided by 1 − 0.5^(W/h). An unfinished measurement also counts, so that a dead link is noticed.
///
/// A body that arrives in less than 5 ms only shows that the link is *not slower*. It counts as if it had taken 5 ms, a
/// lower bound. So the estimate can rise to the rates of better variants even on the fastest links. A transfer of less
/// than 16 kB is not measured. Before anything else is known, the small transfers together, including their waiting
/// time, give a lower bound once they reach one megabyte. Data from memory is not a transfer (``forget(_:at:)``).
///
/// The parts of low-latency streams are smaller than segments, and the server may be slower than the link:
/// - A body that the server sends while it makes it arrives in bursts. Only bytes within a burst count, with the time
///   since the previous bytes. Pauses and the first bytes after a pause do not count (``startedAtServersPace(_:)``).
/// - Parts of less than 16 kB count together once they reach that size (``startedPart(_:)``).
package struct ThroughputEstimator: Sendable {
    package typealias TransferID = Int

    static let historyCount = 20

    private static let fastHalfLife = 3.0
    private static let slowHalfLife = 8.0
    private static let latencyHalfLife = 3.0  // transfers
    private static let measurementTime = Duration.milliseconds(250)
    private static let leastMeasurementTime = Duration.milliseconds(50)
    private static let leastByteCount = 16_000
    /// Shorter times cannot be distinguished from the effects of buffers, timers and other threads.
    private static let leastReceivingTime = Duration.milliseconds(5)
    /// The amount that counts as evidence even if it arrived in a very short time.
    private static let enoughBits = 8e6
    /// The duration from which on a transfer counts even if it brought almost nothing.
    private static let silenceTime = Duration.milliseconds(300)
    /// The shortest pause between two bursts of a server that sends while it produces. The time between two pieces of
    /// one burst is shorter, except on an almost dead link.
    private static let leastPause = Duration.milliseconds(50)
    /// The time without measurements in which confidence halves.
    private static let ageHalfLife = 60.0

    /// The last transfers that counted, the newest last.
    package private(set) var recentTransfers: [MeasuredTransfer] = []

    private var record = LoadingRecord()
    private var running: [TransferID: Running] = [:]
    private var fast = MovingAverage(halfLife: fastHalfLife)
    private var slow = MovingAverage(halfLife: slowHalfLife)
    private var latency = MovingAverage(halfLife: latencyHalfLife)
    /// The time from a request to the first byte of its response, or zero while unknown.
    ///
    /// This is the value of ``latency``, cached because creating durations is slow.
    package private(set) var meanLatency = Duration.zero
    private var logRate = MovingAverage(halfLife: slowHalfLife)
    private var squaredDeviation = MovingAverage(halfLife: slowHalfLife)
    private var open = Measurement()
    /// Transfers that were too small to count, from request to end.
    private var small = Measurement()
    /// Parts that were too small to count, from first byte to end.
    private var smallParts = Measurement()
    private var receivingCount = 0
    private var lastMeasured: Duration?
    /// The time up to which receiving time has been counted, so that overlapping transfers do not count it twice.
    private var accountedUntil = Duration.zero

    package init() {}

    /// The rates in bits per second of recent seconds with loading, the oldest first, at most 120.
    package var secondRates: [Double] { record.rates }

    package mutating func started(_ id: TransferID, at now: Duration) {
        record.began(at: now)
        running[id] = Running(requested: now)
    }

    /// Marks a request that waits for others of its kind, so that its time to the first byte does not measure the link.
    package mutating func startedConcurrently(_ id: TransferID) {
        running[id]?.measuresLatency = false
    }

    /// Marks a request for a part, which is measured together with other parts.
    package mutating func startedPart(_ id: TransferID) { running[id]?.isPart = true }

    /// Marks a body that the server sends while it makes it, so that missing bytes may not exist yet. Has an effect
    /// only before its first bytes arrive.
    package mutating func startedAtServersPace(_ id: TransferID) {
        guard let transfer = running[id], transfer.byteCount == 0 else { return }
        running[id]?.isAtServersPace = true
    }

    package mutating func responded(_ id: TransferID, at now: Duration) {
        guard var transfer = running[id], transfer.firstByte == nil else { return }
        transfer.firstByte = now
        running[id] = transfer
    }

    /// Records received bytes of the body, as transferred.
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
            // The duration of the bytes that arrived with the first one is unknown.
            if now > firstByte { transfer.addedByteCount += byteCount }
            let counts =
                transfer.byteCount >= Self.leastByteCount && now - transfer.requested >= Self.leastReceivingTime
            if counts {
                transfer.counts = true
                begin(at: firstByte)
                add(transfer.addedByteCount, at: now)
                if transfer.measuresLatency {
                    latency.add((firstByte - transfer.requested).seconds, weight: 1)
                    meanLatency = .seconds(latency.value ?? 0)
                }
            }
        }
        running[id] = transfer
    }

    /// Ends a transfer whose response came from memory instead of the link.
    package mutating func forget(_ id: TransferID, at now: Duration) {
        guard let transfer = running.removeValue(forKey: id) else { return }
        record.ended(at: now)
        if transfer.counts { stopReceiving(at: now) }
    }

    package mutating func ended(_ id: TransferID, at now: Duration) {
        guard let transfer = running.removeValue(forKey: id) else { return }
        record.ended(at: now)
        if transfer.isAtServersPace { return endBursts(of: transfer, at: now) }
        let firstByte = transfer.firstByte ?? now
        let isLarge = transfer.byteCount >= Self.leastByteCount
        let isTooFast = isLarge && now - firstByte < Self.leastReceivingTime
        // Little data in a long time also counts, because the link was almost dead.
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

    private mutating func addLowerBound(_ transfer: Running, receivedIn time: Duration) {
        let added = transfer.counts ? transfer.addedByteCount : 0
        open.bits += 8 * Double(transfer.byteCount - added)
        open.time += Self.leastReceivingTime - time
    }

    // MARK: Parts

    /// Records bytes of a body that the server sends while it makes it.
    ///
    /// With arrivals of n(1), n(2) … bytes at t(1), t(2) …, a burst ends at i if t(i) − t(i − 1) is a pause. It brought
    /// n(2) + n(3) + … since t(1), because the time at which the server began to send n(1) is unknown.
    private mutating func receiveInBurst(_ byteCount: Int, of transfer: inout Running, at now: Duration) {
        defer { transfer.lastArrival = now }
        guard let last = transfer.lastArrival, now - last < Self.leastPause else {
            endBurst(of: &transfer, at: now)
            transfer.burst = Burst(firstByteCount: byteCount)
            return
        }
        transfer.burst.byteCount += byteCount
        transfer.burst.time += now - last
        // If the link is slower than the server, there may be no pause for a long time.
        guard transfer.burst.time >= Self.measurementTime else { return }
        let burst = transfer.burst
        transfer.burst = Burst()
        count(burst, of: &transfer, at: now)
    }

    /// A burst that was too fast to measure counts as if it had taken the shortest measurable time. A small burst does
    /// not count.
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
        // Record it as if it had arrived in one piece, after the average latency.
        let firstByte = now - transfer.burstTime
        remember(
            MeasuredTransfer(
                byteCount: transfer.addedByteCount, requested: firstByte - meanLatency, firstByte: firstByte,
                finished: now))
    }

    /// Adds a part that is too small to measure to the pool, which is measured once it is large enough.
    private mutating func pool(_ transfer: Running, receivedIn time: Duration, at now: Duration) {
        guard transfer.byteCount > 0 else { return }
        smallParts.bits += 8 * Double(transfer.byteCount)
        smallParts.time += max(time, Self.leastReceivingTime)
        guard smallParts.bits >= 8 * Double(Self.leastByteCount) else { return }
        if transfer.measuresLatency, let firstByte = transfer.firstByte {
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

    private mutating func count(_ measurement: Measurement, at now: Duration) {
        open = open.extended(to: now)
        open.bits += measurement.bits
        // If another transfer was receiving, that time has already been counted.
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

    package func estimate(at now: Duration) -> ThroughputEstimate? {
        let (fast, slow) = averages(at: now)
        guard let low = fast.value, let high = slow.value else { return nil }
        let age = lastMeasured.map { open.since == nil ? max(0, (now - $0).seconds) : 0 } ?? 0
        return ThroughputEstimate(
            bitsPerSecond: min(low, high),
            confidence: age > 0 ? slow.share * exp2(-age / Self.ageHalfLife) : slow.share,
            spread: (squaredDeviation.value ?? 0).squareRoot(), latency: meanLatency)
    }

    package func bitsPerSecond(at now: Duration) -> Double? {
        let (fast, slow) = averages(at: now)
        guard let low = fast.value, let high = slow.value else { return nil }
        return min(low, high)
    }

    private func averages(at now: Duration) -> (fast: MovingAverage, slow: MovingAverage) {
        var (fast, slow) = (fast, slow)
        guard let pending = pending(at: now) else { return (fast, slow) }
        let weight = max(pending.time, Self.leastReceivingTime).seconds
        fast.add(pending.bits / weight, weight: weight)
        slow.add(pending.bits / weight, weight: weight)
        return (fast, slow)
    }

    /// The open measurement, if it is long enough. Before the first measurement, less is enough.
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
        // Below one kilobit per second, the logarithm has no meaning.
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
        /// Bytes that are measured, or will be once the transfer counts.
        var addedByteCount = 0
        var counts = false
        var measuresLatency = true
        var isPart = false
        var isAtServersPace = false
        /// The bytes since the last pause, the time of the last arrival, and the total time of the counted bursts.
        var burst = Burst()
        var lastArrival: Duration?
        var burstTime = Duration.zero
    }

    private struct Burst: Sendable {
        /// The first bytes, whose transfer time is not known.
        var firstByteCount = 0
        var byteCount = 0
        var time = Duration.zero
    }

    private struct Measurement: Sendable {
        var bits = 0.0
        var time = Duration.zero
        /// The time from which on receiving time must still be added, or nil if nothing is being received.
        var since: Duration?

        func extended(to now: Duration) -> Measurement {
            guard let since, now > since else { return self }
            return Measurement(bits: bits, time: time + (now - since), since: now)
        }
    }
}

package struct MovingAverage: Sendable, Hashable {
    let halfLife: Double
    private var sum = 0.0
    /// The weight of actual samples in the mean, from 0 to 1: 1 − 0.5^(W/h).
    private(set) var share = 0.0

    /// - Parameter halfLife: The total weight of later samples after which a sample counts half.
    package init(halfLife: Double) {
        self.halfLife = halfLife
    }

    package var value: Double? { share > 0 ? sum / share : nil }

    /// Adds a sample. Samples without weight or without a finite value are ignored.
    package mutating func add(_ sample: Double, weight: Double) {
        guard weight > 0, sample.isFinite else { return }
        let rest = exp2(-weight / halfLife)
        sum = rest * sum + (1 - rest) * sample
        share = rest * share + (1 - rest)
    }
}
