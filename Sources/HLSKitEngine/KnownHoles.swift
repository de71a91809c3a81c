/// Holes in the media of an item that were told: each is told once, also where several tracks have it.
struct KnownHoles: Sendable {
    /// Shorter ones are differences between the lengths of segments and of what is in them.
    static let shortest = Duration.milliseconds(100)
    private static let mostKept = 32

    private var told: [Range<Duration>] = []

    /// Whether a hole is to be told.
    func isNews(_ hole: Range<Duration>) -> Bool {
        hole.upperBound - hole.lowerBound >= Self.shortest && !told.contains { $0.overlaps(hole) }
    }

    /// The last ones are kept.
    mutating func note(_ hole: Range<Duration>) {
        told.append(hole)
        if told.count > Self.mostKept { told.removeFirst() }
    }
}
