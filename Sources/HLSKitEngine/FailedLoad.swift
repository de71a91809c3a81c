import HLSKitLoading
import HLSKitMedia
import HLSKitSelection

/// Why a playlist could not be used.
enum PlaylistTrouble: Sendable {
    case loading(LoadingError)
    case playlist(PlaylistFailure)
}

/// Something that was asked for and did not come, or came and is of no use; and what that leads to.
///
/// See docs/behaviour/failures.md.
struct FailedLoad: Sendable {
    /// What a failure depends on besides what failed.
    struct Facts: Sendable {
        /// Another variant or rendition may have it.
        var hasAlternative = false
        /// The item is live, and the target duration of its variant.
        var isLive = false
        var targetDuration = Duration.seconds(6)
        /// How long lists of a live stream are asked for again.
        var patience = RetryTerms.Patience.usual
        /// The segment is listed that the part is of.
        var hasWhole = false
        /// Nothing ever came from where the segment is, and it was waited for before.
        var isSilent = false
    }

    enum Outcome: Sendable, Hashable {
        /// The same is asked for once more.
        case again(after: Duration)
        /// The lane loads the segment in the place of the part.
        case whole
        /// The lane loads from elsewhere.
        case elsewhere
        /// The lane goes on behind the segment.
        case passOver
        /// The lane cannot go on.
        case giveUp(HLSError)
    }

    private enum Subject: Sendable {
        case playlist
        case map
        case segment(LostMedia, LossLimits)
        /// A map or a key that did not come.
        case resource
    }

    /// What waits for another try, and what is counted.
    let purpose: RequestPurpose
    let role: RequestRole
    let error: HLSError
    private let kind: RetryTerms.Kind
    private let cause: RequestFailure.Cause
    private let subject: Subject
    /// It is the same however often it is asked for.
    private var isFinal = false
    /// A segment that may be listed before it exists.
    private var isAtLiveEdge = false
    private var isPart = false

    private init(
        _ purpose: RequestPurpose, as role: RequestRole, _ kind: RetryTerms.Kind, _ subject: Subject,
        _ cause: RequestFailure.Cause, _ error: HLSError
    ) {
        (self.purpose, self.role, self.kind, self.subject, self.cause) = (purpose, role, kind, subject, cause)
        self.error = error
    }

    /// The playlist whose URL the program gave.
    init(firstPlaylist error: LoadingError) {
        self.init(
            .firstPlaylist, as: .firstPlaylist, .firstPlaylist, .playlist, .loading(error),
            HLSError(error, isFirst: true))
    }

    /// The playlist of a lane.
    ///
    /// - Parameters:
    ///   - isFirst: the program gave its URL.
    ///   - isReload: it is asked for as long as one that was read before.
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

    /// The initialization section of a segment, which was loaded and cannot be read (R70): without it there is nothing to
    /// play in its variant.
    init(mapOf flight: SegmentInFlight, _ error: HLSError) {
        self.init(
            flight.purpose, as: .map(flight.id.lane), .initializationSection, .map,
            .badContent(url: error.urlString ?? ""), error)
    }

    /// A segment.
    ///
    /// - Parameters:
    ///   - loadingError: nil where its bytes came.
    ///   - isAtLiveEdge: it may be listed before it exists.
    ///   - lost: what could not be had of its lane.
    init(
        _ flight: SegmentInFlight, _ error: HLSError, _ loadingError: LoadingError?, isAtLiveEdge: Bool,
        lost: LostMedia, _ limits: LossLimits
    ) {
        self.init(
            flight.purpose, as: .segment(flight.role), .segment, .segment(lost, limits),
            loadingError.map { .loading($0) } ?? .badContent(url: error.urlString ?? ""), error)
        self.isAtLiveEdge = isAtLiveEdge
        isPart = flight.position.part != nil
    }

    /// A map or a key that did not come.
    init(_ resource: ResourceID, of lane: LaneID, _ error: LoadingError) {
        let isKey = resource.kind == .key
        self.init(
            .resource(resource, lane), as: isKey ? .key(lane) : .map(lane), isKey ? .key : .initializationSection,
            .resource, .loading(error), HLSError(error, as: isKey ? .key : .listed))
    }

    /// Its bytes came. So may those behind it that have come as well, and prove nothing.
    var isBad: Bool { if case .badContent = cause { true } else { false } }

    // MARK: Deciding

    fileprivate var isOfSegment: Bool { if case .segment = subject { true } else { false } }

    /// It is of no use to ask again.
    fileprivate func isHopeless(_ facts: Facts) -> Bool { isFinal && !facts.hasAlternative }

    /// Reloads that are made for longer than is usual do not bring the end nearer.
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

    /// What a decision about the request comes to for its lane.
    func outcome(
        of decision: RetrySchedule<RequestRole>.Decision, hasAlternative: Bool, at now: Duration
    ) -> Outcome {
        switch (decision, subject) {
        case (.retry(let delay), .segment(let lost, let limits)):
            // One that has not come for longer than is waited for media is not waited for.
            guard case .segment(let role) = role, limits.isTooLong(lost, with: role, at: now + delay) else {
                return .again(after: delay)
            }
            return .passOver
        case (.retry(let delay), _): return .again(after: delay)
        case (_, .resource): return hasAlternative ? .elsewhere : .giveUp(error)
        case (.failOver, _): return role == .firstPlaylist ? .giveUp(error) : .elsewhere
        case (.skip, .segment): return .passOver
        case (.fail, .segment) where purpose.lane == .subtitles: return .passOver
        case (.skip, _): return .giveUp(error)
        case (.fail(let kind), _): return .giveUp(error.with(kind))
        }
    }
}

extension LoadingState {
    /// Decides what a failure leads to, and counts it. What is asked for again waits for its time.
    mutating func judge(_ load: FailedLoad, _ facts: FailedLoad.Facts, at now: Duration) -> FailedLoad.Outcome {
        if load.isHopeless(facts) { return .giveUp(load.error) }
        let attempt = failures.failureCount(of: load.role) + 1
        let decision = failures.decide(
            load.failure(facts), for: load.role, isPatient: load.isPatient(facts), at: now)
        // A part is asked for twice.
        if load.isOfSegment, facts.hasWhole, attempt > 1, !failures.isExhausted { return .whole }
        let outcome = load.outcome(of: decision, hasAlternative: facts.hasAlternative, at: now)
        switch outcome {
        case .again: requests.wait(for: load.purpose)
        case .giveUp(let error): return .giveUp(error.at(attempt: attempt))
        case .whole, .elsewhere, .passOver: break
        }
        return outcome
    }
}

/// What is wrong with a segment whose bytes came.
enum BadSegment: Sendable {
    /// It cannot be decrypted: another key would have to come from another variant.
    case key(HLSError)
    case map(HLSError)
    /// This client can never use it.
    case unsupported(HLSError)
    case media(HLSError)

    /// - Parameter hasGivenKey: its key was given by hand: what the playlist says of keys is not to blame.
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

extension HLSError {
    /// The same with another code.
    fileprivate func with(_ kind: LoadingFailure.Kind) -> HLSError {
        var error = self
        error.code = Code(kind)
        return error
    }

    /// As the error of the last segment of a run that could not be had.
    func asLast(of run: LostMedia.Run) -> HLSError {
        guard run.count > 1 else { return self }
        var error = self
        error.cause = "\(run.count) segments in a row, the last: \(error.cause)"
        return error
    }
}

extension SegmentFailure {
    /// What a segment looks like that was decrypted with another key, where others have been read.
    var mayBeOfKey: Bool {
        if case .media(let error) = self { error.code == .unknownContainer } else { false }
    }
}
