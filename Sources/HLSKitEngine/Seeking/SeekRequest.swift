package import HLSKitPlaylist

package struct SeekRequest: Sendable, Hashable {
    package enum Destination: Sendable, Hashable {
        case time(Duration)
        /// The end or, in a live stream, the configured distance from the live edge.
        case edge
        /// A date, which the dates of the playlist map to an item time.
        case date(PlaylistDate)
    }

    /// How far from the destination playback may continue. `nil` means no limit.
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
    /// Whether the engine itself moves the playhead, so that no caller waits for the result.
    var isOwn = false
    /// Whether the playhead changes its position. Otherwise only the source of its media changes.
    var isJump = true
    /// Whether outputs of undecoded media continue without a repetition or a gap.
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
    package static func seek(to time: Duration, tolerance: SeekRequest.Tolerance = .zero) -> EngineControl {
        .seek(SeekRequest(destination: .time(time), tolerance: tolerance))
    }
}
