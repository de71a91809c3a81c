import HLSKitLoading
import HLSKitTime

/// Delivers a renderer's media to the outputs when it is due, and reports the progress.
struct MediaDelivery {
    /// The amount of media between two reports without a clock.
    private static let reportInterval = Duration.milliseconds(200)
    /// The minimum amount of media between two reports of slow readers.
    private static let lossInterval = Duration.seconds(10)

    private let renderer: TrackRenderer
    private(set) var generation = 0
    private(set) var clockGeneration: Int
    private(set) var lastPresented: Duration?
    private(set) var isPrimed = false
    private var end = Duration.zero
    private var reported: Duration?
    private var hasFailed = false
    /// The losses of the outputs' readers at the last check, the unreported losses, and the time of the last report.
    private var lostCount = 0
    private var unreportedLosses = 0
    private var lossesReportedAt: Duration?

    init(_ renderer: TrackRenderer) {
        self.renderer = renderer
        clockGeneration = renderer.clock.generation
    }

    mutating func reset(to generation: Int) {
        self.generation = generation
        clockGeneration = renderer.clock.generation
        lastPresented = nil
        reported = nil
        isPrimed = false
    }

    /// Counts dropped frames, unless time has jumped: frames before the jump are not missing.
    func countDropped(_ count: Int) {
        guard count > 0, renderer.clock.generation == clockGeneration else { return }
        renderer.count { $0.droppedFrames += count }
    }

    mutating func notePrimed(_ first: Duration?) {
        guard !isPrimed else { return }
        isPrimed = true
        renderer.report(.primed(generation: generation, first: first))
    }

    /// Waits until `time` is due. Returns `false` if the media was flushed in the meantime.
    func waitUntilDue(_ time: Duration, isHeard: Bool, isStill: Bool) async -> Bool {
        guard
            await renderer.clock.wait(
                until: time, isHeard: isHeard, generation: clockGeneration, waiter: ObjectIdentifier(renderer))
                == .due
        else { return false }
        if !renderer.clock.isPaced {
            await renderer.dispatcher.waitForReaders(of: renderer.mediaType, generation: clockGeneration)
        }
        guard
            // The reading position can change without a jump in time: media reloaded for a new output replaces the
            // decoded media.
            renderer.isCurrent(generation)
        else { return false }
        if renderer.clock.isPaced, !isStill {
            let lateness = renderer.clock.now - time
            renderer.count { $0.lateness = lateness }
        }
        return true
    }

    /// Calls the outputs. The first failure ends the player.
    mutating func call(_ body: (OutputDispatcher) async throws(HLSError) -> Void) async {
        guard !hasFailed else { return }
        do {
            try await body(renderer.dispatcher)
        } catch {
            hasFailed = true
            renderer.report(.failed(error.ofItem))
        }
    }

    mutating func write(_ media: DecodedMedia) async {
        let generation = clockGeneration
        switch media.content {
        case .video(let frame):
            await call { dispatcher throws(HLSError) in try await dispatcher.write(frame, generation: generation) }
        case .audio(let buffer):
            await call { dispatcher throws(HLSError) in try await dispatcher.write(buffer, generation: generation) }
        }
        handedOver(media.time, media.length)
    }

    mutating func handedOver(_ time: Duration, _ length: Duration) {
        noteLosses(at: time)
        lastPresented = max(lastPresented ?? time, time)
        end = max(end, time + length)
        if let reported, end - reported < Self.reportInterval { return }
        reported = end
        renderer.report(.presented(upTo: end))
    }

    mutating func noteConsumed(at time: Duration) {
        if let reported, time - reported < Self.reportInterval * 2 { return }
        reported = time
        renderer.report(.presented(upTo: time))
    }

    mutating func extend(to time: Duration) { end = max(end, time) }

    /// Called after the last media. `number` is the number of the end that was reached.
    func finish(_ number: Int) {
        renderer.dispatcher.lockstep?.end(renderer.mediaType)
        renderer.dispatcher.finish(renderer.mediaType, generation: clockGeneration)
        renderer.report(.drained(end: end, number: number))
    }

    /// Counts losses of the outputs' readers. Reports them at intervals, not for each frame.
    private mutating func noteLosses(at time: Duration) {
        guard renderer.clock.isPaced else { return }
        let count = renderer.dispatcher.lostCount(of: renderer.mediaType)
        defer { lostCount = count }
        // Removed outputs take their losses with them.
        if count > lostCount {
            let new = count - lostCount
            renderer.count { $0.lostByReaders += new }
            unreportedLosses += new
        }
        guard unreportedLosses > 0, lossesReportedAt.map({ abs(time - $0) >= Self.lossInterval }) ?? true else {
            return
        }
        renderer.report(.lostByReaders(unreportedLosses))
        lossesReportedAt = time
        unreportedLosses = 0
    }
}
