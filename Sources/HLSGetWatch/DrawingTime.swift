/// How long it takes from the choice of a frame until it is on the screen: by that much it is chosen before its time.
struct DrawingTime: Sendable, Equatable {
    /// Who takes longer is late.
    static let longest = Duration.milliseconds(70)

    private(set) var lead = Duration.milliseconds(2)

    /// A frame was drawn in this time. The newest eight or so count.
    mutating func note(_ time: Duration) {
        let time = min(max(time, .zero), Self.longest * 2)
        lead = min(max(lead + (time - lead) / 8, .milliseconds(1)), Self.longest)
    }
}
