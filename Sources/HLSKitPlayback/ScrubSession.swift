public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// A finger on the time line: the player is paused while it moves, and continues as before when it is lifted.
///
/// ```swift
/// let session = ScrubSession(player)
/// try await session.scrub(to: time)  // as often as the finger moves: the newest place wins
/// session.end()
/// ```
///
/// See docs/behaviour/seeking.md.
public final class ScrubSession: Sendable {
    private let player: Player
    /// The rate to go back to; nil when that was done.
    private let rate: Mutex<Float?>

    /// Pauses `player` and remembers its rate.
    public init(_ player: Player) {
        self.player = player
        rate = Mutex(player.rate)
        player.pause()
    }

    /// A session that is let go ends.
    deinit { end() }

    /// Shows the frame of this item time.
    ///
    /// - Returns: False if a newer place came before the frame, and after ``end()``.
    /// - Throws: As ``Player/seek(to:toleranceBefore:toleranceAfter:)``.
    @discardableResult
    public func scrub(to time: MediaTime) async throws(HLSError) -> Bool {
        guard rate.withLock({ $0 != nil }) else { return false }
        return try await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
    }

    /// Gives the player its rate back. Further calls do nothing.
    public func end() {
        let rate = rate.withLock { rate in
            defer { rate = nil }
            return rate
        }
        if let rate { player.rate = rate }
    }
}
