package import HLSKitCore

/// The value of `--stale`: `end`, `fail` or `wait`, a time after which playback fails, or both, as in `end,10m`.
package struct StaleArgument: Sendable, Equatable {
    package var policy = StalePolicy.fail
    /// The time limit, or `nil` for the library's default.
    package var limit: Duration?

    init(_ policy: StalePolicy = .fail, after limit: Duration? = nil) {
        self.policy = policy
        self.limit = limit
    }

    package init(parsing text: String) throws(ArgumentValueError) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard let first = words.first, words.count <= 2 else { throw Self.failure }
        if let policy = StalePolicy(rawValue: first) {
            self.policy = policy
            guard words.count == 2 else { return }
            guard policy != .wait, let limit = DurationArgument.parseOptional(words[1]) else { throw Self.failure }
            self.limit = limit
        } else {
            guard words.count == 1, let limit = DurationArgument.parseOptional(first) else { throw Self.failure }
            self.limit = limit
        }
    }

    private static var failure: ArgumentValueError {
        ArgumentValueError("write one of end, fail, wait, or a time after which it fails (10m), or both (end,10m)")
    }
}
