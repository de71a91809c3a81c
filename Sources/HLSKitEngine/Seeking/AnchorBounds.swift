import HLSKitLoading

/// The range of item times that can be anchored to host time.
struct AnchorBounds: Sendable, Hashable {
    var start = Duration.zero
    /// The end, or nil while it is unknown.
    var end: Duration?

    /// Returns the anchor, moved into the range of existing media.
    ///
    /// Outside the range, time waits until it leads into the range. If it leads away from the range, it stops at the
    /// bound.
    func keep(
        _ anchor: TimeControlMachine.TimebaseAnchor, rate: Float, at now: Duration
    ) -> TimeControlMachine.TimebaseAnchor {
        var anchor = anchor
        guard rate.isFinite, rate != 0 else {
            anchor.itemTime = within(anchor.itemTime)
            return anchor
        }
        let wait = (within(anchor.itemTime) - anchor.itemTime).seconds / Double(rate)
        if wait > 0 { anchor.hostTime += .seconds(min(wait, 1e9)) }
        anchor.itemTime = within(anchor.itemTime)
        let time = TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate))
            .itemTime(at: now)
        return time == within(time) ? anchor : .init(itemTime: within(time), hostTime: now)
    }

    private func within(_ time: Duration) -> Duration { min(max(time, start), end ?? max(time, start)) }
}
