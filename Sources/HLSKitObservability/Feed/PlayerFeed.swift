import HLSKitCore
import HLSKitTime
import Synchronization

/// Passes a player's events, its items' measurements and periodic samples of its state to an observer.
///
/// It does not keep the player alive, and ends with it.
final class PlayerFeed: Sendable {
    /// The number of earlier items to remember, because late events may be about them.
    private static let memory = 64

    private struct Followed {
        var active: Set<PlayerItemID> = []
        /// The earlier items, the oldest one first.
        var left: [PlayerItemID] = []
        var current: PlayerItemID?
        /// The item that was current when all its measurements had been reported, while events up to its end are
        /// unread.
        var pending: PlayerItem?
        var isOver = false
    }

    private let player: @Sendable () -> Player?
    private let clock: SourceClock
    private let interval: Duration
    private let observer: any PlayerObserver
    private let events: AsyncStream<PlayerEvent>
    private let first: (item: PlayerItem, metrics: AsyncStream<any MetricEvent>)?
    private let followed = Mutex(Followed())

    /// Starts the observation. No event from now on is lost, even if it is read later.
    init(_ player: Player, interval: Duration, observer: any PlayerObserver) {
        self.player = { [weak player] in player }
        self.interval = interval
        self.observer = observer
        clock = player.sourceClock
        events = player.events()
        first = player.currentItem.map { ($0, $0.allMetrics()) }
        observer.observe(.began(player.state), at: clock.now)
        guard let item = first?.item else { return }
        followed.withLock { followed in
            followed.active.insert(item.id)
            followed.current = item.id
        }
        observer.observe(.itemAppeared(item), at: clock.now)
    }

    /// Runs until the player is closed or released, or the task is cancelled.
    nonisolated(nonsending) func run() async {
        await withDiscardingTaskGroup { group in
            if let first { group.addTask { await self.follow(first.item, first.metrics) } }
            group.addTask { await self.takeSamples() }
            for await event in events {
                if let (item, metrics) = newItem(in: event) {
                    observer.observe(.itemAppeared(item), at: Self.beginning(of: event))
                    group.addTask { await self.follow(item, metrics) }
                }
                observer.observe(.event(event), at: event.hostTime)
                if case .currentItemChanged(let id) = event.kind { session(to: id, at: event.hostTime) }
            }
            if !Task.isCancelled { followed.withLock { $0.isOver = true } }
            // Pending measurements are still reported, because cancelled sequences end after their buffered elements.
            group.cancelAll()
        }
        session(to: nil, at: clock.now)
        observer.observe(.ended, at: clock.now)
    }

    private func session(to id: PlayerItemID?, at time: HostTime) {
        let left = followed.withLock { followed -> PlayerItem? in
            guard followed.current != id else { return nil }
            followed.current = id
            return followed.pending.take()
        }
        if let left { observer.observe(.itemLeft(left, isOver: true), at: time) }
    }

    private func follow(_ item: PlayerItem, _ metrics: AsyncStream<any MetricEvent>) async {
        for await event in metrics { observer.observe(.metric(event, of: item.id), at: clock.now) }
        let isCut = Task.isCancelled
        let isPending = followed.withLock { followed in
            followed.active.remove(item.id)
            followed.left.append(item.id)
            followed.left.removeFirst(max(0, followed.left.count - Self.memory))
            if followed.isOver || isCut || followed.current != item.id { return false }
            followed.pending = item
            return true
        }
        if isPending { return }
        let isOver = followed.withLock(\.isOver) || !isCut
        observer.observe(.itemLeft(item, isOver: isOver), at: clock.now)
    }

    private func takeSamples() async {
        while true {
            do { try await clock.sleep(for: interval) } catch { return }
            guard let state = player()?.state else { return }
            observer.observe(.sample(state), at: clock.now)
        }
    }

    private func newItem(in event: PlayerEvent) -> (PlayerItem, AsyncStream<any MetricEvent>)? {
        guard let item = event.item else { return nil }
        let isTurn = if case .currentItemChanged = event.kind { true } else { false }
        let isNew = followed.withLock { followed in
            guard isTurn || !followed.left.contains(item.id) else { return false }
            return followed.active.insert(item.id).inserted
        }
        guard isNew else { return nil }
        let metrics = item.allMetrics()
        // If the player has left the item in the meantime, there are no more measurements to end the sequence.
        if let player = player(), player.currentItem !== item,
            (player as? QueuePlayer)?.items().contains(where: { $0 === item }) != true
        {
            followed.withLock { _ = $0.active.remove(item.id) }
            return nil
        }
        return (item, metrics)
    }

    /// Returns the start of the activity that an event ends.
    private static func beginning(of event: PlayerEvent) -> HostTime {
        if case .playlistLoaded(let load) = event.kind { return event.hostTime - load.duration }
        return event.hostTime
    }
}
