/// How long `--wait` waits for a stream that has not begun.
package struct WaitArgument: Sendable, Equatable {
    /// nil is for ever.
    var limit: Duration?

    init(limit: Duration?) { self.limit = limit }

    /// The same, and no longer than this; nil is for ever.
    package func limited(to interval: Duration?) -> WaitArgument {
        WaitArgument(limit: [limit, interval].compactMap(\.self).min())
    }

    package init(parsing text: String) throws(ArgumentValueError) {
        if text == "forever" { return }
        guard let limit = DurationArgument.parseOptional(text), limit > .zero else {
            throw ArgumentValueError("write a time, as in 10m, or forever")
        }
        self.limit = limit
    }
}
