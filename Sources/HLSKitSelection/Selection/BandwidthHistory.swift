package import HLSKitPlaylist
import Synchronization

/// A record of measured throughput that players share.
///
/// Give the same history to all players of an app, so that each starts on a variant that earlier throughput supports.
/// Store ``estimates`` to keep them beyond the lifetime of the process.
public final class BandwidthHistory: Sendable {
    private let state: Mutex<BandwidthEstimates>

    /// Creates a history that begins with `estimates`, which are empty by default.
    public init(_ estimates: BandwidthEstimates = .init()) { state = Mutex(estimates) }

    /// The current estimates.
    public var estimates: BandwidthEstimates { state.withLock { $0 } }

    package func note(_ bitsPerSecond: Double, host: String, at date: PlaylistDate) {
        state.withLock { $0.note(bitsPerSecond, host: host, at: date) }
    }

    /// Removes all estimates.
    public func removeAll() { state.withLock { $0.entries = [:] } }
}

/// The throughput of hosts, each with the date of its measurement.
public struct BandwidthEstimates: Sendable, Hashable, Codable {
    package struct Entry: Sendable, Hashable, Codable {
        package var bitsPerSecond: Double
        package var measuredAt: PlaylistDate

        package init(bitsPerSecond: Double, measuredAt: PlaylistDate) {
            self.bitsPerSecond = bitsPerSecond
            self.measuredAt = measuredAt
        }
    }

    /// The entries by host, with the port if it is not the default of the scheme.
    package var entries: [String: Entry]
    /// The age after which an estimate is ignored. The default is one day.
    package var maximumAge: Duration
    /// The number of hosts to keep. Beyond it, the oldest is removed. The default is 256.
    package var maximumHostCount: Int

    /// Creates empty estimates.
    public init(maximumAge: Duration = .seconds(86_400), maximumHostCount: Int = 256) {
        self.init(entries: [:], maximumAge: maximumAge, maximumHostCount: maximumHostCount)
    }

    package init(
        entries: [String: Entry], maximumAge: Duration = .seconds(86_400), maximumHostCount: Int = 256
    ) {
        self.entries = entries
        self.maximumAge = maximumAge
        self.maximumHostCount = maximumHostCount
    }

    package func bitsPerSecond(host: String, at date: PlaylistDate) -> Double? {
        guard let entry = entries[host], entry.bitsPerSecond.isFinite, entry.bitsPerSecond > 0 else { return nil }
        // If the clock was set back, estimates remain valid.
        return date - entry.measuredAt <= maximumAge ? entry.bitsPerSecond : nil
    }

    package mutating func note(_ bitsPerSecond: Double, host: String, at date: PlaylistDate) {
        guard bitsPerSecond.isFinite, bitsPerSecond > 0 else { return }
        entries[host] = Entry(bitsPerSecond: bitsPerSecond, measuredAt: date)
        guard entries.count > max(1, maximumHostCount) else { return }
        let oldest = entries.min { ($0.value.measuredAt, $0.key) < ($1.value.measuredAt, $1.key) }
        if let oldest { entries[oldest.key] = nil }
    }
}
