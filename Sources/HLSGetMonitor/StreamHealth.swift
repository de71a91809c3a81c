import HLSGetKit
import HLSKitCore

/// The health of one stream: derives its state, the reason and counters from events.
///
/// A value without I/O, clock or lock. ``StateDebouncer`` delays the reported state (``state``) relative to the actual one
/// (``current``).
struct StreamHealth: Sendable {
    enum Event: Sendable {
        case began
        case playing
        /// Playback does not advance although it should.
        case waiting
        case playlist(MediaPlaylistExtent, url: String)
        /// A request failed but is retried or not needed.
        case error(FailureName)
        /// Playback failed and cannot continue.
        case failed(FailureName)
        /// A playlist was checked that may not be playing. The failure says why it is lost, or is `nil` if it is not.
        case list(String, FailureName?)
        case ended
        case lost(String)
        case sample(StreamSample)
        /// The state of the video and audio; a value is `nil` if it was not examined.
        case senses(isBlack: Bool?, isFrozen: Bool?, isSilent: Bool?)
        /// The expiration of a host's certificate, as a date and as the remaining time.
        case certificate(host: String, expires: PlaylistDate, remaining: Duration)
    }

    struct Change: Sendable, Hashable {
        var time: Duration
        /// `nil` for the first change.
        var old: StreamState?
        var new: StreamState
        /// The current problem or, if the stream is up again, the previous one.
        var trouble: HealthIssue?
        var failure: FailureName?
        var held: Duration
    }

    private struct Held: Sendable {
        var since: Duration
        /// When the problem expires unless something else ends it first.
        var until: Duration?
        var text = ""
    }

    private struct Certificate: Sendable {
        var expires: PlaylistDate
        var end: Duration
    }

    let rules: HealthRules
    private var damping: StateDebouncer
    private var troubles: [HealthIssue: Held] = [:]
    private var pace = PlaylistPace()
    private var sums = StreamCounters()
    private var certificates: [String: Certificate] = [:]
    private static let maximumHostCount = 8

    private var began: Duration?
    private var waitingSince: Duration?
    private var isPlaying = false
    /// Since the last start.
    private var hasPlayed = false
    private var recentErrors: [Duration] = []
    private static let maximumErrorCount = 64
    private var lastLoss: Duration?
    private var lastError: (failure: FailureName, time: Duration)?
    private var lastFailure: FailureName?
    /// By URL.
    private var lostLists: [String: FailureName] = [:]
    private var damagedCount = 0
    private var time: Duration?
    private var stateSince: Duration?
    /// The worst problem reported since the state was last `up`.
    private var named: (state: StreamState, trouble: HealthIssue, failure: FailureName?)?

    private(set) var sample = StreamSample()
    /// The actual state, or `nil` before anything is known.
    private(set) var current: StreamState?
    private(set) var lateness: Duration?
    /// The reported state, or `nil` while the stream starts.
    var state: StreamState? { damping.state }
    var counters: StreamCounters { sums.adding(sample.statistics) }
    var isLive: Bool { pace.isLive }

    init(rules: HealthRules = HealthRules()) {
        self.rules = rules
        damping = StateDebouncer(holdTime: rules.holdTime)
    }

    // MARK: Events

    /// - Parameter now: The time of any clock that advances.
    /// - Returns: The change to report, if any.
    mutating func handle(_ event: Event, at now: Duration) -> Change? {
        count(until: now)
        switch event {
        case .began: begin(at: now)
        case .playing:
            // Playback of the remaining buffer, or of an old playlist after a restart, soon stops again. The stream is
            // not back until its playlist lists something new.
            if current == .down, isStale(at: now) || listsNothingNew(at: now) { break }
            // Playback is skipping missing media and nothing is buffered after it, so a viewer is still waiting.
            if waitingSince != nil, sample.buffered <= .zero, hasLost(at: now) { break }
            isPlaying = true
            hasPlayed = true
            waitingSince = nil
            // Clear the errors that caused the outage. Persistent errors will be reported again.
            if troubles[.failed] != nil || troubles[.stalled] != nil {
                troubles[.errors] = nil
                recentErrors = []
            }
            troubles[.failed] = nil
            troubles[.stalled] = nil
        case .waiting:
            isPlaying = false
            waitingSince = waitingSince ?? now
        case .playlist(let extent, let url): note(extent, url, at: now)
        case .error(let failure): note(failure, at: now)
        case .failed(let failure):
            isPlaying = false
            waitingSince = nil
            sums.failureCount += 1
            sums.errorCounts[failure.label, default: 0] += 1
            lastFailure = failure
            set(.failed, at: now, failure.text)
            troubles[.stalled] = nil
        case .list(let url, let failure): note(list: url, failure, at: now)
        case .ended:
            isPlaying = false
            waitingSince = nil
        case .lost(let cause):
            lastLoss = now
            // A loss while nothing plays is part of the outage.
            if isPlaying { set(.missing, at: now, cause, isOverAfter: rules.memory) }
        case .sample(let new): note(new, at: now)
        case .senses(let isBlack, let isFrozen, let isSilent):
            for (trouble, holds) in [(HealthIssue.black, isBlack), (.frozen, isFrozen), (.silent, isSilent)] {
                if holds == true { set(trouble, at: now) } else { troubles[trouble] = nil }
            }
        case .certificate(let host, let expires, let remaining):
            if certificates[host] != nil || certificates.count < Self.maximumHostCount {
                certificates[host] = Certificate(expires: expires, end: now + remaining)
            }
        }
        return settle(at: now)
    }

