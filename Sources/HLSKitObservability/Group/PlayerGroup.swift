public import HLSKitCore
public import Logging
public import ServiceLifecycle
import Synchronization

/// Many players as one service: each plays for itself, and all end with it.
///
/// ```swift
/// let group = PlayerGroup()
/// try group.add(PlayerGroupMember(name: "News", urlString: "https://example.com/news.m3u8"))
/// try await ServiceGroup(services: [group], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
///
/// It runs until it is told to shut down. Then players are closed, and what was made of their items is finished, such as files
/// that are recorded, within ``Configuration/closingDeadline``. Cancellation does the same within a second. A player that fails
/// ends nobody else: ``Configuration/failurePolicy`` says what becomes of it.
public final class PlayerGroup: Service {
    /// What holds for all players of a group.
    public struct Configuration: Sendable {
        /// How long players have to finish what they made, when the group shuts down or one is taken out. Default 10 s.
        public var closingDeadline = Duration.seconds(10)
        /// When a player has failed. Default: it is begun anew, with waits that grow.
        public var failurePolicy = RestartPolicy.restart()
        /// When a player has played to its end. Default: it is left.
        public var endPolicy = RestartPolicy.leave
        /// The clock of waits and deadlines. Default: that of the machine.
        public var clock = SourceClock.host
        /// Counts what the players do. nil (the default) counts nothing.
        public var metrics: PlayerMetrics?
        /// The dimension of metrics that has the name of a player; nil counts all together. Default `stream`.
        public var metricsDimension: String? = "stream"
        /// Makes spans of what the players do. nil (the default) makes none.
        public var tracing: PlayerTracing?
        /// Hears of players that failed (`error`), that were abandoned (`warning`), and that ended (`debug`), with their name as
        /// `hls.player`. What they play is told to the logger of their own configuration. nil (the default) logs nothing.
        public var logger: Logger?

        /// Makes the default configuration.
        public init() {}
    }

    private enum Wish: Sendable { case shutDown, cancel, over, deadline }

    private enum Phase { case pending, running, closing, over }

    private struct State {
        var phase = Phase.pending
        /// In the order in which they were added.
        var players: [GroupPlayer] = []
        /// Those that have begun and are not over.
        var activeCount = 0
    }

    /// How long a cancelled group waits: to close a player, and to finish a file, is quick.
    private static let patience = Duration.seconds(1)

    private let configuration: Configuration
    private let events = GroupEvents()
    private let wishes: AsyncStream<Wish>
    private let wish: AsyncStream<Wish>.Continuation
    private let state = Mutex(State())

    /// Makes a group without players.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        (wishes, wish) = AsyncStream.makeStream(of: Wish.self)
    }

    // MARK: Players

    /// Adds a player. In a group that runs it begins at once.
    ///
    /// - Throws: `HLSError` with the code `invalidArgument` where there is one of that name, with `cancelled` where the group
    ///   is shutting down or over.
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

    /// Takes a player out: closes it, and returns when what it made is finished, or ``Configuration/closingDeadline`` is over.
    /// False where there is none of that name.
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

    /// The player of a name, as long as its turn lasts: to seek in it, to look at it, to add outputs to its item. nil in between.
    public func player(_ name: String) -> Player? {
        state.withLock { state in state.players.first { $0.member.name == name }?.player }
    }

    /// The players of the group, in the order in which they were added.
    public var statuses: [(name: String, status: PlayerGroupStatus)] {
        state.withLock(\.players).map { ($0.member.name, $0.status) }
    }

    /// What happens to all players from now on. Ends with the group.
    ///
    /// - Parameter count: how many events are kept for this reader, from 1; one that falls behind loses the oldest.
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
        if isLast { wish.yield(.over) }
    }

    // MARK: Running

    /// Runs the players until the group is told to shut down. Once for each group.
    ///
    /// - Throws: `HLSError` with the code `invalidArgument` where it ran already; `CancellationError` where its task
    ///   was cancelled.
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
                // A task that is cancelled cannot wait: this one is told.
                await Task(executorPreference: configuration.clock.taskExecutor) { await self.waitForEnd() }.value
            } onGracefulShutdown: { [wish] in
                wish.yield(.shutDown)
            }
        } onCancel: { [wish] in
            wish.yield(.cancel)
        }
        state.withLock { $0.phase = .over }
        events.finish()
        wish.finish()
        try Task.checkCancellation()
    }

    private func waitForEnd() async {
        var limit: Task<Void, any Error>?
        defer { limit?.cancel() }
        for await wish in wishes {
            switch wish {
            case .shutDown, .cancel:
                guard close() else { return }
                limit?.cancel()
                let patience = configuration.closingDeadline
                limit = endLater(wish == .cancel ? min(Self.patience, patience) : patience)
            case .over: if isOver { return }
            case .deadline:
                for player in state.withLock(\.players) { player.abandon() }
                return
            }
        }
    }

    private func endLater(_ patience: Duration) -> Task<Void, any Error> {
        let (clock, wish) = (configuration.clock, wish)
        return Task(executorPreference: clock.taskExecutor) {
            try await clock.sleep(for: patience)
            wish.yield(.deadline)
        }
    }

    private var isOver: Bool { state.withLock { $0.phase == .closing && $0.activeCount == 0 } }

    /// Stops all players. False where none is active.
    private func close() -> Bool {
        let (players, isActive) = state.withLock { state in
            state.phase = .closing
            return (state.players, state.activeCount > 0)
        }
        for player in players { player.stop() }
        return isActive
    }
}
