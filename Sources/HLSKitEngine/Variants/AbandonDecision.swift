import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides when to check the download of a segment, and when to abandon it for another variant.
struct AbandonDecision: Sendable {
    /// The interval between checks while bytes arrive. Without bytes, it is twice as long.
    private static let interval = Duration.milliseconds(400)
    /// The interval for parts, which is shorter because only a second or two of media is ahead of them.
    private static let partInterval = Duration.milliseconds(100)

    private var watched: WatchedDownload?

    // MARK: When

    struct Facts: Sendable, Hashable {
        var isPaced = true
        var keepsBest = false
        var usesParts = false

        fileprivate var interval: Duration { usesParts ? AbandonDecision.partInterval : AbandonDecision.interval }
    }

    enum Look: Sendable, Hashable {
        /// Check with the selection rule.
        case playing
        /// Check against the media that leaves the live window (``RecordingRule``).
        case recording
    }

    /// Returns when to check a requested segment if no bytes arrive, or nil for never.
    func firstLook(_ facts: Facts, variantCount: Int, at now: Duration) -> Duration? {
        facts.isPaced && !facts.keepsBest && variantCount > 1 ? now + facts.interval * 2 : nil
    }

    /// Returns the check to make when bytes arrive, or nil if the check at `judged` was recent enough.
    func look(_ facts: Facts, judged: Duration, at now: Duration) -> Look? {
        guard facts.isPaced || facts.keepsBest, now - judged >= facts.interval else { return nil }
        return facts.keepsBest ? .recording : .playing
    }

    /// Returns the time of the next check, and whether a check is due now.
    ///
    /// None is due if arrived bytes have caused a check in the meantime.
    func overdue(_ facts: Facts, judged: Duration, at now: Duration) -> (next: Duration, isDue: Bool)? {
        guard facts.isPaced, !facts.keepsBest else { return nil }
        let due = judged + facts.interval * 2
        return now < due ? (due, false) : (now + facts.interval * 2, true)
    }

    // MARK: Whether

    func isWatching(_ request: RequestID) -> Bool { watched?.request == request }

    mutating func watch(_ download: WatchedDownload?) { watched = download }

    mutating func input(
        _ moment: SelectionMoment, requested: Duration, responded: Duration?, receivedByteCount: Int,
        declaredByteCount: Int?
    ) -> SelectionInput? {
        // Taking the value out avoids a copy.
        guard var download = watched.take() else { return nil }
        download.input.update(to: moment)
        download.input.download = SelectionInput.Download(
            variantID: download.variantID, segmentDuration: download.segmentDuration, requested: requested,
            firstByte: responded, receivedByteCount: receivedByteCount,
            expectedByteCount: max(declaredByteCount ?? download.probableByteCount, receivedByteCount))
        let input = download.input
        watched = download
        return input
    }

    /// Whether the buffer runs out before the download ends, and the segment's rest loads slower than it plays.
    ///
    /// In that case, restarting with another variant costs little.
    static func isLate(_ input: SelectionInput) -> Bool {
        guard let download = input.download else { return false }
        let elapsed = (input.now - download.requested).seconds
        let speed = max(abs(input.rate), 1e-3)
        let (ahead, duration) = (input.forwardBuffer.seconds / speed, download.segmentDuration.seconds / speed)
        guard download.receivedByteCount > 0 else { return elapsed >= max(ahead, duration / 4) }
        let rest = Double(download.expectedByteCount - download.receivedByteCount)
        return elapsed * rest / Double(download.receivedByteCount) > max(ahead, duration)
    }

    /// The minimum elapsed time before a pathway is blamed.
    private static let shortestBlame = Duration.seconds(1)

    /// Whether the download is late and a lower variant would be late as well, so the server is too slow.
    ///
    /// - Parameter isHeld: Whether the variant cannot change.
    static func isHopeless(_ input: SelectionInput, isHeld: Bool) -> Bool {
        guard let download = input.download, isLate(input) else { return false }
        let elapsed = input.now - download.requested
        guard elapsed >= shortestBlame else { return false }
        let bitsPerSecond = 8 * Double(download.receivedByteCount) / elapsed.seconds
        let lowest = input.candidates.map(\.bandwidth).min() ?? 0
        return isHeld || bitsPerSecond < Double(lowest) * abs(input.rate)
    }

    func segment(givenUpBy decision: SelectionDecision) -> SegmentID? {
        guard let watched, decision.variantID != watched.variantID,
            watched.input.candidates.contains(where: { $0.id == decision.variantID })
        else { return nil }
        return watched.segment
    }
}

extension AbandonDecision {
    /// A download that the rule checks periodically, with the facts that do not change between checks.
    struct WatchedDownload: Sendable {
        let request: RequestID
        let segment: SegmentID
        let variantID: AssetVariant.ID
        let segmentDuration: Duration
        /// The size from the playlist or, without one, the expected size. The response may be more exact.
        let probableByteCount: Int
        var input: SelectionInput
    }
}

extension AbandonDecision.WatchedDownload {
    /// Creates a watched download, or returns nil if there is no choice to make.
    ///
    /// - Parameters:
    ///   - audio: The playlist of the audio that is loaded in parallel.
    ///   - bitRate: The bit rate of the media being loaded, or nil if unknown.
    init?(
        of request: RequestID, in lane: MediaLane, of variants: VariantChooser, audio: PlaylistTracker?,
        _ moment: SelectionMoment, bufferCapacity: Duration, bitRate: Double?
    ) {
        guard variants.choice.count > 1 || variants.pathways.isOn, let tracker = lane.tracker,
            let flight = lane.loading,
            flight.request == request, !flight.isSuspended, let variantID = variants.id(of: flight.variantIndex),
            let index = flight.playlistURL == lane.playlistURL
                ? tracker.index(of: flight.position) : tracker.index(containing: flight.job.start)
        else { return nil }
        var input = variants.input(
            for: VariantChooser.Segment(index: index, tracker: tracker, audio: audio), moment,
            bufferCapacity: bufferCapacity)
        input.currentVariantID = variants.id(of: variants.lastRead)
        let declared = flight.byteRange.map { Int(clamping: $0.upperBound - $0.lowerBound) }
        let guess = Int(min((bitRate ?? 0) * flight.job.duration.seconds / 8, 1e15))
        self.init(
            request: request, segment: flight.id, variantID: variantID, segmentDuration: flight.job.duration,
            probableByteCount: declared ?? guess, input: input)
    }
}

// MARK: - Recordings

extension RecordingRule.Window {
    init?(at time: Duration, in tracker: PlaylistTracker) {
        guard tracker.isLive else { return nil }
        self.init(
            before: max(.zero, time - tracker.start), after: max(.zero, tracker.end - time),
            targetDuration: tracker.pacingTarget)
    }
}

extension RecordingRule.Download {
    /// Creates a download from a segment that is being received. Returns `nil` if it is not live or too little is
    /// known.
    ///
    /// - Parameter estimate: The measured throughput of the network, in bits per second.
    init?(
        of flight: SegmentInFlight, _ request: InFlightRequest, in lane: MediaLane, _ candidates: [AssetVariant],
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
