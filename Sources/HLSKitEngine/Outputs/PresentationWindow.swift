/// The range of decoded media that is presented.
package struct PresentationWindow: Sendable, Hashable {
    /// The bounds in item time. Media outside is decoded and dropped. `nil` means no bound.
    package var from: Duration?
    package var until: Duration?
    /// Whether to drop media up to the last presented time.
    ///
    /// This is set if the segment repeats media that was already loaded from another variant.
    package var dropsOverlap = false
    /// Whether nothing lies between the bounds. Audio that extends across both of them is not presented either.
    package var isEmpty: Bool { from.flatMap { from in until.map { $0 <= from } } ?? false }
    /// Whether each segment is a single frame that is shown as soon as it is decoded.
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
