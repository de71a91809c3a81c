/// The range of decoded media that is presented.
package struct PresentationWindow: Sendable, Hashable {
    /// The bounds in item time. Media outside is decoded and dropped. `nil` means no bound.
    package var from: Duration?
    package var until: Duration?
    /// Whether to drop media up to the last presented time, because the segment repeats media of another variant.
    package var dropsOverlap = false
    /// Whether nothing lies between the bounds. Audio that extends across both of them is not presented either.
    package var isEmpty: Bool { from.flatMap { from in until.map { $0 <= from } } ?? false }
    /// Whether each segment is a single frame that is shown as soon as it is decoded, without waiting for the next one.
    package var isStill = false

    package init(
        from: Duration? = nil, until: Duration? = nil, dropsOverlap: Bool = false, isStill: Bool = false
    ) {
        self.from = from
        self.until = until
        self.dropsOverlap = dropsOverlap
        self.isStill = isStill
    }
}