    /// Updates the state if no event arrives. Call it about once a second, because states also change with time.
    mutating func advance(to now: Duration) -> Change? {
        count(until: now)
        return settle(at: now)
    }

    private mutating func begin(at now: Duration) {
        // Keep the counts of the previous player.
        sums = sums.adding(sample.statistics)
        sample.statistics = PlaybackStatistics()
        sample.buffered = .zero
        damagedCount = 0
        // Keep the pace, because a stale playlist is still stale after a restart.
        began = began ?? now
        isPlaying = false
        hasPlayed = false
        waitingSince = now
        recentErrors = []
        for trouble in [HealthIssue.black, .frozen, .silent] { troubles[trouble] = nil }
    }

    private mutating func note(_ extent: MediaPlaylistExtent, _ url: String, at now: Duration) {
        let finding = pace.note(extent, url: url, at: now)
        sums.playlistCount += 1
        sums.discontinuityCount &+= finding.discontinuityCount
        if finding.isLate { sums.latePlaylistCount += 1 }
        if finding.isReset { sums.sequenceResetCount += 1 }
        lateness = finding.lateness ?? lateness
    }

    private mutating func note(_ failure: FailureName, at now: Duration) {
        sums.errorCounts[failure.label, default: 0] += 1
        lastError = (failure, now)
        recentErrors.removeAll { now - $0 > rules.memory }
        // Keep the first error for the start time and drop another, because the rest only count.
        if recentErrors.count >= Self.maximumErrorCount { recentErrors.removeLast() }
        recentErrors.append(now)
        guard recentErrors.count >= rules.errorCount, let first = recentErrors.first else { return }
        let isHiccup = now - first < rules.hiccup
        set(.errors, at: now, failure.text, isOverAfter: isHiccup ? rules.hiccupMemory : rules.memory)
    }

    /// Ignores a single playlist's failure while a problem affects the whole stream.
    private mutating func note(list url: String, _ failure: FailureName?, at now: Duration) {
        let isAlone = troubles.keys.allSatisfy { $0 != .failed && $0 != .stalled && $0 != .stale && $0 != .errors }
        lostLists[url] = isAlone ? failure : nil
        if failure == nil || !isAlone, lostLists.isEmpty { troubles[.variants] = nil }
        guard isAlone, let failure else { return }
        sums.errorCounts[failure.label, default: 0] += 1
        set(.variants, at: now, failure.text)
    }

    private mutating func note(_ new: StreamSample, at now: Duration) {
        if new.statistics.numberOfDamagedSamples > damagedCount {
            set(.damaged, at: now, isOverAfter: rules.memory)
        }
        damagedCount = new.statistics.numberOfDamagedSamples
        let known = sample
        sample = new
        // An item loses its tracks when it leaves its player.
        if new.audioTrackCount == 0, new.captionTrackCount == 0 {
            sample.audioTrackCount = known.audioTrackCount
            sample.captionTrackCount = known.captionTrackCount
        }
    }

    // MARK: State

    private mutating func set(
        _ trouble: HealthIssue, at now: Duration, _ text: String = "", isOverAfter memory: Duration? = nil
    ) {
        guard !rules.ignored.contains(trouble) else { return }
        troubles[trouble] = Held(
            since: troubles[trouble]?.since ?? now, until: memory.map { now + $0 }, text: text)
    }

    private mutating func count(until now: Duration) {
        if let time, let current, now > time { sums.times[current, default: .zero] += now - time }
        time = max(time ?? now, now)
    }

