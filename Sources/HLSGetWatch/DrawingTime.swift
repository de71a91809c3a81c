/// How long a frame takes from selection to display. Frames are selected early by this lead.
struct DrawingTime: Sendable, Equatable {
    /// The longest compensated time. Slower drawing makes frames late.
    static let longest = Duration.milliseconds(70)

    private(set) var lead = Duration.milliseconds(2)

    /// Notes the drawing time of a frame. The lead averages about the last eight.
    mutating func note(_ time: Duration) {
        let time = min(max(time, .zero), Self.longest * 2)
        lead = min(max(lead + (time - lead) / 8, .milliseconds(1)), Self.longest)
    }
}
