public import HLSKitCore
public import Logging
public import ServiceLifecycle
import Synchronization

/// Runs many independent players as one service, which ends them together.
///
/// ```swift
/// let group = PlayerGroup()
/// try group.add(PlayerGroupMember(name: "News", urlString: "https://example.com/news.m3u8"))
/// try await ServiceGroup(services: [group], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
///
/// The group runs until it is shut down. It then closes its players and finishes the work of their turns, such as
/// recordings, within ``Configuration/closingDeadline``. If its task is cancelled, it does the same within one second.
/// A failing player does not affect the others. ``Configuration/failurePolicy`` decides whether it restarts.
public final class PlayerGroup: Service {
    /// The settings for all players of a group.
    public struct Configuration: Sendable {
        /// The time for players to finish their work at shutdown or when they are removed.
        ///
        /// The default is 10 s.
        public var closingDeadline = Duration.seconds(10)
        /// The policy after the failure of a player.
        ///
        /// The default is to restart it with increasing delays.
        public var failurePolicy = RestartPolicy.restart()
        /// The policy after a player has played to its end.
        ///
        /// The default is not to restart it.
        public var endPolicy = RestartPolicy.leave
        /// The clock for delays and deadlines.
        ///
        /// The default is the clock of the machine.
        public var clock = SourceClock.host
        /// The metrics that count the players' activity, or `nil` (the default) for none.
        public var metrics: PlayerMetrics?
        /// The metrics dimension for the player's name.
        ///
        /// The default is `stream`. With `nil`, all players are counted together.
        public var metricsDimension: String? = "stream"
        /// The tracing that records spans of the players' activity, or `nil` (the default) for none.
        public var tracing: PlayerTracing?
        /// The logger for the group, or `nil` (the default) for no logging.
        ///
        /// It logs players that failed (`error`), were abandoned (`warning`) or ended (`debug`), with their name as
        /// `hls.player`. The logger in a player's own configuration logs its playback.
        public var logger: Logger?

        /// Creates the default configuration.
        public init() {}
    }

    private enum Command: Sendable { case shutDown, cancel, over, deadline }

    private enum Phase { case pending, running, closing, over }

    private struct State {
        var phase = Phase.pending
        var players: [GroupPlayer] = []
        var activeCount = 0
    }

    /// The time that a cancelled group waits, because closing a player and finishing a file are quick.
    private static let patience = Duration.seconds(1)

    private let configuration: Configuration
    private let events = GroupEvents()
    private let commands: AsyncStream<Command>
    private let command: AsyncStream<Command>.Continuation
    private let state = Mutex(State())

    /// Creates a group without players.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        (commands, command) = AsyncStream.makeStream(of: Command.self)
    }

    // MARK: Players

    /// Adds a player, which starts at once if the group is running.
    ///
    /// - Throws: `HLSError` with the code `invalidArgument` if the group has a player with that name, or `cancelled` if
    ///   the group is shutting down or has ended.
    public func add(_ member: PlayerGroupMember) throws(HLSError) {
        let refusal = state.withLock { state -> HLSError? in
            guard state.phase == .pending || state.phase == .running else {
                return HLSError(code: .cancelled, cause: "the group no longer accepts players", detail: member.name)
            }
            guard !state.players.contains(where: { $0.member.name == member.name }) else {
                return HLSError(
                    code: .invalidArgument, cause: "the group already has a player of that name", detail: member.name)
            }
            let events = events
            let player = GroupPlayer(member, configuration) { events.send($0) }
            state.players.append(player)
            if state.phase == .running { start(player, &state) }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Removes and closes a player, and waits until the work of its turn is finished.
    ///
    /// The wait is limited to ``Configuration/closingDeadline``.
    ///
    /// - Returns: `false` if the group has no player with that name.
    @discardableResult
    public func remove(_ name: String) async -> Bool {
        let removed = state.withLock { state -> GroupPlayer? in
            guard let index = state.players.firstIndex(where: { $0.member.name == name }) else { return nil }
            return state.players.remove(at: index)
        }
        guard let removed else { return false }
        removed.stop()
        let (clock, deadline) = (configuration.clock, configuration.closingDeadline)
        let limit = Task(executorPreference: clock.taskExecutor) {
            try await clock.sleep(for: deadline)
            removed.abandon()
        }
        await removed.finish()
        limit.cancel()
        return true
    }

    /// Returns the player with a name, or `nil` between its turns and if there is none.
    ///
    /// Use it to seek, to observe the player, or to add outputs to its item.
    public func player(_ name: String) -> Player? {
        state.withLock { state in state.players.first { $0.member.name == name }?.player }
    }

    /// The names and statuses of the group's players, in the order in which they were added.
    public var statuses: [(name: String, status: PlayerGroupStatus)] {
        state.withLock(\.players).map { ($0.member.name, $0.status) }
    }

    /// Returns a sequence of the events of all players from now on.
    ///
    /// The sequence ends with the group.
    ///
    /// - Parameter count: The number of unread events to keep for this reader, at least 1. A slow reader loses the
    ///   oldest.
    public func events(bufferingNewest count: Int = 1_000) -> AsyncStream<PlayerGroupEvent> {
        events.subscribe(newest: count)
    }

    private func start(_ player: GroupPlayer, _ state: inout State) {
        state.activeCount += 1
        player.start { [weak self] in self?.noteEnd() }
    }

    private func noteEnd() {
        let isLast = state.withLock { state in
            state.activeCount -= 1
            return state.activeCount == 0
        }
        if isLast { command.yield(.over) }
    }

    // MARK: Running

    /// Runs the players until the group is shut down.
    ///
    /// A group runs only once.
    ///
    /// - Throws: `HLSError` with the code `invalidArgument` if the group has run before; `CancellationError` if its
    ///   task was cancelled.
    public func run() async throws {
        let isFirst = state.withLock { state in
            guard state.phase == .pending else { return false }
            state.phase = .running
            for player in state.players { start(player, &state) }
            return true
        }
        guard isFirst else { throw HLSError(code: .invalidArgument, cause: "a group can run only once") }
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                // A cancelled task cannot wait, so another task does, and the handler notifies it.
                await Task(executorPreference: configuration.clock.taskExecutor) { await self.waitForEnd() }.value
            } onGracefulShutdown: { [command] in
                command.yield(.shutDown)
            }
        } onCancel: { [command] in
            command.yield(.cancel)
        }
        state.withLock { $0.phase = .over }
        events.finish()
        command.finish()
        try Task.checkCancellation()
    }

    private func waitForEnd() async {
        var limit: Task<Void, any Error>?
        defer { limit?.cancel() }
        for await command in commands {
            switch command {
            case .shutDown, .cancel:
                guard close() else { return }
                limit?.cancel()
                let patience = configuration.closingDeadline
                limit = endLater(command == .cancel ? min(Self.patience, patience) : patience)
            case .over: if isOver { return }
            case .deadline:
                for player in state.withLock(\.players) { player.abandon() }
                return
            }
        }
    }

    private func endLater(_ patience: Duration) -> Task<Void, any Error> {
        let (clock, command) = (configuration.clock, command)
        return Task(executorPreference: clock.taskExecutor) {
            try await clock.sleep(for: patience)
            command.yield(.deadline)
        }
    }

    private var isOver: Bool { state.withLock { $0.phase == .closing && $0.activeCount == 0 } }

    /// Stops all players. Returns `false` if none is active.
    private func close() -> Bool {
        let (players, isActive) = state.withLock { state in
            state.phase = .closing
            return (state.players, state.activeCount > 0)
        }
        for player in players { player.stop() }
        return isActive
    }
}
