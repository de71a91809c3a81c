import HLSGetKit
import HLSKitCore

/// How one stream is: what happens to it goes in, its state with the reason, and counters, come out.
///
/// A value without I/O, clock or lock. What is the case (``current``) and what is told (``state``) differ by the damping of
/// ``HeldState``.
struct StreamHealth: Sendable {
    /// What happens to a stream.
    enum Event: Sendable {
        /// It is begun, for the first time or anew.
        case began
        /// Time passes.
        case playing
        /// Time does not pass, although it should.
        case waiting
        case playlist(MediaPlaylistExtent, url: String)
        /// A request failed that is made again, or did without.
        case error(FailureName)
        /// It cannot be played on.
        case failed(FailureName)
        /// A playlist that need not be played was looked at; with why it counts as lost, where it does.
        case list(String, FailureName?)
        /// It was played to its end.
        case ended
        /// Segments could not be had.
        case lost(String)
        case sample(StreamSample)
        /// What the pictures and the sound show; nil where that is not looked at.
        case senses(isBlack: Bool?, isFrozen: Bool?, isSilent: Bool?)
        /// The certificate of a host is valid until then, which is so long from now.
        case certificate(host: String, expires: PlaylistDate, remaining: Duration)
    }

    /// A state that was told.
    struct Change: Sendable, Hashable {
        var time: Duration
        /// nil before the first.
        var old: StreamState?
        var new: StreamState
        /// What is wrong; of a stream that is up again, what was.
        var trouble: StreamTrouble?
        var failure: FailureName?
        /// How long the old state was told.
        var held: Duration
    }

    private struct Held: Sendable {
        var since: Duration
        /// It is over then, where nothing else ends it.
        var until: Duration?
        var text = ""
    }

    private struct Certificate: Sendable {
        var expires: PlaylistDate
        var end: Duration
    }

    let rules: HealthRules
    private var damping: HeldState
    private var troubles: [StreamTrouble: Held] = [:]
    private var pace = PlaylistPace()
    private var sums = StreamCounters()
    private var certificates: [String: Certificate] = [:]
    private static let maximumHostCount = 8

    private var began: Duration?
    private var waitingSince: Duration?
    private var isPlaying = false
    /// Since it was begun.
    private var hasPlayed = false
    private var recentErrors: [Duration] = []
    private static let maximumErrorCount = 64
    private var lastLoss: Duration?
    private var lastError: (failure: FailureName, time: Duration)?
    private var lastFailure: FailureName?
    /// By their URLs.
    private var lostLists: [String: FailureName] = [:]
    private var damagedCount = 0
    private var time: Duration?
    private var stateSince: Duration?
    /// The worst that was told since the state was up.
    private var named: (state: StreamState, trouble: StreamTrouble, failure: FailureName?)?

    /// What the player showed last.
    private(set) var sample = StreamSample()
    /// What is the case; nil before anything was to be seen.
    private(set) var current: StreamState?
    /// How late the last new segments were listed.
    private(set) var lateness: Duration?
    /// What is told; nil while it starts.
    var state: StreamState? { damping.state }
    var counters: StreamCounters { sums.adding(sample.statistics) }
    var isLive: Bool { pace.isLive }

    init(rules: HealthRules = HealthRules()) {
        self.rules = rules
        damping = HeldState(holdTime: rules.holdTime)
    }

    // MARK: Events

    /// - Parameter now: on any clock that advances.
    /// - Returns: the change that is to be told, where there is one.
    mutating func handle(_ event: Event, at now: Duration) -> Change? {
        count(until: now)
        switch event {
        case .began: begin(at: now)
        case .playing:
            // It plays the rest of what it had, or, begun anew, what an old playlist lists, and comes to the same end: it is
            // not back before something new is listed.
            if current == .down, isStale(at: now) { break }
            // Time passes over what could not be had, and there is nothing behind it: a viewer still waits.
            if waitingSince != nil, sample.buffered <= .zero, hasLost(at: now) { break }
            isPlaying = true
            hasPlayed = true
            waitingSince = nil
            // Failures that led to it are over with it; those that go on come again.
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
            // What is lost while nothing plays is part of that.
            if isPlaying { set(.missing, at: now, cause, isOverAfter: rules.memory) }
        case .sample(let new): note(new, at: now)
        case .senses(let isBlack, let isFrozen, let isSilent):
            for (trouble, holds) in [(StreamTrouble.black, isBlack), (.frozen, isFrozen), (.silent, isSilent)] {
                if holds == true { set(trouble, at: now) } else { troubles[trouble] = nil }
            }
        case .certificate(let host, let expires, let remaining):
            if certificates[host] != nil || certificates.count < Self.maximumHostCount {
                certificates[host] = Certificate(expires: expires, end: now + remaining)
            }
        }
        return settle(at: now)
    }

