import HLSKitLoading
import HLSKitTime

/// Statistics about a live item: its latency, and its use of low-latency features.
///
/// Latencies are as in ``PlayerItem/liveLatency``, weighted by presentation time.
public struct LiveStatistics: Sendable, Hashable {
    /// The distance from the live edge at which to play, or `nil` if it is unknown.
    ///
    /// See ``PlayerItem/configuredTimeOffsetFromLive``.
    public var targetTimeOffset: Duration?
    /// The number of loaded partial segments.
    public var numberOfParts = 0
    /// The number of blocking playlist requests that returned the expected update.
    public var numberOfBlockingReloads = 0
    /// The number of delta updates of playlists.
    public var numberOfDeltaUpdates = 0
    /// The number of preload hints that became media.
    public var numberOfUsedHints = 0
    /// The number of requested preload hints that remained unused.
    public var numberOfWastedHints = 0
    package var latencies = LatencyHistogram()

    package init() {}

    /// The mean latency, or `nil` if nothing was presented yet.
    public var meanLatency: Duration? { latencies.mean }
    /// The highest latency, or `nil` if nothing was presented yet.
    public var maximumLatency: Duration? { latencies.maximum }

    /// Returns the latency that was not exceeded for a share of the time.
    ///
    /// The result is exact to half a percent. The call iterates over some hundred values.
    ///
    /// - Parameter share: The share, `0...1`. 0.5 gives the median.
    /// - Returns: The latency, or `nil` if nothing was presented yet.
    public func latency(atPercentile share: Double) -> Duration? { latencies.percentile(share) }
}

// MARK: - Latencies

/// The distribution of latencies over presentation time.
///
/// Latencies have a resolution of 1 ms up to a quarter of a second, and of half a percent above. The size is therefore
/// bounded, regardless of the length of a stream.
package struct LatencyHistogram: Sendable, Hashable {
    private static let unit = 256

    private var times: [Int32: Duration] = [:]
    private(set) var sum = LatencyMean()
    private var highest: Duration?

    package init() {}

    package var isEmpty: Bool { times.isEmpty }

    package mutating func add(_ latency: Duration, for time: Duration) {
        guard time > .zero else { return }
        let latency = LatencyMean.bounded(latency)
        times[Self.bucket(of: latency), default: .zero] += time
        sum.add(latency, for: time)
        highest = max(highest ?? latency, latency)
    }

    package var mean: Duration? { sum.value }
    package var maximum: Duration? { highest }

    /// The latency that was not exceeded for a share of the time, exact to half a percent.
    package func percentile(_ share: Double) -> Duration? {
        guard !times.isEmpty, share < 1 else { return highest }
        let rank = sum.time.seconds * min(max(share, 0), 1)
        var passed = 0.0
        for (bucket, time) in times.sorted(by: { $0.key < $1.key }) {
            passed += time.seconds
            if passed >= rank - 1e-9 { return min(Self.latency(of: bucket), highest ?? .zero) }
        }
        return highest
    }

    /// Buckets of one millisecond up to 256 ms, then 256 buckets for each doubling.
    private static func bucket(of latency: Duration) -> Int32 {
        let milliseconds = Int((latency.seconds.magnitude * 1000).rounded())
        let sign: Int32 = latency < .zero ? -1 : 1
        guard milliseconds >= unit else { return sign * Int32(milliseconds) }
        let exponent = Int.bitWidth - 9 - milliseconds.leadingZeroBitCount
        let step = (milliseconds >> exponent) - unit
        return sign * Int32(unit + exponent * unit + step)
    }

    /// The middle of a bucket.
    private static func latency(of bucket: Int32) -> Duration {
        let place = Int(bucket.magnitude)
        guard place >= unit else { return .milliseconds(Int(bucket)) }
        let (exponent, step) = ((place - unit) / unit, (place - unit) % unit)
        let milliseconds = Double((unit + step) << exponent) + Double(1 << exponent - 1) / 2
        return .microseconds(Int64((bucket < 0 ? -milliseconds : milliseconds) * 1000))
    }
}

/// A mean over time, computed incrementally.
struct LatencyMean: Sendable, Hashable {
    private(set) var time = Duration.zero
    /// The sum of latency times presentation time, in s².
    private var weighted = 0.0

    /// The maximum latency. Higher ones are clamped, because they only show that a clock is wrong.
    private static let limit = Duration.seconds(1_000_000)
    static func bounded(_ latency: Duration) -> Duration { min(max(latency, .zero - limit), limit) }

    var value: Duration? {
        time > .zero ? .microseconds(Int64((weighted / time.seconds * 1_000_000).rounded())) : nil
    }

    mutating func add(_ latency: Duration, for time: Duration) {
        self.time += time
        weighted += Self.bounded(latency).seconds * time.seconds
    }

    static func += (mean: inout LatencyMean, other: LatencyMean) {
        mean.time += other.time
        mean.weighted += other.weighted
    }

    static func - (one: LatencyMean, other: LatencyMean) -> LatencyMean {
        var difference = one
        difference.time -= other.time
        difference.weighted -= other.weighted
        return difference
    }
}
