package import HLSKitPlaylist
import Synchronization

/// Throughput that players have measured, kept from one player to the next.
///
/// Give the same history to all players of a program: each begins on the variant that the ones before it found
/// possible. Store ``estimates`` to keep it longer than the process lives. See docs/behaviour/selection.md.
public final class BandwidthHistory: Sendable {
    private let state: Mutex<BandwidthEstimates>

    /// Makes a history that begins with `estimates`; empty by default.
    public init(_ estimates: BandwidthEstimates = .init()) { state = Mutex(estimates) }

    /// All that is known now.
    public var estimates: BandwidthEstimates { state.withLock { $0 } }

    /// Takes down what was measured. Players do so after each segment.
    package func note(_ bitsPerSecond: Double, host: String, at date: PlaylistDate) {
        state.withLock { $0.note(bitsPerSecond, host: host, at: date) }
    }

    /// Forgets everything.
    public func removeAll() { state.withLock { $0.entries = [:] } }
}

/// The throughput of hosts, each with the date at which it was measured.
public struct BandwidthEstimates: Sendable, Hashable, Codable {
    /// The throughput of one host.
    package struct Entry: Sendable, Hashable, Codable {
        /// The estimate in bits per second.
        package var bitsPerSecond: Double
        /// When it was measured.
        package var measuredAt: PlaylistDate

        /// Makes an entry.
        package init(bitsPerSecond: Double, measuredAt: PlaylistDate) {
            self.bitsPerSecond = bitsPerSecond
            self.measuredAt = measuredAt
        }
    }

    /// By host, and its port where it is not the scheme's own.
    package var entries: [String: Entry]
    /// The age from which on an estimate says nothing any more. Default: a day.
    package var maximumAge: Duration
    /// The hosts that are kept; beyond them the oldest goes. Default 256.
    package var maximumHostCount: Int

    /// Knows nothing yet.
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

    /// The throughput to expect of a host, in bits per second; nil if nothing is known, or nothing recent.
    package func bitsPerSecond(host: String, at date: PlaylistDate) -> Double? {
        guard let entry = entries[host], entry.bitsPerSecond.isFinite, entry.bitsPerSecond > 0 else { return nil }
        // A clock that was set back makes no estimate old.
        return date - entry.measuredAt <= maximumAge ? entry.bitsPerSecond : nil
    }

    /// Replaces what is known of a host.
    package mutating func note(_ bitsPerSecond: Double, host: String, at date: PlaylistDate) {
        guard bitsPerSecond.isFinite, bitsPerSecond > 0 else { return }
        entries[host] = Entry(bitsPerSecond: bitsPerSecond, measuredAt: date)
        guard entries.count > max(1, maximumHostCount) else { return }
        let oldest = entries.min { ($0.value.measuredAt, $0.key) < ($1.value.measuredAt, $1.key) }
        if let oldest { entries[oldest.key] = nil }
    }
}
