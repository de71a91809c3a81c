package import HLSKitPlaylist

/// Where a program wants the playhead to be.
package struct SeekRequest: Sendable, Hashable {
    package enum Destination: Sendable, Hashable {
        case time(Duration)
        /// The end; for live as far from the edge as the item is configured to be.
        case edge
        /// By the dates of the playlist.
        case date(PlaylistDate)
    }

    /// How far from the destination playback may go on; nil is without limit.
    package struct Tolerance: Sendable, Hashable {
        package var before: Duration?
        package var after: Duration?

        package init(before: Duration? = nil, after: Duration? = nil) {
            self.before = before
            self.after = after
        }

        package static let zero = Tolerance(before: .zero, after: .zero)
        static let unlimited = Tolerance(before: nil, after: nil)

        var isZero: Bool { self == .zero }
        var isUnlimited: Bool { before == nil && after == nil }

        func allows(_ time: Duration, for target: Duration) -> Bool {
            time <= target
                ? before.map { target - time <= $0 } ?? true : after.map { time - target <= $0 } ?? true
        }
    }

    package var destination: Destination
    package var tolerance = Tolerance.zero
    /// The engine moves the playhead of its own accord: nobody waits for the outcome.
    var isOwn = false
    /// The playhead stays where it is: what is presented there comes from elsewhere.
    var isJump = true
    /// Who gets media undecoded is given on what comes next: nothing twice, and nothing left out.
    var continuesCopies = false

    package init(
        destination: Destination, tolerance: Tolerance = .zero, isOwn: Bool = false, isJump: Bool = true,
        continuesCopies: Bool = false
    ) {
        self.destination = destination
        self.tolerance = tolerance
        self.isOwn = isOwn
        self.isJump = isJump
        self.continuesCopies = continuesCopies
    }
}

extension EngineControl {
    /// A seek to an item time.
    package static func seek(to time: Duration, tolerance: SeekRequest.Tolerance = .zero) -> EngineControl {
        .seek(SeekRequest(destination: .time(time), tolerance: tolerance))
    }
}