    private mutating func settle(at now: Duration) -> Change? {
        for (trouble, held) in troubles { if let until = held.until, now >= until { troubles[trouble] = nil } }
        if isStale(at: now), let age = pace.age(at: now) {
            set(.stale, at: now, "nothing new for \(Decimals.roughLength(age.inSeconds))")
        } else {
            troubles[.stale] = nil
        }
        let isDown = troubles[.failed] != nil
        if let waitingSince, !isDown, hasPlayed || now - waitingSince > rules.stallLimit {
            set(.stalled, at: max(waitingSince, troubles[.stalled]?.since ?? waitingSince))
            troubles[.stalled]?.since = waitingSince
        } else {
            troubles[.stalled] = nil
        }
        guard began != nil, isPlaying || !troubles.isEmpty || current != nil else { return nil }
        // The end of request failures does not mean that the stream plays, so keep the state until it does.
        current = troubles.keys.map { severity(of: $0, at: now) }.max() ?? (hasPlayed ? .up : current)
        return report(at: now)
    }

    private func hasLost(at now: Duration) -> Bool { lastLoss.map { now - $0 <= rules.memory } ?? false }

    private func isStale(at now: Duration) -> Bool {
        guard let age = pace.age(at: now), let target = pace.targetDuration else { return false }
        return age > target * rules.staleFactor
    }

    /// Whether the playlist has listed nothing new since playback stopped.
    private func listsNothingNew(at now: Duration) -> Bool {
        guard let age = pace.age(at: now), let waitingSince else { return false }
        return age > now - waitingSince
    }

    private func severity(of trouble: HealthIssue, at now: Duration) -> StreamState {
        switch trouble {
        case .failed: .down
        case .stalled: troubles[.stalled].map { now - $0.since > rules.stallLimit } == true ? .down : .degraded
        // A stream that has not started has no buffer to play.
        case .errors: hasPlayed ? .degraded : .down
        case .stale, .missing, .variants, .damaged, .black, .frozen, .silent: .degraded
        }
    }

    private mutating func report(at now: Duration) -> Change? {
        guard let current else { return nil }
        let old = damping.state
        let since = stateSince ?? began ?? now
        guard damping.note(current, at: now), let new = damping.state else { return nil }
        stateSince = now
        if new == .down, old != .down { sums.outageCount += 1 }
        var change = Change(time: now, old: old, new: new, held: now - since)
        if new == .up {
            (change.trouble, change.failure) = (named?.trouble, named?.failure)
            named = nil
        } else if let trouble = worst(at: now) {
            (change.trouble, change.failure) = (trouble, failure(of: trouble, at: now))
            if named.map({ new >= $0.state }) ?? true { named = (new, trouble, change.failure) }
        }
        return change
    }

    private func worst(at now: Duration) -> HealthIssue? {
        let worst = troubles.keys.map { severity(of: $0, at: now) }.max()
        let trouble = HealthIssue.allCases.first { troubles[$0] != nil && severity(of: $0, at: now) == worst }
        // Failing requests explain why the playlist lists nothing new.
        return trouble == .stale && troubles[.errors] != nil ? .errors : trouble
    }

    private func failure(of trouble: HealthIssue, at now: Duration) -> FailureName? {
        switch trouble {
        case .failed: return lastFailure
        case .stalled, .errors, .missing:
            guard let lastError, now - lastError.time <= rules.memory else { return nil }
            return lastError.failure
        case .variants: return lostLists.min { $0.key < $1.key }?.value
        case .stale, .damaged, .black, .frozen, .silent: return nil
        }
    }
}

// MARK: - Display

extension StreamHealth {
    func trouble(at now: Duration) -> HealthIssue? { worst(at: now) }

    var allTroubles: [HealthIssue] { HealthIssue.allCases.filter { troubles[$0] != nil } }

    /// One line that describes the problem, such as `stalled: HTTP 503`.
    func reason(at now: Duration) -> String {
        guard let trouble = worst(at: now) else { return "" }
        // The text of the failure has the length at that time.
        if trouble == .failed, lastFailure?.code == HLSError.Code.staleLive.rawValue, let age = pace.age(at: now) {
            return "\(trouble.rawValue): nothing new for \(Decimals.roughLength(age.inSeconds))"
        }
        let text = failure(of: trouble, at: now)?.text ?? troubles[trouble]?.text ?? ""
        return text.isEmpty ? trouble.rawValue : "\(trouble.rawValue): \(text)"
    }

    func playlistAge(at now: Duration) -> Duration? { pace.age(at: now) }

    var certificateExpirationDate: PlaylistDate? { certificates.values.map(\.expires).min() }

    func certificateRemaining(at now: Duration) -> Duration? { certificates.values.map { $0.end - now }.min() }

    func stateHeld(at now: Duration) -> Duration { max(.zero, now - (stateSince ?? began ?? now)) }
}
