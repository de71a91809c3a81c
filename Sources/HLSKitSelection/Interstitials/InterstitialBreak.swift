package import HLSKitPlaylist
import HLSKitTime

/// The events that play one after another at one position of an item, each with its assets.
///
/// The caller requests the next ``step(_:now:)``, performs it and reports the result. Nothing delays a break for longer
/// than ``listDeadline``, because missing or failing assets are skipped.
package struct InterstitialBreak: Sendable {
    /// The longest time to wait for an asset list after it is needed.
    package static let listDeadline = Duration.seconds(3)

    package enum Kind: Sendable, Hashable {
        /// Before the item plays.
        case join
        case inside
        /// After the item has played to its end.
        case leave
    }

    package enum Step: Sendable, Hashable {
        /// Play an asset from an offset in it up to another offset, or to its end if the latter is nil.
        case play(InterstitialAsset, from: Duration, upTo: Duration?)
        /// Wait for the asset list of the event with this ID, but no longer than until a host time.
        case wait(for: String, until: Duration)
        /// All events have played.
        case over
    }

    package struct Ending: Sendable, Hashable {
        package var event: InterstitialEvent
        package var outcome: InterstitialEvent.Outcome
        package var played: Duration
    }

    /// The item time at which the item stopped.
    package let place: Duration
    package let kind: Kind
    package private(set) var events: [InterstitialEvent]
    /// The playhead when the break began. It is after ``place`` if the break was entered late.
    let arrival: Duration
    /// The target of the seek that the break delays.
    package var target: Duration?

    private var offsetBefore: Duration
    private var index = 0
    private var course: Course
    /// The distance from ``place`` at which the item continues after a cancelled break.
    private var cancelledOffset: Duration?
    private var lengths: [String: Duration] = [:]
    private var endings: [Ending] = []
    package private(set) var played = Duration.zero
    private(set) var hasFixedOffset = true
    private(set) var alignsResumption = false

    private struct Course: Sendable {
        var startOffset = Duration.zero
        var elapsed = Duration.zero
        var skipped = Duration.zero
        var assets: [InterstitialAsset]?
        var index = 0
        var deadline: Duration?
        var skipControl: InterstitialSkipControl?
        var hasPlayed = false
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

    package var current: InterstitialEvent? { index < events.count ? events[index] : nil }
    package var startOffset: Duration { index == 0 ? course.startOffset : .zero }
    package var remaining: ArraySlice<InterstitialEvent> { events[min(index, events.count)...] }

    // MARK: Steps

    /// Returns the next action. It does not change until a list arrives, time passes or the caller reports a result.
    ///
    /// - Parameter now: The host time, which determines deadlines.
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

    /// Returns the next asset to play. Assets that lie entirely before the entry point of the event are skipped.
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

    package mutating func takeEndings() -> [Ending] {
        defer { endings = [] }
        return endings
    }

    private mutating func finishEvent(_ event: InterstitialEvent, offset: Duration? = nil) {
        offsetBefore += offset ?? self.offset(of: event)
        index += 1
        course = Course()
    }

    /// Returns the part of the item that the current event replaces: none if nothing of it was played.
    private mutating func offset(of event: InterstitialEvent) -> Duration {
        guard course.hasPlayed else { return wasEnteredLate ? course.startOffset : .zero }
        if event.alignsResumptionWithPrimarySegmentBoundary { alignsResumption = true }
        if let fixed = event.fixedOffset { return fixed }
        hasFixedOffset = false
        return course.elapsed
    }

    // MARK: Results

    package mutating func assetEnded(at offset: Duration) {
        guard course.assets != nil else { return }
        let length = max(.zero, offset - course.skipped)
        course.elapsed += length
        played += length
        if length > .zero { course.hasPlayed = true }
        course.skipped = max(.zero, course.skipped - max(.zero, offset))
        course.index += 1
    }

    /// Records that the asset has failed or has not started in time, and continues with the next one. `offset` is nil
    /// if nothing was played.
    package mutating func assetFailed(at offset: Duration?) {
        guard course.assets != nil else { return }
        course.hasFailed = true
        assetEnded(at: max(offset ?? course.skipped, course.skipped))
    }

    /// Skips the current event for the user or the app. The item continues as if the event had played to its end.
    ///
    /// - Parameter offset: The offset into the playing asset, or nil if none plays.
    package mutating func skipEvent(at offset: Duration? = nil) {
        guard let event = current else { return }
        if let offset { assetEnded(at: offset) }
        note(event, .skipped)
        course.hasPlayed = true
        course.elapsed = max(course.elapsed, event.length(lengths[event.id]) ?? .zero)
        finishEvent(event)
    }

    /// Cancels the break with all its events, for the app.
    ///
    /// - Parameters:
    ///   - resumptionOffset: The distance from the current event at which the item continues, or nil for the played
    ///     time.
    ///   - offset: The offset into the playing asset, or nil if none plays.
    package mutating func cancel(resumptionOffset: Duration?, at offset: Duration? = nil) {
        guard let event = current else { return }
        if let offset { assetEnded(at: offset) }
        note(event, .cancelled)
        if resumptionOffset == nil { hasFixedOffset = false }
        cancelledOffset = offsetBefore + (resumptionOffset ?? course.elapsed)
        index = events.count
    }

    /// Ends the break because the user seeks to another position.
    ///
    /// - Parameter offset: The offset into the playing asset, or nil if none plays.
    package mutating func leave(at offset: Duration? = nil) {
        guard let event = current else { return }
        if let offset { assetEnded(at: offset) }
        note(event, .left)
        index = events.count
    }

    /// Applies a newer state of the remaining events: drops removed events, and appends new ones at this position. The
    /// playing event gets its new limit.
    mutating func update(_ newer: [InterstitialEvent], adding more: [InterstitialEvent]) {
        guard index < events.count else { return }
        let byID = Dictionary(newer.map { ($0.id, $0) }) { first, _ in first }
        let present = byID[events[index].id] ?? events[index]
        events[index...] = [present] + events[(index + 1)...].compactMap { byID[$0.id] } + more
    }

    /// Advances past the current event as if it had played for its expected duration, or for no time if that is nil.
    mutating func playAsPlanned(_ length: Duration?) {
        guard let event = current else { return }
        course.hasPlayed = true
        course.elapsed = max(course.elapsed, length ?? .zero)
        finishEvent(event)
    }

    // MARK: Resumption

    var resumptionOffset: Duration { cancelledOffset ?? offsetBefore }

    var wasEnteredLate: Bool { arrival > place }

    // MARK: Restrictions

    /// Whether a seek on the item's timeline is refused during the break. An allowed seek ends the break.
    package func refusesSeek(to time: Duration) -> Bool {
        guard let current else { return false }
        if remaining.contains(where: { $0.restrictions.contains(.constrainsSeekingForwardInPrimaryContent) }) {
            return kind == .join || time > place
        }
        return time > place && current.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement)
    }

    package func refusesSeek(from offset: Duration, to other: Duration) -> Bool {
        other > offset && current?.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement) == true
    }

    package var maximumRate: Float? {
        current?.restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement) == true ? 1 : nil
    }

    package var skipControl: InterstitialSkipControl? { current.flatMap { course.skipControl ?? $0.skipControl } }

    package func skippableEventState(at offset: Duration) -> InterstitialEvent.SkippableEventState {
        guard let control = skipControl, let elapsed = eventOffset(at: offset) else { return .notSkippable }
        let start = control.offset ?? .zero
        if elapsed < start { return .notYetEligible }
        guard let duration = control.duration, elapsed - start >= duration else { return .eligible }
        return .noLongerEligible
    }

    /// Returns the next offset into the event at which ``skippableEventState(at:)`` changes, or nil if it does not.
    package func nextSkippableChange(after elapsed: Duration) -> Duration? {
        guard let control = skipControl else { return nil }
        let start = max(.zero, min(control.offset ?? .zero, InterstitialEvent.longest))
        let end = control.duration.map { start + max(.zero, min($0, InterstitialEvent.longest)) }
        return [start, end].compactMap(\.self).first { $0 > elapsed }
    }

    package var number: Int { index }

    package func length(of event: InterstitialEvent) -> Duration? { event.length(lengths[event.id]) }

    package var assetStart: Duration? { course.assets.map { _ in course.skipped } }

    package func eventOffset(at offset: Duration) -> Duration? {
        course.assets.map { _ in course.elapsed + max(.zero, offset - course.skipped) }
    }
}
