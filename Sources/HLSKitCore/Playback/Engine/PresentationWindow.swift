/// Which of the decoded media is presented.
struct PresentationWindow: Sendable, Hashable {
    /// Item times; media outside is decoded and dropped. nil means no bound.
    var from: Duration?
    var until: Duration?
    /// Media up to what was presented last is dropped as well: the segment repeats some of it in another variant.
    var dropsOverlap = false
    /// There is nothing between the bounds: sound that goes on across both of them is not presented either.
    var isEmpty: Bool { from.flatMap { from in until.map { $0 <= from } } ?? false }
    /// Each segment is one picture, which is shown when it is there: nothing of it waits for what follows.
    var isStill = false
}
