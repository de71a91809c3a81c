import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitTime

/// Passes cues of subtitles and closed captions to outputs ahead of time, and returns those that are due.
struct CuePresenter {
    private let dispatcher: OutputDispatcher
    private var cues = CueSchedule()
    private var closedCaptions = ClosedCaptionReader()
    private var knownServices: Set<ClosedCaptionService> = []
    private var sidecar = SidecarCues()
    var timeline = ItemTimeline()

    init(dispatcher: OutputDispatcher) { self.dispatcher = dispatcher }

    var nextDue: Duration? { cues.nextDue }

    // MARK: In

    mutating func begin(_ track: MediaTrack, isStill: Bool) { closedCaptions.begin(track, isStill: isStill) }

    mutating func add(_ sample: MediaSample, offset: Duration) { closedCaptions.add(sample, offset: offset) }

    mutating func add(_ data: ClosedCaptionData, at time: Duration, duration: Duration) {
        closedCaptions.add(data, at: time, duration: duration)
    }

    mutating func add(_ batch: CueBatch, _ view: EngineView, now: Duration) {
        cues.limit(from: view.start, until: view.forwardEnd)
        cues.add(batch, language: view.legibleLanguage)
        // Before the first media there is no anchor. If there is one, the cues are placed already.
        cues.place(by: timeline, presented: .nothing, now: now)
        give()
    }

    mutating func finish() { closedCaptions.finish() }

    /// Passes completed closed captions to collectors, and turns captions of the selected service into cues.
    ///
    /// - Returns: The services found so far, if there is a new one.
    mutating func settle(_ view: EngineView) -> MediaFact? {
        let fresh = takeFresh(view)
        guard !fresh.isEmpty else { return nil }
        dispatcher.add(fresh)
        add(fresh, view)
        guard closedCaptions.services != knownServices else { return nil }
        knownServices = closedCaptions.services
        return .closedCaptions(knownServices)
    }

    mutating func end(_ view: EngineView) {
        closedCaptions.finish()
        dispatcher.add(takeFresh(view))
    }

    /// Returns completed captions in the played range, because segments extend beyond it.
    private mutating func takeFresh(_ view: EngineView) -> [ClosedCaption] {
        closedCaptions.takeFresh().filter { closed in
            let range = closed.caption.timeRange
            return view.start.map { range.end > MediaTime($0) } ?? true
                && view.forwardEnd.map { range.start < MediaTime($0) } ?? true
        }
    }

    private mutating func add(_ captions: [ClosedCaption], _ view: EngineView) {
        guard let service = view.closedCaptionService else { return }
        cues.limit(from: view.start, until: view.forwardEnd)
        for caption in captions where caption.service == service {
            cues.add(caption.caption, language: view.legibleLanguage)
        }
        give()
    }

    // MARK: Out

    mutating func takeDue(at time: Duration, _ view: EngineView) -> [LegibleCue] {
        follow(view.sidecar, view, at: time)
        if let service = view.closedCaptionService {
            cues.show(open: closedCaptions.open(of: service), at: time, language: view.legibleLanguage)
        }
        let due = cues.takeDue(at: time, timeline: timeline)
        give()
        return due
    }

    func welcome(_ receiver: any CueReceiver) {
        if !cues.current.isEmpty { receiver.receive(cues.current) }
    }

    private mutating func give() {
        dispatcher.replace(cues.takeChanges())
        dispatcher.add(cues.takePlaced())
    }

    private mutating func follow(_ selected: SidecarCaptions?, _ view: EngineView, at now: Duration) {
        if sidecar.isReplaced(by: selected) { clear(at: now) }
        let captions = sidecar.take(selected, at: now)
        guard !captions.isEmpty else { return }
        cues.limit(from: view.start, until: view.forwardEnd)
        for caption in captions { cues.add(caption, language: selected?.language) }
        give()
    }

    // MARK: Jumps

    mutating func truncate(from time: Duration) { closedCaptions.truncate(from: time) }

    mutating func clear(at now: Duration) {
        cues.removeAll()
        sidecar.forget(from: now)
        cues.join(at: now)
        dispatcher.removeCues()
    }

    mutating func showKnown(at now: Duration, _ view: EngineView) {
        follow(view.sidecar, view, at: now)
        let time = MediaTime(now)
        add(closedCaptions.known.filter { $0.caption.timeRange.end > time }, view)
    }

    mutating func flush(to time: Duration) {
        closedCaptions.flush()
        cues.removeAll()
        sidecar.forget(from: time)
    }

    mutating func rewind(to time: Duration) {
        if sidecar.isGiven {
            // The captions of the app are all available, so they can be added again.
            cues.removeAll()
            dispatcher.removeCues()
            sidecar.forget(from: time)
        }
        cues.rewind(to: time)
        give()
    }
}

// MARK: - Captions of the app

extension CuePresenter {
    /// Tracks which captions of the app were added to the cue schedule.
    struct SidecarCues: Sendable {
        private var given: SidecarCaptions?
        private var start: Duration?

        var isGiven: Bool { given != nil }

        /// Whether captions other than the added ones are selected, so that those must be removed.
        func isReplaced(by selected: SidecarCaptions?) -> Bool { given != nil && given != selected }

        /// Returns the captions to add now, ordered by start, or none if they were already added.
        ///
        /// - Parameters:
        ///   - selected: The selected captions, or `nil` if the stream's captions or none are selected.
        ///   - now: The current time. Captions that have already ended are skipped.
        mutating func take(_ selected: SidecarCaptions?, at now: Duration) -> [Caption] {
            guard let selected, given == nil else { return [] }
            given = selected
            let first = MediaTime(start ?? now)
            start = nil
            return selected.captions.filter { $0.timeRange.start.isNumeric && !($0.timeRange.end <= first) }
                .sorted { $0.timeRange.start < $1.timeRange.start }
        }

        mutating func forget(from time: Duration) {
            given = nil
            start = time
        }
    }
}
