import HLSKitLoading
import HLSKitTime

/// Decides where seeks go, where they land and when they end, and what to ask the outputs.
///
/// Outputs are asked for media at the target of a seek, for the media of a preroll, and for the first media of an item.
/// Each question has a number, and there is at most one open question of each kind.
package struct SeekMachine: Sendable {
    /// The maximum time for which a decoder without output delays the start.
    private static let longestWaitForFirst = Duration.seconds(5)

    /// The resulting position of the last move, or `nil` before the item has a start position.
    private(set) var landing: SeekTarget?
    /// Media before this item time is not presented.
    private(set) var window: Duration?
    /// Whether the first media was decoded, or is no longer waited for.
    private(set) var hasDecodedFirst = false
    /// Whether the item has frames that can be stepped through.
    private(set) var hasFrames = false
    private var syncSamples = SeekTargetRule.SyncIndex()

    private var move = Move.none
    private var preroll = Wait.none
    private var start = Wait.none

    private enum Move: Sendable {
        case none
        /// A seek to `target`. `question` is the number of the question to the outputs.
        case underWay(SeekRequest, target: Duration, question: Int?)
    }

    private enum Wait: Sendable, Hashable {
        case none
        /// Waiting for media to decode.
        case forMedia
        /// Waiting for the outputs to decode it.
        case forOutputs(Int)

        var question: Int? { if case .forOutputs(let number) = self { number } else { nil } }
    }

    struct Facts: Sendable {
        var hasStart = false
        var isReady = false
        /// Whether there is media to decode at the playhead.
        var hasMedia = false
        var isPaused = false
        /// Whether outputs report when they have decoded the requested media.
        var awaitsOutputs = false
        var holdsStart = false
    }

    enum Answer: Sendable, Hashable {
        case refuse
        /// Wait until the item has a start position, which the target becomes.
        case wait
        case go(to: Duration)
    }

    enum Question: Sendable, Hashable {
        case target, preroll, first
    }

    enum Action: Sendable, Hashable {
        /// The seek begins.
        case accept(isTargetBuffered: Bool)
        /// Present loaded media from this position on, or load media.
        case present(from: SeekTarget)
        case load(from: SeekTarget)
        /// Move the playhead, because of a seek or because time was tied to host time.
        case move(to: SeekTarget)
        case jump(to: Duration)
        case judgeBuffer
        /// Decide the resulting position, because media at the target is available.
        case decideLanding(near: Duration)
        case reposition(to: SeekTarget)
        /// Ask the outputs, if there is something to ask for.
        case awaitOutputs
        case ask(Question)
        case waitForFirst(until: Duration)
        case noteFirst
        /// End a seek, which something else may have replaced.
        case endSeek(finished: Bool)
        /// Report that the playhead has left its position.
        case reportJump
        case complete
        case endPreroll(finished: Bool)
    }

    // MARK: Seek

    var target: Duration? { if case .underWay(_, let target, _) = move { target } else { nil } }
    var request: SeekRequest? { if case .underWay(let request, _, _) = move { request } else { nil } }
    package var isUnderWay: Bool { target != nil }
    var isCancellable: Bool { request?.isOwn == false }

    /// Decides the response to a seek. A refused seek does not affect the current one.
    ///
    /// - Parameter rule: The rule for positions, or `nil` before the item has a start position.
    static func answer(to request: SeekRequest, _ rule: SeekTargetRule?, canPlay: Bool) -> Answer {
        guard canPlay else { return .refuse }
        guard let rule else { return .wait }
        return rule.time(of: request.destination).map { .go(to: $0) } ?? .refuse
    }

    mutating func begin(_ request: SeekRequest, to target: Duration) {
        move = .underWay(request, target: target, question: nil)
    }

    mutating func go(_ request: SeekRequest, to target: Duration, _ rule: SeekTargetRule, reloads: Bool) -> [Action] {
        let landing = rule.landing(for: request, at: target, syncSamples)
        let isBuffered = !reloads && rule.held.reaches(landing.time)
        begin(request, to: landing.time)
        return [
            .accept(isTargetBuffered: isBuffered), isBuffered ? .present(from: landing) : .load(from: landing),
            .move(to: landing), .judgeBuffer,
        ]
    }

    /// Moves to the position at which the item resumes after a break.
    ///
    /// - Parameter isHeld: Whether media there is loaded and can be presented again.
    mutating func resume(at landing: SeekTarget, isHeld: Bool) -> [Action] {
        begin(SeekRequest(destination: .time(landing.time), isOwn: true, isJump: false), to: landing.time)
        return [
            .accept(isTargetBuffered: isHeld), isHeld ? .present(from: landing) : .load(from: landing),
            .move(to: landing), .judgeBuffer,
        ]
    }

    /// Begins a move because the media at the playhead will come from another source.
    ///
    /// A seek in progress continues. Otherwise the playhead is moved to its current position.
    ///
    /// - Returns: The target of the move.
    mutating func beginOwnMove(at playhead: Duration) -> Duration {
        guard case .underWay(let request, let target, _) = move else {
            begin(SeekRequest(destination: .time(playhead), isOwn: true, isJump: false), to: playhead)
            return playhead
        }
        // This discards the question, so that the outputs are asked again.
        begin(request, to: target)
        return target
    }

    /// Called when the item gets a start position.
    ///
    /// - Returns: The resulting position of the waiting seek, or `nil` if it cannot be carried out.
    mutating func landFirst(_ rule: SeekTargetRule) -> SeekTarget? {
        guard let landing = request.flatMap({ rule.firstLanding(for: $0) }) else { return nil }
        land(on: landing)
        return landing
    }

    /// Moves to a position that results from tying item time to host time.
    func jump(to time: Duration, from playhead: Duration, _ held: HeldMedia) -> [Action] {
        guard abs(time - playhead) > held.shortest else { return [] }
        return [
            .endSeek(finished: false), held.reaches(time) ? .present(from: .exact(time)) : .load(from: .exact(time)),
            .jump(to: time), .judgeBuffer,
        ]
    }

    mutating func land(on landing: SeekTarget) {
        self.landing = landing
        guard case .underWay(let request, _, let question) = move else { return }
        move = .underWay(request, target: landing.time, question: question)
    }

    mutating func end() -> SeekRequest? {
        guard case .underWay(let request, _, _) = move else { return nil }
        move = .none
        // The outputs have to be asked for the first media again.
        start = .none
        return request
    }

    // MARK: Arriving

    func check(_ facts: Facts) -> [Action] {
        guard isUnderWay, facts.hasStart, facts.isReady, facts.hasMedia else { return [] }
        guard case .undecided(let target) = landing else { return [.awaitOutputs] }
        return [.decideLanding(near: target), .awaitOutputs]
    }

    func decideLanding(near target: Duration, _ held: HeldMedia) -> [Action] {
        guard let request else { return [] }
        let landing = held.landing(at: target, request.tolerance, syncSamples)
        return [.reposition(to: landing), .move(to: landing), .judgeBuffer]
    }

    /// - Parameter isInGap: Whether there is no media at the target, so that nothing will be decoded.
    func awaitOutputs(_ facts: Facts, isInGap: Bool) -> [Action] {
        guard facts.awaitsOutputs, !isInGap else { return complete(first: nil) }
        if case .underWay(_, _, nil) = move { return [.ask(.target)] }
        return []
    }

    private func complete(first: Duration?) -> [Action] {
        var actions: [Action] = []
        // The first frame may be later than the segment's start in the playlist.
        if case .segmentStart(let start) = landing, let first, first > start {
            actions.append(.move(to: .sync(first)))
        }
        actions.append(.endSeek(finished: true))
        if request?.isJump ?? true { actions.append(.reportJump) }
        return actions + [.complete]
    }

    // MARK: Preroll

    var isPrerolling: Bool { preroll != .none }

    func mayPreroll(_ facts: Facts) -> Bool { facts.isReady && facts.isPaused && !isUnderWay }

    mutating func beginPreroll() { preroll = .forMedia }

    mutating func endPreroll() { preroll = .none }

    /// Asks the outputs once there is media to decode. If the player is playing, ends the preroll instead.
    func checkPreroll(_ facts: Facts) -> [Action] {
        guard isPrerolling else { return [] }
        guard facts.isPaused else { return [.endPreroll(finished: false)] }
        guard preroll == .forMedia, facts.hasMedia else { return [] }
        return [facts.awaitsOutputs ? .ask(.preroll) : .endPreroll(finished: true)]
    }

    // MARK: Start

    func holdsStart(_ facts: Facts) -> Bool { facts.holdsStart && !hasDecodedFirst }

    /// Asks the outputs for the first media once there is some, unless another question is open.
    func checkStart(_ facts: Facts, at now: Duration) -> [Action] {
        guard holdsStart(facts), facts.hasStart, facts.isReady, facts.hasMedia, start == .none,
            preroll.question == nil, !isUnderWay
        else { return [] }
        return [.waitForFirst(until: now + Self.longestWaitForFirst), .ask(.first)]
    }

    /// Called when the first media is decoded, or is no longer waited for.
    ///
    /// - Returns: Whether the outputs had been asked for it.
    mutating func noteFirstDecoded() -> Bool {
        hasDecodedFirst = true
        defer { start = .none }
        return start != .none
    }

    // MARK: Questions

    mutating func ask(_ question: Question, _ number: Int) {
        switch question {
        case .target:
            guard case .underWay(let request, let target, _) = move else { return }
            move = .underWay(request, target: target, question: number)
        case .preroll: preroll = .forOutputs(number)
        case .first: start = .forOutputs(number)
        }
    }

    /// Called when the outputs have decoded the requested media.
    ///
    /// - Parameters:
    ///   - isLast: Whether this was the last question.
    ///   - first: The item time of the first media.
    func takeAnswer(_ number: Int, isLast: Bool, first: Duration?) -> [Action] {
        var actions: [Action] = []
        if isLast { actions.append(.noteFirst) }
        if preroll.question == number { actions.append(.endPreroll(finished: true)) }
        if case .underWay(_, _, number) = move { actions += complete(first: first) }
        return actions
    }

    // MARK: Frames

    mutating func start(at place: StartPlace) { window = place.window }

    mutating func restart(at landing: SeekTarget) {
        window = landing.floor
        syncSamples.removeAll()
    }

    func mayStep(_ facts: Facts) -> Bool { facts.isReady && facts.isPaused && hasFrames }

    mutating func noteSyncSamples(_ times: [Duration]) {
        syncSamples.insert(times)
        hasFrames = true
    }

    mutating func forgetSyncSamples(before time: Duration) { syncSamples.removeAll(before: time) }
    mutating func forgetSyncSamples(from time: Duration) { syncSamples.removeAll(from: time) }
}
