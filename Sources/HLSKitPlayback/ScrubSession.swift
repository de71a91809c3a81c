public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// A scrubbing gesture: the player is paused during it, and returns to its earlier rate afterwards.
///
/// ```swift
/// let session = ScrubSession(player)
/// try await session.scrub(to: time)  // as often as the finger moves: the newest position wins
/// session.end()
/// ```
public final class ScrubSession: Sendable {
    private let player: Player
    /// The rate to restore, or `nil` after it has been restored.
    private let rate: Mutex<Float?>

    /// Pauses `player` and remembers its rate.
    public init(_ player: Player) {
        self.player = player
        rate = Mutex(player.rate)
        player.pause()
    }

    deinit { end() }

    /// Shows the frame at an item time.
    ///
    /// - Returns: `false` if a newer position arrived before the frame was shown, or if ``end()`` was called.
    /// - Throws: The same errors as ``Player/seek(to:toleranceBefore:toleranceAfter:)``.
    @discardableResult
    public func scrub(to time: MediaTime) async throws(HLSError) -> Bool {
        guard rate.withLock({ $0 != nil }) else { return false }
        return try await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
    }

    /// Restores the player's rate.
    ///
    /// Further calls have no effect.
    public func end() {
        let rate = rate.withLock { rate in
            defer { rate = nil }
            return rate
        }
        if let rate { player.rate = rate }
    }
}
