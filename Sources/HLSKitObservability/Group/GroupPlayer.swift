import HLSKitCore
import Logging
import Synchronization

/// Plays one member of a group, turn after turn, until its task is cancelled.
final class GroupPlayer: Sendable {
    private struct State {
        var status = PlayerGroupStatus.pending
        var player: Player?
        var task: Task<Void, Never>?
        var finishing: Task<Void, any Error>?
        var isAbandoned = false
        var isOver = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let member: PlayerGroupMember
    private let configuration: PlayerGroup.Configuration
    private let report: @Sendable (PlayerGroupEvent) -> Void
    private let logger: Logger?
    private let state = Mutex(State())

    init(
        _ member: PlayerGroupMember, _ configuration: PlayerGroup.Configuration,
        report: @escaping @Sendable (PlayerGroupEvent) -> Void
    ) {
        self.member = member
        self.configuration = configuration
        self.report = report
        var logger = configuration.logger
        logger?[metadataKey: "hls.player"] = "\(member.name)"
        self.logger = logger
    }

    var status: PlayerGroupStatus { state.withLock(\.status) }
    var player: Player? { state.withLock(\.player) }

    // MARK: Control

    func start(whenOver end: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.task == nil else { return }
            state.task = Task(executorPreference: configuration.clock.taskExecutor) {
                await self.run()
                self.release { $0.isOver = true }
                end()
            }
        }
    }

    /// Closes the player. Its turn can still finish its work.
    func stop() { state.withLock(\.task)?.cancel() }

    func finish() async {
        await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                guard state.task != nil, !state.isOver, !state.isAbandoned else { return true }
                state.waiters.append(waiter)
                return false
            }
            if isOver { waiter.resume() }
        }
    }

    func abandon() {
        let (finishing, isActive) = state.withLock { state in
            (state.finishing, state.task != nil && !state.isOver && !state.isAbandoned)
        }
        guard isActive else { return }
        release { $0.isAbandoned = true }
        finishing?.cancel()
        logger?.warning("a player was abandoned: its output may be incomplete")
        send(.abandoned)
    }

    private func release(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func send(_ kind: PlayerGroupEvent.Kind) {
        report(PlayerGroupEvent(name: member.name, hostTime: configuration.clock.now, kind: kind))
    }

    // MARK: Turns

    private func run() async {
        var count = RestartCount(name: member.name)
        var number = 0
        while true {
            number += 1
            state.withLock { $0.status = .running }
            send(.began(session: number))
            let (outcome, played) = await play(number)
            let delay = Task.isCancelled ? nil : restartDelay(outcome, played, &count)
            note(outcome, restartsIn: delay)
            let time = configuration.clock.now + (delay ?? .zero)
            state.withLock { $0.status = delay == nil ? .over(outcome) : .restarting(at: time) }
            send(.over(outcome, restartsIn: delay))
            guard delay != nil else { return }
            do { try await configuration.clock.sleep(until: time) } catch {
                state.withLock { $0.status = .over(.stopped) }
                return
            }
        }
    }

    private func restartDelay(
        _ outcome: PlayerGroupMember.Outcome, _ played: Duration, _ count: inout RestartCount
    ) -> Duration? {
        let (policy, error): (RestartPolicy, (any Error)?)
        switch outcome {
        case .ended: (policy, error) = (member.endPolicy ?? configuration.endPolicy, nil)
        case .failed(let failure): (policy, error) = (member.failurePolicy ?? configuration.failurePolicy, failure)
        case .stopped: return nil
        }
        guard case .restart(let backoff) = policy else { return nil }
        return count.delay(backoff, after: error, played: played)
    }

    private func note(_ outcome: PlayerGroupMember.Outcome, restartsIn delay: Duration?) {
        switch outcome {
        case .ended: logger?.debug("a player has played to its end")
        case .stopped: logger?.debug("a player was stopped")
        case .failed(let error):
            logger?.error(
                "a player has failed",
                metadata: ["cause": "\(error)", "restarts-in": "\(delay.map { "\($0.seconds)" } ?? "never")"])
        }
    }

    private func play(_ number: Int) async -> (outcome: PlayerGroupMember.Outcome, played: Duration) {
        let session: PlayerGroupMember.Session
        do {
            session = try await member.makeSession(number)
        } catch {
            return (Task.isCancelled ? .stopped : .failed(error), .zero)
        }
        var outcome = PlayerGroupMember.Outcome.stopped
        if !Task.isCancelled {
            let player = Player(configuration: member.configuration)
            state.withLock { $0.player = player }
            var observations: [PlayerObservation] = []
            outcome = await follow(session.item, on: player, &observations)
            await player.close()
            for observation in observations { await observation.finish() }
            state.withLock { $0.player = nil }
        }
        do {
            try await finish(session, outcome)
        } catch {
            if case .failed = outcome {} else { outcome = .failed(error) }
        }
        return (outcome, session.item.latestState.statistics.durationWatched)
    }

    private func observe(_ player: Player) -> [PlayerObservation] {
        let dimensions = configuration.metricsDimension.map { [($0, member.name)] } ?? []
        return [
            configuration.metrics?.attach(to: player, dimensions: dimensions),
            configuration.tracing?.attach(to: player),
        ].compactMap { $0 }
    }

    private func follow(
        _ item: PlayerItem, on player: Player, _ observations: inout [PlayerObservation]
    ) async -> PlayerGroupMember.Outcome {
        let events = player.events()
        player.play()
        do { try player.replaceCurrentItem(with: item) } catch { return .failed(error) }
        observations = observe(player)
        for await event in events {
            send(.player(event))
            switch event.kind {
            case .didPlayToEnd where player.actionAtItemEnd == .pause: return .ended
            case .itemStatusChanged(.failed):
                return .failed(event.item?.error ?? HLSError(code: .internal, cause: "playback failed"))
            default: break
            }
        }
        return .stopped
    }

    /// Finishes the work of a turn. The end of the group does not cancel it, only ``abandon()`` does.
    private func finish(_ session: PlayerGroupMember.Session, _ outcome: PlayerGroupMember.Outcome) async throws {
        guard let finish = session.finish else { return }
        let task = state.withLock { state in
            state.status = .finishing
            let task = Task(executorPreference: configuration.clock.taskExecutor) { try await finish(outcome) }
            state.finishing = task
            if state.isAbandoned { task.cancel() }
            return task
        }
        defer { state.withLock { $0.finishing = nil } }
        try await task.value
    }
}