    /// Nothing has happened up to now. Call it every second or so: states change by time alone.
    mutating func advance(to now: Duration) -> Change? {
        count(until: now)
        return settle(at: now)
    }

    private mutating func begin(at now: Duration) {
        // What the last player counted stays counted.
        sums = sums.adding(sample.statistics)
        sample.statistics = PlaybackStatistics()
        sample.buffered = .zero
        damagedCount = 0
        // The pace stays: a playlist that listed nothing new does not become new by being asked for again.
        began = began ?? now
        isPlaying = false
        hasPlayed = false
        waitingSince = now
        recentErrors = []
        for trouble in [StreamTrouble.black, .frozen, .silent] { troubles[trouble] = nil }
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
        // The first says since when, the others how many.
        if recentErrors.count >= Self.maximumErrorCount { recentErrors.removeLast() }
        recentErrors.append(now)
        guard recentErrors.count >= rules.errorCount, let first = recentErrors.first else { return }
        let isHiccup = now - first < rules.hiccup
        set(.errors, at: now, failure.text, isOverAfter: isHiccup ? rules.hiccupMemory : rules.memory)
    }

    /// What is wrong with all of a stream is not told of its parts.
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
        // An item that is taken out of its player knows its tracks no more.
        if new.audioTrackCount == 0, new.captionTrackCount == 0 {
            sample.audioTrackCount = known.audioTrackCount
            sample.captionTrackCount = known.captionTrackCount
        }
    }

    // MARK: State

    private mutating func set(
        _ trouble: StreamTrouble, at now: Duration, _ text: String = "", isOverAfter memory: Duration? = nil
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
            set(.stale, at: now, "nothing new for \(Decimals.text(age.inSeconds, places: 0)) s")
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
        // That requests fail no more does not make it play: before it does, what was the case stays.
        current = troubles.keys.map { severity(of: $0, at: now) }.max() ?? (hasPlayed ? .up : current)
        return tell(at: now)
    }

    private func hasLost(at now: Duration) -> Bool { lastLoss.map { now - $0 <= rules.memory } ?? false }

    private func isStale(at now: Duration) -> Bool {
        guard let age = pace.age(at: now), let target = pace.targetDuration else { return false }
        return age > target * rules.staleFactor
    }

    private func severity(of trouble: StreamTrouble, at now: Duration) -> StreamState {
        switch trouble {
        case .failed: .down
        case .stalled: troubles[.stalled].map { now - $0.since > rules.stallLimit } == true ? .down : .degraded
        // What has not begun to play has nothing that a viewer could see.
        case .errors: hasPlayed ? .degraded : .down
        case .stale, .missing, .variants, .damaged, .black, .frozen, .silent: .degraded
        }
    }

    private mutating func tell(at now: Duration) -> Change? {
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

    /// The trouble that is named.
    private func worst(at now: Duration) -> StreamTrouble? {
        let worst = troubles.keys.map { severity(of: $0, at: now) }.max()
        let trouble = StreamTrouble.allCases.first { troubles[$0] != nil && severity(of: $0, at: now) == worst }
        // Requests that fail are why nothing new is listed.
        return trouble == .stale && troubles[.errors] != nil ? .errors : trouble
    }

    /// Why it is so, as far as a request says it.
    private func failure(of trouble: StreamTrouble, at now: Duration) -> FailureName? {
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

// MARK: - What is shown

extension StreamHealth {
    /// What is wrong now, the worst first.
    func trouble(at now: Duration) -> StreamTrouble? { worst(at: now) }

    /// All that is wrong now.
    var allTroubles: [StreamTrouble] { StreamTrouble.allCases.filter { troubles[$0] != nil } }

    /// One line on what is wrong: `stalled: HTTP 503`.
    func reason(at now: Duration) -> String {
        guard let trouble = worst(at: now) else { return "" }
        let text = failure(of: trouble, at: now)?.text ?? troubles[trouble]?.text ?? ""
        return text.isEmpty ? trouble.rawValue : "\(trouble.rawValue): \(text)"
    }

    /// How long its live playlist has listed nothing new.
    func playlistAge(at now: Duration) -> Duration? { pace.age(at: now) }

    /// Until when the first certificate to expire is valid.
    var certificateExpirationDate: PlaylistDate? { certificates.values.map(\.expires).min() }

    /// How long that is.
    func certificateRemaining(at now: Duration) -> Duration? { certificates.values.map { $0.end - now }.min() }

    /// How long the told state has lasted.
    func stateHeld(at now: Duration) -> Duration { max(.zero, now - (stateSince ?? began ?? now)) }

    var failureCode: String? { lastFailure?.code }
}
