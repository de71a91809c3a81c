package import HLSKitMedia
import Synchronization

/// Where the writers of an item are, in their time, whoever writes to them: the item, and what is played in its place.
package final class WriterCursor: Sendable {
    private struct State {
        /// Where the last media of each kind ends.
        var ends: [MediaKind: Duration] = [:]
        /// So much later than it was to be is what comes, since something was left before the end of what was written of it,
        /// or had media before its beginning.
        var excess = Duration.zero
    }

    /// What goes on so much before the end of what was written is something else.
    private static let maximumExcess = Duration.seconds(2)

    private let state = Mutex(State())

    /// Something else is written from now on, so much later in the time of writers than in its item.
    ///
    /// - Parameter time: it goes on there, in item time, behind all that was written: more of that than the player knew when
    ///   what was before it was left. nil where it was left at a place up to which media was written.
    /// - Returns: how much later it is.
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

    /// Nothing was written yet.
    package var isAtStart: Bool { state.withLock { $0.ends.isEmpty } }

    /// What is written from now on has media before the time that it was placed by.
    ///
    /// - Parameter lead: so much.
    /// - Returns: it is so much later.
    package func makeRoom(for lead: Duration) -> Duration {
        guard lead > .zero, lead <= Self.maximumExcess else { return .zero }
        state.withLock { $0.excess += lead }
        return lead
    }

    /// Media is written that ends there.
    package func note(_ end: Duration, of type: MediaKind) {
        state.withLock { state in
            // Pictures are not written in the order in which they are shown. What is earlier than that is of a seek.
            state.ends[type] = state.ends[type].flatMap { $0 - end < .seconds(1) ? max($0, end) : nil } ?? end
        }
    }
}
