import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitTime

/// Gives the cues of subtitles and closed captions to outputs ahead of their time, and says which are due.
struct CuePresenter {
    private let dispatcher: OutputDispatcher
    private var cues = CueSchedule()
    private var closedCaptions = ClosedCaptionReader()
    /// Services that the engine knows of.
    private var knownServices: Set<ClosedCaptionService> = []
    private var sidecar = SidecarCues()
    /// What cues are placed by: as of the media that came last.
    var timeline = ItemTimeline()

    init(dispatcher: OutputDispatcher) { self.dispatcher = dispatcher }

    /// The item time at which the next cue is due.
    var nextDue: Duration? { cues.nextDue }

    // MARK: In

    /// The pictures of the variant that follow are of this track.
    mutating func begin(_ track: MediaTrack, isStill: Bool) { closedCaptions.begin(track, isStill: isStill) }

    /// Looks for closed captions in a picture of the variant.
    mutating func add(_ sample: MediaSample, offset: Duration) { closedCaptions.add(sample, offset: offset) }

    mutating func add(_ data: ClosedCaptionData, at time: Duration, duration: Duration) {
        closedCaptions.add(data, at: time, duration: duration)
    }

    mutating func add(_ batch: CueBatch, _ view: EngineView, now: Duration) {
        cues.limit(from: view.start, until: view.forwardEnd)
        cues.add(batch, language: view.legibleLanguage)
        // Until media has come there is nothing to place it by, or it is placed already.
        cues.place(by: timeline, presented: .nothing, now: now)
        give()
    }

    /// The variant has no more media.
    mutating func finish() { closedCaptions.finish() }

    /// Hands on the closed captions that are whole: all of them to whoever collects them, those of the selected service
    /// as cues.
    ///
    /// - Returns: the services that have said something so far, where there are others than before.
    mutating func settle(_ view: EngineView) -> MediaFact? {
        let fresh = takeFresh(view)
        guard !fresh.isEmpty else { return nil }
        dispatcher.add(fresh)
        add(fresh, view)
        guard closedCaptions.services != knownServices else { return nil }
        knownServices = closedCaptions.services
        return .closedCaptions(knownServices)
    }

    /// The item is over: what was not whole is, now.
    mutating func end(_ view: EngineView) {
        closedCaptions.finish()
        dispatcher.add(takeFresh(view))
    }

    /// Segments reach beyond the part of the item that is played.
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

    /// Takes the cues whose time has come, for the player to publish.
    mutating func takeDue(at time: Duration, _ view: EngineView) -> [LegibleCue] {
        follow(view.sidecar, view, at: time)
        if let service = view.closedCaptionService {
            cues.show(open: closedCaptions.open(of: service), at: time, language: view.legibleLanguage)
        }
        let due = cues.takeDue(at: time, timeline: timeline)
        give()
        return due
    }

    /// Tells an output that has just come of the cues that are not over.
    func welcome(_ receiver: any CueReceiver) {
        if !cues.current.isEmpty { receiver.receive(cues.current) }
    }

    /// Tells outputs of the cues that are new, or have changed.
    private mutating func give() {
        dispatcher.replace(cues.takeChanges())
        dispatcher.add(cues.takePlaced())
    }

    /// Gives the captions of the program that are selected, once.
    private mutating func follow(_ selected: SidecarCaptions?, _ view: EngineView, at now: Duration) {
        if sidecar.isReplaced(by: selected) { clear(at: now) }
        let captions = sidecar.take(selected, at: now)
        guard !captions.isEmpty else { return }
        cues.limit(from: view.start, until: view.forwardEnd)
        for caption in captions { cues.add(caption, language: selected?.language) }
        give()
    }

    // MARK: Jumps

    /// Media of the variant is loaded again from this item time on.
    mutating func truncate(from time: Duration) { closedCaptions.truncate(from: time) }

    /// Other subtitles were selected, or none.
    mutating func clear(at now: Duration) {
        cues.removeAll()
        sidecar.forget(from: now)
        cues.join(at: now)
        dispatcher.removeCues()
    }

    /// Another option was selected: closed captions of it are there already.
    mutating func showKnown(at now: Duration, _ view: EngineView) {
        follow(view.sidecar, view, at: now)
        let time = MediaTime(now)
        add(closedCaptions.known.filter { $0.caption.timeRange.end > time }, view)
    }

    /// All media is forgotten; what comes is presented from there on.
    mutating func flush(to time: Duration) {
        closedCaptions.flush()
        cues.removeAll()
        sidecar.forget(from: time)
    }

    /// Time has jumped to where media is held.
    mutating func rewind(to time: Duration) {
        if sidecar.isGiven {
            // They are all there still, and need not be kept.
            cues.removeAll()
            dispatcher.removeCues()
            sidecar.forget(from: time)
        }
        cues.rewind(to: time)
        give()
    }
}
