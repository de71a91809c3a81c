import HLSKitLoading
import HLSKitSelection

extension RecordingRule.Window {
    /// Creates the window around an item time, or returns `nil` if the playlist is not live.
    init?(at time: Duration, in tracker: PlaylistTracker) {
        guard tracker.isLive else { return nil }
        self.init(
            before: max(.zero, time - tracker.start), behind: max(.zero, tracker.end - time),
            targetDuration: tracker.pacingTarget)
    }
}

extension RecordingRule.Download {
    /// Creates a download from a segment that is being received. Returns `nil` if it is not live or too little is
    /// known.
    ///
    /// - Parameter estimate: The measured throughput of the network, in bits per second.
    init?(
        of flight: SegmentInFlight, _ request: RequestUnderWay, in lane: MediaLane, _ candidates: [AssetVariant],
        estimate: Double?, at now: Duration
    ) {
        guard let responded = request.responded, now > responded, let tracker = lane.tracker,
            let total = request.declaredByteCount,
            let current = candidates.first(where: { $0.index == flight.variantIndex }),
            let window = RecordingRule.Window(at: flight.job.start, in: tracker)
        else { return nil }
        let measured = Double(request.receivedByteCount) * 8 / (now - responded).seconds
        self.init(
            current: current, duration: flight.job.duration, remainingByteCount: total - request.receivedByteCount,
            throughput: min(measured, estimate ?? measured), window: window)
    }
}
