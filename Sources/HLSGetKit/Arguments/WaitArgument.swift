/// How long `--wait` waits for a stream to start.
package struct WaitArgument: Sendable, Equatable {
    /// The limit, or `nil` to wait forever.
    var limit: Duration?

    init(limit: Duration?) { self.limit = limit }

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
