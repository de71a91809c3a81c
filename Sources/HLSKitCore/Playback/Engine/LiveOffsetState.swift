/// What is kept of an item's distance from the live edge.
struct LiveOffsetState: Sendable {
    /// When playback stalled, as far back as the recommendation remembers.
    var stalls: [Duration] = []
    /// The recommendation that programs know of; nil before the first.
    var recommended: Duration?
    /// The distance that held when the wait began that is under way, to be held again after it.
    var held: Duration?
    /// That wait is over.
    var hasWaited = false
}
