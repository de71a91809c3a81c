import HLSKitLoading
import HLSKitMedia
import HLSKitSelection

extension FailedLoad {
    enum PlaylistTrouble: Sendable {
        case loading(LoadingError)
        case playlist(PlaylistFailure)
    }
}

/// A request that failed or returned unusable data, and the consequences.
struct FailedLoad: Sendable {
    struct Facts: Sendable {
        var hasAlternative = false
        var isLive = false
        var targetDuration = Duration.seconds(6)
        var patience = RetryTerms.Patience.usual
        /// Whether the full segment of the partial segment is listed.
        var hasWhole = false
        /// Whether the folder of the segment has never delivered anything and was already waited for.
        var isSilent = false
    }

    enum Outcome: Sendable, Hashable {
        case again(after: Duration)
        /// Load the full segment instead of the part.
        case whole
        /// Load from another source.
        case elsewhere
        /// Continue after the segment.
        case skip
        /// End the lane.
        case giveUp(HLSError)
    }

    private enum Subject: Sendable {
        case playlist
        case map
        case segment(LostMedia, LostMedia.LossLimits)
        /// A map or key that could not be loaded.
        case resource
    }

    /// The purpose that waits for another attempt, and the role under which failures are counted.
    let purpose: RequestPurpose
    let role: RequestRole
    let error: HLSError
    private let kind: RetryTerms.Kind
    private let cause: RequestFailure.Cause
    private let subject: Subject
    /// Whether the result would be the same for any number of attempts.
    private var isFinal = false
    /// Whether the segment may have been listed before it exists.
    private var isAtLiveEdge = false
    private var isPart = false

    private init(
        _ purpose: RequestPurpose, as role: RequestRole, _ kind: RetryTerms.Kind, _ subject: Subject,
        _ cause: RequestFailure.Cause, _ error: HLSError
    ) {
        (self.purpose, self.role, self.kind, self.subject, self.cause) = (purpose, role, kind, subject, cause)
        self.error = error
    }

    init(firstPlaylist error: LoadingError) {
        self.init(
            .firstPlaylist, as: .firstPlaylist, .firstPlaylist, .playlist, .loading(error),
            HLSError(error, isFirst: true))
    }

    /// Creates a failure of a lane's playlist.
    ///
    /// - Parameters:
    ///   - isFirst: Whether the app supplied its URL.
    ///   - isReload: Whether it is retried for as long as a playlist that was read before.
    init(playlistOf lane: LaneID, _ trouble: PlaylistTrouble, url: String, isFirst: Bool, isReload: Bool) {
        let (cause, error): (RequestFailure.Cause, HLSError) =
            switch trouble {
            case .loading(let error): (.loading(error), HLSError(error, isFirst: isFirst))
            case .playlist(let failure): (.badContent(url: url), HLSError(failure))
            }
        self.init(
            .mediaPlaylist(lane), as: .mediaPlaylist(lane), isReload ? .reload : .mediaPlaylist, .playlist, cause,
            error)
        if case .playlist(let broken) = trouble, broken.kind == .limitExceeded { isFinal = true }
    }

    /// Creates a failure of an initialization section that was loaded but cannot be read (R70).
    ///
    /// Without the section, nothing in its variant can be played.
    init(mapOf flight: SegmentInFlight, _ error: HLSError) {
        self.init(
            flight.purpose, as: .map(flight.id.lane), .initializationSection, .map,
            .badContent(url: error.urlString ?? ""), error)
    }

    /// Creates a failure of a key that was loaded but is not a key (R50).
    init(keyOf flight: SegmentInFlight, _ error: HLSError) {
        self.init(
            flight.purpose, as: .key(flight.id.lane), .key, .resource, .badContent(url: error.urlString ?? ""), error)
    }

    /// Creates a failure of a segment.
    ///
    /// - Parameters:
    ///   - loadingError: The loading error, or nil if the bytes arrived.
    ///   - isAtLiveEdge: Whether the segment may have been listed before it exists.
    init(
        _ flight: SegmentInFlight, _ error: HLSError, _ loadingError: LoadingError?, isAtLiveEdge: Bool,
        lost: LostMedia, _ limits: LostMedia.LossLimits
    ) {
        self.init(
            flight.purpose, as: .segment(flight.role), .segment, .segment(lost, limits),
            loadingError.map { .loading($0) } ?? .badContent(url: error.urlString ?? ""), error)
        self.isAtLiveEdge = isAtLiveEdge
        isPart = flight.position.part != nil
    }

    init(_ resource: ResourceID, of lane: LaneID, _ error: LoadingError) {
        let isKey = resource.kind == .key
        self.init(
            .resource(resource, lane), as: isKey ? .key(lane) : .map(lane), isKey ? .key : .initializationSection,
            .resource, .loading(error), HLSError(error, as: isKey ? .key : .listed))
    }

