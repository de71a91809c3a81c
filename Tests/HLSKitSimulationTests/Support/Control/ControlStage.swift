import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import Synchronization

final class ControlStage: Sendable {
    struct Props: Sendable {
        var items: [PlayerItem] = []
        var outputs: [any PlayerItemOutput] = []
        var writers: [CountingWriter] = []
        var observers: [Task<Void, Never>] = []
        /// Tasks that read outputs. An output may have no owner, so these tasks end only on request.
        var viewers: [Task<Void, Never>] = []
        var looper: PlayerLooper?
        var scrubbing: ScrubSession?
    }

    private struct State {
        var player: Player
        var follower: EventFollower
        var followers: [EventFollower] = []
        var former: [WeakPlayer] = []
        var props = Props()
        var itemCount = 0
        var names: [PlayerItem.ID: String] = [:]
        /// All items of the run. Keeping them makes their addresses unique.
        var kept: [PlayerItem.ID: PlayerItem] = [:]
        var ranks: [PlayerItem.ID: Int] = [:]
        var lines: [String] = []
        var violations: [String] = []
        var openCalls = 0
        var callCount = 0
    }

    private struct WeakPlayer: Sendable {
        weak var player: Player?
    }

    let configuration: PlayerConfiguration
    /// Whether nothing else runs during a call, so that all changes are its own.
    let isAlone: Bool
    private let now: @Sendable () -> Duration
    private let executor: (any TaskExecutor)?
    private let keepsLog: Bool
    private let state: Mutex<State>

    init(configuration: PlayerConfiguration, isAlone: Bool) {
        self.configuration = configuration
        self.isAlone = isAlone
        keepsLog = isAlone
        let clock = HostClock(configuration.sourceClock)
        now = { clock.now }
        executor = clock.executor
        let player = QueuePlayer(configuration: configuration)
        let follower = EventFollower { _ in }
        state = Mutex(State(player: player, follower: follower))
        follow(Self.events(of: player))
    }

    var player: Player { state.withLock(\.player) }
    var scene: (player: Player, follower: EventFollower) { state.withLock { ($0.player, $0.follower) } }
    var lines: [String] { state.withLock(\.lines) }
    var openCalls: Int { state.withLock(\.openCalls) }
    var callCount: Int { state.withLock(\.callCount) }
    var violations: [String] {
        state.withLock { $0.violations + $0.followers.flatMap(\.now.violations) }
    }

    func note(_ line: String) {
        guard keepsLog else { return }
        let time = now()
        state.withLock { $0.lines.append("\(time / .milliseconds(1)) \(line)") }
    }

    func fail(_ text: String) {
        let time = now()
        state.withLock { $0.violations.append("at \(time / .seconds(1)) s, \($0.lines.last ?? ""): \(text)") }
    }

    /// Starts an asynchronous call, which keeps the player alive.
    func start(_ what: String, _ call: @escaping @Sendable () async throws -> String) -> Task<Void, Never> {
        state.withLock { $0.openCalls += 1 }
        return Task(executorPreference: executor) { [self] in
            var outcome: String
            do { outcome = try await call() } catch {
                outcome = "throws \((error as? HLSError)?.code.rawValue ?? "")"
            }
            note("\(what) -> \(outcome)")
            state.withLock { $0.openCalls -= 1 }
        }
    }

    // MARK: Props

    func change<Result: Sendable>(_ body: (inout Props) -> Result) -> Result {
        state.withLock { state in
            state.callCount += 1
            return body(&state.props)
        }
    }

    func newItem(_ kind: ControlOrigin.Kind) -> PlayerItem {
        let item = PlayerItem(urlString: ControlOrigin.url(kind))
        add(item, named: kind.rawValue)
        return item
    }

    func add(_ item: PlayerItem, named name: String) {
        state.withLock { state in
            state.itemCount += 1
            state.names[item.id] = "\(name)#\(state.itemCount)"
            state.kept[item.id] = item
            state.props.items.append(item)
            if state.props.items.count > 8 {
                let old = state.props.items.removeFirst()
                state.ranks[old.id] = nil
            }
        }
    }

    func name(of item: PlayerItem?) -> String {
        guard let item else { return "none" }
        return state.withLock { $0.names[item.id] } ?? "a copy"
    }

    // MARK: Players

    func replacePlayer(withQueue: Bool) {
        let player = withQueue ? QueuePlayer(configuration: configuration) : Player(configuration: configuration)
        // Before another thread can act on it.
        let events = Self.events(of: player)
        let old = state.withLock { state in
            state.former.removeAll { $0.player == nil }
            state.former.append(WeakPlayer(player: state.player))
            let old = (state.player, state.props)
            state.player = player
            state.props.items = []
            state.props.looper = nil
            state.props.scrubbing = nil
            state.ranks = [:]
            return old
        }
        follow(events)
        withExtendedLifetime(old) {}
    }

    /// A busy machine could lose events of the default limit, and the follower needs all of them.
    private static func events(of player: Player) -> AsyncStream<PlayerEvent> {
        player.events(bufferingNewest: 1_000_000)
    }

    private func follow(_ events: AsyncStream<PlayerEvent>) {
        let follower = EventFollower { [weak self] line in self?.append(line) }
        state.withLock { state in
            state.follower = follower
            state.followers.append(follower)
        }
        Task(executorPreference: executor) { await follower.follow(events) }
    }

    private func append(_ line: String) {
        if keepsLog { state.withLock { $0.lines.append("  " + line) } }
    }

    func close() async {
        let (player, former, props) = state.withLock { ($0.player, $0.former.compactMap(\.player), $0.props) }
        props.looper?.disableLooping()
        for player in [player] + former { await player.close() }
        for viewer in props.viewers { viewer.cancel() }
    }

    // MARK: Rules

    func check() {
        let (player, items) = state.withLock { ($0.player, $0.props.items) }
        let queue = (player as? QueuePlayer)?.items() ?? []
        state.withLock { state in for item in queue { state.kept[item.id] = item } }
        for violation in StateRules.violations(of: player) { fail(violation) }
        for item in items {
            let rank = [.unknown: 0, .readyToPlay: 1, .failed: 2][item.status] ?? 3
            let best = state.withLock { state -> Int in
                guard state.props.items.contains(where: { $0 === item }) else { return 0 }
                let best = state.ranks[item.id] ?? 0
                state.ranks[item.id] = max(best, rank)
                return best
            }
            // Other users may have acted between the two checks.
            if rank < best, isAlone { fail("\(name(of: item)) is \(item.status), and was more") }
        }
    }
}

final class CountingWriter: FrameWriter, AudioWriter, SampleWriter {
    let takesSamples: Bool
    let mediaTypes: Set<MediaKind>
    private let state = Atomic(0)

    init(takesSamples: Bool, mediaTypes: Set<MediaKind>) {
        self.takesSamples = takesSamples
        self.mediaTypes = mediaTypes
    }

    var count: Int { state.load(ordering: .relaxed) }

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) { state.add(1, ordering: .relaxed) }
    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) { state.add(1, ordering: .relaxed) }
    func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(HLSError) {
        state.add(1, ordering: .relaxed)
    }
    func begin(_ tracks: [MediaTrack]) {}
    func flush() {}
    func finish() {}
}
