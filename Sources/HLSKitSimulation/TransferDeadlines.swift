import HLSKitCore

/// The time at which a transfer over a simulated link fails, according to ``TransportTimeouts``.
///
/// The low-speed rule is a time budget. Each byte adds its share of a second at the lowest allowed rate, up to
/// ``TransportTimeouts/lowSpeed``. A transfer that stops therefore fails after exactly that time, and a very slow one
/// soon after.
struct TransferDeadlines {
    typealias Milliseconds = NetworkTrace.Milliseconds

    private let timeouts: TransportTimeouts
    private let startedAt: Milliseconds
    /// The end of the budget, or nil before the first byte.
    private var lowSpeedAt: Milliseconds?
    private var pausedAt: Milliseconds?
    private var pausedFor = 0.0

    init(_ timeouts: TransportTimeouts, startedAt: Milliseconds) {
        self.timeouts = timeouts
        self.startedAt = startedAt
    }

    /// The next time at which the transfer fails unless data arrives, or nil while it is paused.
    var next: Milliseconds? {
        guard pausedAt == nil else { return nil }
        let rule = lowSpeedAt ?? startedAt + timeouts.firstByte.milliseconds + pausedFor
        guard let total = timeouts.total else { return rule }
        return min(rule, startedAt + total.milliseconds + pausedFor)
    }

    /// Describes the deadline that passed at ``next``, for messages.
    var reason: String {
        if let total = timeouts.total, next == startedAt + total.milliseconds + pausedFor {
            return "not complete within \(Int(total.milliseconds)) ms"
        }
        guard lowSpeedAt != nil else { return "no byte within \(Int(timeouts.firstByte.milliseconds)) ms" }
        return "fewer than \(timeouts.minimumBytesPerSecond) bytes/s for \(Int(timeouts.lowSpeed.milliseconds)) ms"
    }

    /// Records the arrival of the header (no bytes) or of body bytes.
    mutating func receive(byteCount: Int, at time: Milliseconds) {
        let stock = timeouts.lowSpeed.milliseconds
        guard let end = lowSpeedAt else {
            lowSpeedAt = time + stock
            return
        }
        let bought = Double(byteCount) * 1000 / Double(max(1, timeouts.minimumBytesPerSecond))
        lowSpeedAt = min(max(end, time) + bought, time + stock)
    }

    /// The caller pauses delivery, which must not count against the deadline.
    mutating func setPaused(_ isPaused: Bool, at time: Milliseconds) {
        if isPaused {
            pausedAt = pausedAt ?? time
        } else if let begin = pausedAt {
            pausedAt = nil
            pausedFor += time - begin
            lowSpeedAt = lowSpeedAt.map { $0 + time - begin }
        }
    }
}
