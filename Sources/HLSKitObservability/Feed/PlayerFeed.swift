import HLSKitCore
import HLSTime
import Synchronization

/// Reads the events of a player, the measurements of its items, and now and then its state, and hands them to an observer.
///
/// Keeps the player no longer than others do: ends with it.
final class PlayerFeed: Sendable {
    /// Items that were left and may still be the subject of late events.
    private static let memory = 64

    private struct Followed {
        var active: Set<PlayerItemID> = []
        /// The oldest first.
        var left: [PlayerItemID] = []
        /// The current item, as far as events were read.
        var current: PlayerItemID?
        /// It was the current one when all of its measurements were told: the events up to its end are still to be read.
        var pending: PlayerItem?
        /// Items of assets that were left, and when: events of before are still to be read.
        var pendingAssets: [(item: PlayerItem, time: HostTime)] = []
        /// The player has no events any more.
        var isOver = false

        /// An item was left.
        mutating func note(_ id: PlayerItemID) {
            left.append(id)
            left.removeFirst(max(0, left.count - PlayerFeed.memory))
        }
    }

    private let player: @Sendable () -> Player?
    private let clock: SourceClock
    private let interval: Duration
    private let observer: any PlayerObserver
    private let events: AsyncStream<PlayerEvent>
    /// Items of assets, as they come; nil where they are not followed.
    private let assets: AsyncStream<PlayerItem>?
    /// The item that was current when looking began, and the one that was played in its place.
    private let first: [(item: PlayerItem, metrics: AsyncStream<any MetricEvent>)]
    private let followed = Mutex(Followed())

    /// Begins to look: nothing that happens from now on is missed, though it be read later.
    ///
    /// - Parameter followsAssets: the items of interstitials are looked at as well, and their events are between those of the
    ///   player.
    init(_ player: Player, interval: Duration, followsAssets: Bool, observer: any PlayerObserver) {
        self.player = { [weak player] in player }
        self.interval = interval
        self.observer = observer
        clock = player.sourceClock
        events = followsAssets ? player.eventsWithInterstitials() : player.events()
        assets = followsAssets ? player.interstitialItems() : nil
        let asset = followsAssets ? InterstitialEventMonitor(primaryPlayer: player).interstitialItem : nil
        first = [player.currentItem, asset].compactMap(\.self).map { ($0, $0.allMetrics()) }
        observer.observe(.began(player.state), at: clock.now)
        for (item, _) in first {
            followed.withLock { followed in
                followed.active.insert(item.id)
                if !item.isInterstitial { followed.current = item.id }
            }
            observer.observe(.itemAppeared(item), at: clock.now)
        }
    }

    /// Returns when the player is closed or let go, or the task is cancelled.
    nonisolated(nonsending) func run() async {
        await withDiscardingTaskGroup { group in
            for (item, metrics) in first { group.addTask { await self.follow(item, metrics) } }
            group.addTask { await self.takeSamples() }
            if let assets { group.addTask { await self.follow(assets) } }
            for await event in events {
                leaveAssets(before: event.hostTime)
                if let item = event.item, let metrics = take(item, from: event) {
                    group.addTask { await self.follow(item, metrics) }
                }
                observer.observe(.event(event), at: event.hostTime)
                if case .currentItemChanged(let id) = event.kind { turn(to: id, at: event.hostTime) }
            }
            if !Task.isCancelled { followed.withLock { $0.isOver = true } }
            // What was measured is still told: sequences that are cancelled end behind what they hold.
            group.cancelAll()
        }
        leaveAssets(before: nil)
        turn(to: nil, at: clock.now)
        observer.observe(.ended, at: clock.now)
    }

    /// Follows the items of assets from before they load anything.
    private func follow(_ assets: AsyncStream<PlayerItem>) async {
        await withDiscardingTaskGroup { group in
            for await item in assets {
                guard let metrics = take(item, from: nil) else { continue }
                group.addTask { await self.follow(item, metrics) }
            }
        }
    }

    /// All events of assets that were left before a moment have been read.
    ///
    /// - Parameter time: nil where there are no more.
    private func leaveAssets(before time: HostTime?) {
        let left = followed.withLock { followed in
            let left = followed.pendingAssets.prefix { asset in time.map { asset.time < $0 } ?? true }
            followed.pendingAssets.removeFirst(left.count)
            return left
        }
        for (item, time) in left { observer.observe(.itemLeft(item, isOver: true), at: time) }
    }

    /// The player has left its current item.
    private func turn(to id: PlayerItemID?, at time: HostTime) {
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
            followed.note(item.id)
            if followed.isOver || isCut { return false }
            if item.isInterstitial {
                followed.pendingAssets.append((item, clock.now))
                return true
            }
            guard followed.current == item.id else { return false }
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

    /// An item that may be a new one.
    ///
    /// - Parameter event: that it was heard of by; nil for the item of an asset that loads nothing yet.
    /// - Returns: its measurements, to be followed; nil where they are, or where there will be none.
    private func take(_ item: PlayerItem, from event: PlayerEvent?) -> AsyncStream<any MetricEvent>? {
        let isTurn = if case .currentItemChanged = event?.kind { true } else { false }
        let isNew = followed.withLock { followed in
            guard isTurn || !followed.left.contains(item.id) else { return false }
            return followed.active.insert(item.id).inserted
        }
        guard isNew else { return nil }
        let metrics = item.allMetrics()
        // Where the player has left it meanwhile nothing more is measured, and nothing would end the sequence.
        let isOver = player().map { !isIn($0, item) } ?? false
        if !isOver || item.isInterstitial {
            observer.observe(.itemAppeared(item), at: event.map(Self.beginning) ?? clock.now)
        }
        guard isOver else { return metrics }
        followed.withLock { followed in
            followed.active.remove(item.id)
            guard item.isInterstitial else { return }
            followed.note(item.id)
            followed.pendingAssets.append((item, clock.now))
        }
        return nil
    }

    private func isIn(_ player: Player, _ item: PlayerItem) -> Bool {
        if item.isInterstitial { return item.isInPlayer }
        return player.currentItem === item || (player as? QueuePlayer)?.items().contains { $0 === item } == true
    }

    /// When that began which the event tells the end of.
    private static func beginning(of event: PlayerEvent) -> HostTime {
        if case .playlistLoaded(let load) = event.kind { return event.hostTime - load.duration }
        return event.hostTime
    }
}