    /// Whether the bytes arrived but are unusable. If so, later segments that arrived may be unusable too.
    var isBad: Bool { if case .badContent = cause { true } else { false } }

    // MARK: Deciding

    fileprivate var isOfSegment: Bool { if case .segment = subject { true } else { false } }

    fileprivate func isHopeless(_ facts: Facts) -> Bool { isFinal && !facts.hasAlternative }

    /// Whether this is a reload with extended patience, which does not bring the item closer to failing.
    fileprivate func isPatient(_ facts: Facts) -> Bool { kind == .reload && facts.patience != .usual }

    fileprivate func failure(_ facts: Facts) -> RequestFailure {
        var failure = RequestFailure(cause: cause, kind: kind)
        failure.terms.isLive = facts.isLive
        failure.terms.isAtLiveEdge = isAtLiveEdge
        failure.terms.awaitsSegment = isPart && facts.isLive && !facts.hasAlternative && !facts.hasWhole
        failure.terms.targetDuration = facts.targetDuration
        if kind == .reload { failure.terms.patience = facts.patience }
        failure.terms.hasAlternative = facts.hasAlternative
        failure.terms.isSilent = facts.isSilent
        return failure
    }

    func outcome(
        of decision: RetrySchedule<RequestRole>.Decision, hasAlternative: Bool, at now: Duration
    ) -> Outcome {
        switch (decision, subject) {
        case (.retry(let delay), .segment(let lost, let limits)):
            // Do not wait longer for a segment than the lane may go without media.
            guard case .segment(let role) = role, limits.isTooLong(lost, with: role, at: now + delay) else {
                return .again(after: delay)
            }
            return .skip
        case (.retry(let delay), _): return .again(after: delay)
        case (_, .resource): return hasAlternative ? .elsewhere : .giveUp(error)
        case (.failOver, _): return role == .firstPlaylist ? .giveUp(error) : .elsewhere
        case (.skip, .segment): return .skip
        case (.fail, .segment) where purpose.lane == .subtitles: return .skip
        case (.skip, _): return .giveUp(error)
        case (.fail(let kind), _): return .giveUp(error.with(kind))
        }
    }
}

extension LoadingState {
    mutating func judge(_ load: FailedLoad, _ facts: FailedLoad.Facts, at now: Duration) -> FailedLoad.Outcome {
        if load.isHopeless(facts) { return .giveUp(load.error) }
        let attempt = failures.failureCount(of: load.role) + 1
        let decision = failures.decide(
            load.failure(facts), for: load.role, isPatient: load.isPatient(facts), at: now)
        // A part gets two attempts before its full segment is loaded.
        if load.isOfSegment, facts.hasWhole, attempt > 1, !failures.isExhausted { return .whole }
        let outcome = load.outcome(of: decision, hasAlternative: facts.hasAlternative, at: now)
        switch outcome {
        case .again: requests.wait(for: load.purpose)
        case .giveUp(let error): return .giveUp(error.at(attempt: attempt))
        case .whole, .elsewhere, .skip: break
        }
        return outcome
    }
}

extension FailedLoad {
    enum BadSegment: Sendable {
        /// The segment cannot be decrypted. Only another variant could supply another key.
        case key(HLSError)
        case map(HLSError)
        case unsupported(HLSError)
        case media(HLSError)

        /// - Parameter hasGivenKey: Whether the app supplied the key, so the playlist's key is not at fault.
        init(_ failure: SegmentFailure, of job: SegmentJob, hasGivenKey: Bool) {
            switch failure {
            case .wrongKey where hasGivenKey, .badKey where hasGivenKey:
                var error = HLSError(failure, url: job.url)
                if case .wrongKey = failure { error.cause = HLSError.unfitGivenKey }
                self = .key(error)
            case .wrongKey, .noKey, .badKey:
                self = .key(HLSError(failure, url: job.key?.resource.url ?? job.url))
            case .badInitializationSection: self = .map(HLSError(failure, url: job.map?.url ?? job.url))
            case .media(let media) where media.code == .unsupported:
                self = .unsupported(HLSError(failure, url: job.url))
            case .media, .truncatedCiphertext: self = .media(HLSError(failure, url: job.url))
            }
        }
    }
}

extension HLSError {
    fileprivate func with(_ kind: LoadingFailure.Kind) -> HLSError {
        var error = self
        error.code = Code(kind)
        return error
    }

    func asLast(of run: LostMedia.Run) -> HLSError {
        guard run.count > 1 else { return self }
        var error = self
        error.cause = "\(run.count) segments in a row, the last: \(error.cause)"
        return error
    }
}

extension SegmentFailure {
    /// Whether a wrong key may explain the failure if other segments were readable.
    var mayBeOfKey: Bool {
        if case .media(let error) = self { error.code == .unknownContainer } else { false }
    }
}
