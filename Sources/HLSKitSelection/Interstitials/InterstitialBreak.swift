package import HLSKitPlaylist
import HLSKitTime

/// What is played in one place of an item: events one after the other, each with its assets.
///
/// Who plays it asks for the next ``step(_:now:)`` and tells what came of it. Nothing stops it for longer than
/// ``listDeadline``: what is not there, or fails, is left out. See docs/behaviour/interstitials.md.
package struct InterstitialBreak: Sendable {
    /// A list that is not here so long after it is needed is not waited for any longer.
    package static let listDeadline = Duration.seconds(3)

    /// Where in the item a break is.
    package enum Kind: Sendable, Hashable {
        /// Before it is played.
        case join
        case inside
        /// When it was played to its end.
        case leave
    }

    /// What is to be done next.
    package enum Step: Sendable, Hashable {
        /// An asset is played from an offset into it, up to another one, or to its end where that is nil.
        case play(InterstitialAsset, from: Duration, upTo: Duration?)
        /// The list of the event with this ID is waited for, until a host time at most.
        case wait(for: String, until: Duration)
        /// Everything was played.
        case over
    }

    /// How an event came to its end, and how much of it was played.
    package struct Ending: Sendable, Hashable {
        package var event: InterstitialEvent
        package var outcome: InterstitialEvent.Outcome
        package var played: Duration
    }

    /// The item stopped here.
    package let place: Duration
    package let kind: Kind
    /// In the order in which they play, with those that are over.
    package private(set) var events: [InterstitialEvent]
    /// The playhead was here when the break began: behind ``place`` where some of it was over then.
    let arrival: Duration
    /// The user wanted to go here; the break comes first.
    package var target: Duration?

    /// How much of the item the events before the present one take the place of.
    private var offsetBefore: Duration
    private var index = 0
    private var course: Course
    /// A break that was cancelled: the item continues so far from its place.
    private var cancelledOffset: Duration?
    private var lengths: [String: Duration] = [:]
    /// Events that have ended, in order, since that was last told.
    private var endings: [Ending] = []
    /// All that was played.
    package private(set) var played = Duration.zero
    /// Each event that was begun says where the item continues.
    private(set) var hasFixedOffset = true
    private(set) var alignsResumption = false

    /// How far the present event has come.
    private struct Course: Sendable {
        /// It was begun in its middle.
        var startOffset = Duration.zero
        /// So much of it is over.
        var elapsed = Duration.zero
        /// What is not read of the next asset.
        var skipped = Duration.zero
        /// nil while the list is not here.
        var assets: [InterstitialAsset]?
        var index = 0
        var deadline: Duration?
        var skipControl: InterstitialSkipControl?
        var hasPlayed = false
        /// An asset, or the list, did not come.
        var hasFailed = false

        init(startOffset: Duration = .zero) {
            self.startOffset = startOffset
            elapsed = startOffset
            skipped = startOffset
        }
    }

    package init(
        place: Duration, kind: Kind, events: [InterstitialEvent], passed: Duration = .zero,
        startOffset: Duration = .zero,
        arrival: Duration? = nil, target: Duration? = nil
    ) {
        self.place = place
        self.kind = kind
        self.events = events
        self.arrival = arrival ?? place
        self.target = target
        offsetBefore = passed
        course = Course(startOffset: startOffset)
    }

    /// The event that plays, or is waited for; nil when the break is over.
    package var current: InterstitialEvent? { index < events.count ? events[index] : nil }
    /// What was over of the first event when the break began.
    package var startOffset: Duration { index == 0 ? course.startOffset : .zero }
    /// The events that are still to be played, the present one first.
    package var remaining: ArraySlice<InterstitialEvent> { events[min(index, events.count)...] }

    // MARK: Steps

    /// What is to be done. The answer stays the same until a list comes, time passes or something is told.
    ///
    /// - Parameter now: host time, by which deadlines run.
    package mutating func step(_ lists: AssetLists, now: Duration) -> Step {
        while let event = current {
            if course.assets == nil {
                switch event.content {
                case .assets(let assets): begin(assets, nil)
                case .assetList:
                    switch lists[event.id] {
                    case .known(let list, let base): begin(InterstitialAsset.assets(of: list, base: base), list)
                    case .failed:
                        course.hasFailed = true
                        begin([], nil)
                    case .unknown, .asked:
                        let deadline = course.deadline ?? now + Self.listDeadline
                        course.deadline = deadline
                        if now < deadline { return .wait(for: event.id, until: deadline) }
                        course.hasFailed = true
                        begin([], nil)
                    }
                }
            }
            let left = event.limit.map { $0 - course.elapsed }
            if let asset = nextAsset(), left.map({ $0 > .zero }) ?? true {
                return .play(asset, from: course.skipped, upTo: left.map { course.skipped + $0 })
            }
            note(event, course.hasFailed ? (course.hasPlayed ? .playedInPart : .failed) : .played)
            finishEvent(event)
        }
        return .over
    }

    private mutating func begin(_ assets: [InterstitialAsset], _ list: InterstitialAssetList?) {
        course.assets = assets
        course.skipControl = list?.skipControl
        if let event = current, let length = list?.duration { lengths[event.id] = length }
    }

    /// The asset that plays next. Those that lie before the place at which the event is begun are left out.
    private mutating func nextAsset() -> InterstitialAsset? {
        while let assets = course.assets, course.index < assets.count {
            let asset = assets[course.index]
            guard let duration = asset.duration, course.skipped > .zero, duration <= course.skipped else {
                return asset
            }
            course.skipped -= duration
            course.index += 1
        }
        return nil
    }

    private mutating func note(_ event: InterstitialEvent, _ outcome: InterstitialEvent.Outcome) {
        endings.append(
            Ending(event: event, outcome: outcome, played: max(.zero, course.elapsed - course.startOffset)))
    }

    /// How events have ended since this was last called.
    package mutating func takeEndings() -> [Ending] {
        defer { endings = [] }
        return endings
    }

    private mutating func finishEvent(_ event: InterstitialEvent, offset: Duration? = nil) {
        offsetBefore += offset ?? self.offset(of: event)
        index += 1
        course = Course()
    }

    /// What the present event takes the place of. One of which nothing was played takes the place of nothing.
    private mutating func offset(of event: InterstitialEvent) -> Duration {
        guard course.hasPlayed else { return wasEnteredLate ? course.startOffset : .zero }
        if event.alignsResumptionWithPrimarySegmentBoundary { alignsResumption = true }
        if let fixed = event.fixedOffset { return fixed }
        hasFixedOffset = false
        return course.elapsed
    }

    // MARK: Facts

    /// The asset has ended, or has come to where it was to end, at an offset into it.
    package mutating func assetEnded(at offset: Duration) {
        guard course.assets != nil else { return }
        let length = max(.zero, offset - course.skipped)
        course.elapsed += length
        played += length
        if length > .zero { course.hasPlayed = true }
        course.skipped = max(.zero, course.skipped - max(.zero, offset))
        course.index += 1
    }

    /// The asset has failed, or has not begun in time; nil where nothing of it was played. The next one follows.
    package mutating func assetFailed(at offset: Duration?) {
        guard course.assets != nil else { return }
        course.hasFailed = true
        assetEnded(at: max(offset ?? course.skipped, course.skipped))
    }

    /// The user, or the program, leaves the present event out; those behind it are played. The item continues as if it had been
    /// played to its end.
    ///
    /// - Parameter offset: into the asset that plays; nil where none does.
    package mutating func skipEvent(at offset: Duration? = nil) {
        guard let event = current else { return }
        if let offset { assetEnded(at: offset) }
        note(event, .skipped)
        course.hasPlayed = true
        course.elapsed = max(course.elapsed, event.length(lengths[event.id]) ?? .zero)
        finishEvent(event)
    }

    /// The program ends the break, with all its events.
    ///
    /// - Parameters:
    ///   - resumptionOffset: the item continues so far from the place of the present event; nil for what was played.
    ///   - offset: into the asset that plays; nil where none does.
    package mutating func cancel(resumptionOffset: Duration?, at offset: Duration? = nil) {
        guard let event = current else { return }
        if let offset { assetEnded(at: offset) }
        note(event, .cancelled)
        if resumptionOffset == nil { hasFixedOffset = false }
        cancelledOffset = offsetBefore + (resumptionOffset ?? course.elapsed)
        index = events.count
    }

    /// The user goes elsewhere: nothing more of it is played.
    ///
    /// - Parameter offset: into the asset that plays; nil where none does.
    package mutating func leave(at offset: Duration? = nil) {
        guard let event = current else { return }
        if let offset { assetEnded(at: offset) }
        note(event, .left)
        index = events.count
    }

    /// A newer state of the events that are not over: what is gone is not begun, what is new at this place follows. What plays
    /// is played to its new limit.
    mutating func update(_ newer: [InterstitialEvent], adding more: [InterstitialEvent]) {
        guard index < events.count else { return }
        let byID = Dictionary(newer.map { ($0.id, $0) }) { first, _ in first }
        let present = byID[events[index].id] ?? events[index]
        events[index...] = [present] + events[(index + 1)...].compactMap { byID[$0.id] } + more
    }

    /// The present event plays as long as it is expected to; nil where nothing tells.
    mutating func playAsPlanned(_ length: Duration?) {
        guard let event = current else { return }
        course.hasPlayed = true
        course.elapsed = max(course.elapsed, length ?? .zero)
        finishEvent(event)
    }

    // MARK: Where the item continues

    /// From ``place``, when the break is over.
    var resumptionOffset: Duration { cancelledOffset ?? offsetBefore }

    /// Some of it was over when it began.
    var wasEnteredLate: Bool { arrival > place }

    // MARK: What the user may do

    /// Whether a seek on the item's timeline is refused while the break runs. One that is not leaves the break.
    package func refusesSeek(to time: Duration) -> Bool {
        guard let current else { return false }
        if remaining.contains(where: { $0.restrictions.contains(.constrainsSeekingForwardInPrimaryContent) }) {
            return kind == .join || time > place
        }
        return time > place && current.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement)
    }

    /// Whether a seek inside of what plays is refused.
    package func refusesSeek(from offset: Duration, to other: Duration) -> Bool {
        other > offset && current?.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement) == true
    }

    /// No higher rate is allowed in what plays; nil for any.
    package var maximumRate: Float? {
        current?.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement) == true ? 1 : nil
    }

    /// When the user may skip what plays.
    package var skipControl: InterstitialSkipControl? { current.flatMap { course.skipControl ?? $0.skipControl } }

    /// Whether the user may skip what plays, at an offset into the asset.
    package func skippableEventState(at offset: Duration) -> InterstitialEvent.SkippableEventState {
        guard let control = skipControl, let elapsed = eventOffset(at: offset) else { return .notSkippable }
        let start = control.offset ?? .zero
        if elapsed < start { return .notYetEligible }
        guard let duration = control.duration, elapsed - start >= duration else { return .eligible }
        return .noLongerEligible
    }

    /// The offset into the event at which ``skippableEventState(at:)`` changes next; nil where it does not.
    package func nextSkippableChange(after elapsed: Duration) -> Duration? {
        guard let control = skipControl else { return nil }
        let start = max(.zero, min(control.offset ?? .zero, InterstitialEvent.longest))
        let end = control.duration.map { start + max(.zero, min($0, InterstitialEvent.longest)) }
        return [start, end].compactMap(\.self).first { $0 > elapsed }
    }

    /// Which of ``events`` plays, from 0.
    package var number: Int { index }

    /// How long an event of the break is expected to last; nil where nothing tells.
    package func length(of event: InterstitialEvent) -> Duration? { event.length(lengths[event.id]) }

    /// Where the asset that plays was begun, as an offset into it; nil while none plays.
    package var assetStart: Duration? { course.assets.map { _ in course.skipped } }

    /// The offset into the event that plays, of one into its asset; nil while none plays.
    package func eventOffset(at offset: Duration) -> Duration? {
        course.assets.map { _ in course.elapsed + max(.zero, offset - course.skipped) }
    }
}
