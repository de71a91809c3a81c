package import HLSKitMedia
import Synchronization

/// The positions of an item's writers on their own timeline, regardless of whether the item or a replacement is
/// written.
package final class WriterCursor: Sendable {
    private struct State {
        var ends: [MediaKind: Duration] = [:]
        /// The accumulated delay of the output. It grows if media extends past a planned end, or begins before its
        /// planned start.
        var excess = Duration.zero
    }

    /// A larger overlap is not a continuation.
    private static let maximumExcess = Duration.seconds(2)

    private let state = Mutex(State())

    /// Converts the planned shift from the item time of the next media to the writers' time.
    ///
    /// - Parameter time: The item time at which the next media starts after the written media, which may be longer than
    ///   the player knew. Pass `nil` if the previous media ended at a position up to which it was written.
    /// - Returns: The actual shift.
    package func place(_ shift: Duration, after time: Duration?) -> Duration {
        state.withLock { state in
            let shift = shift + state.excess
            guard let time, let end = state.ends.values.max() else { return shift }
            let excess = end - (time + shift)
            guard excess > .zero, excess <= Self.maximumExcess else { return shift }
            state.excess += excess
            return shift + excess
        }
    }

    package var isAtStart: Bool { state.withLock { $0.ends.isEmpty } }

    /// Adds space for media that begins before its planned start.
    ///
    /// - Parameter lead: The time between the start of the media and its planned start.
    /// - Returns: The additional shift of the media.
    package func makeRoom(for lead: Duration) -> Duration {
        guard lead > .zero, lead <= Self.maximumExcess else { return .zero }
        state.withLock { $0.excess += lead }
        return lead
    }

    package func note(_ end: Duration, of type: MediaKind) {
        state.withLock { state in
            // Frames are not written in presentation order. A much earlier end is the result of a seek.
            state.ends[type] = state.ends[type].flatMap { $0 - end < .seconds(1) ? max($0, end) : nil } ?? end
        }
    }
}
