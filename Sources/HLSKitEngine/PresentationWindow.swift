/// Which of the decoded media is presented.
package struct PresentationWindow: Sendable, Hashable {
    /// Item times; media outside is decoded and dropped. nil means no bound.
    package var from: Duration?
    package var until: Duration?
    /// Media up to what was presented last is dropped as well: the segment repeats some of it in another variant.
    package var dropsOverlap = false
    /// There is nothing between the bounds: sound that goes on across both of them is not presented either.
    package var isEmpty: Bool { from.flatMap { from in until.map { $0 <= from } } ?? false }
    /// Each segment is one picture, which is shown when it is there: nothing of it waits for what follows.
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
