import HLSKitLoading

/// What media there is to tie to host time.
struct AnchorBounds: Sendable, Hashable {
    var start = Duration.zero
    /// nil while that is not known.
    var end: Duration?

    /// Before the first media and after the last there is none to present: time waits there until it leads into what there
    /// is, or stays.
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
