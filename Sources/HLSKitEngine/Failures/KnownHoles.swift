/// Reported ranges of missing media. Each is reported once even if several tracks miss it.
struct KnownHoles: Sendable {
    /// Shorter ranges are differences between listed and actual durations of segments.
    static let shortest = Duration.milliseconds(100)
    private static let mostKept = 32

    private var told: [Range<Duration>] = []

    /// Whether a range has not been reported.
    func isNews(_ hole: Range<Duration>) -> Bool {
        hole.upperBound - hole.lowerBound >= Self.shortest && !told.contains { $0.overlaps(hole) }
    }

    /// Adds a range and drops the oldest one beyond the limit.
    mutating func note(_ hole: Range<Duration>) {
        told.append(hole)
        if told.count > Self.mostKept { told.removeFirst() }
    }
}
