import HLSKitEngine
public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// Plays an item, or a range of it, again and again without a pause between the rounds.
///
/// Three copies of the item take turns in the player's queue: while one plays, the next is loaded and decoded. What the
/// first round has loaded stays in memory (up to 64 MiB), so that the rounds after it ask the network for nothing.
/// Letting go of the looper ends it as ``disableLooping()`` does.
///
/// See docs/behaviour/queue.md.
public final class PlayerLooper: Sendable {
    /// How far a looper is.
    public enum Status: Sendable, Hashable {
        /// No copy has been loaded yet.
        case unknown
        case ready
        /// A copy failed, or the range is not inside the item.
        case failed(HLSError)
        /// ``PlayerLooper/disableLooping()`` was called.
        case cancelled
    }

    /// The place of the rounds among items that are already in the queue.
    public enum Ordering: Sendable, Hashable {
        case precedesExistingItems, followsExistingItems
    }

    /// Copies in the queue at a time.
    private static let copyCount = 3

    private struct State {
        var status = Status.unknown
        var items: [PlayerItem] = []
        /// Copies that have not come to their end.
        var unfinished: Set<PlayerItem.ID> = []
        var loopCount = 0
        var task: Task<Void, Never>?

        var isOver: Bool {
            switch status {
            case .unknown, .ready: false
            case .failed, .cancelled: true
            }
        }
    }

    private let player: QueuePlayer
    /// The template as it was; never played itself.
    private let pattern: PlayerItem
    private let range: MediaTimeRange?
    private let formerAction: ActionAtItemEnd
    private let state = Mutex(State())
    /// An element after each moment at which something that the looper shows may differ.
    private let changes = Broadcast<Void>(.bufferingNewest(1))

    /// Sets the player's ``Player/actionAtItemEnd`` to `advance`, puts copies of `template` into its queue and, where the
    /// player has a rate, plays.
    ///
    /// - Parameters:
    ///   - player: plays the copies.
    ///   - template: is copied as it is now; later changes are not seen.
    ///   - range: what is played of it; nil (the default) plays all.
    ///   - ordering: whether items that are in the queue wait until looping ends (the default) or play before.
    /// - Throws: ``HLSError/Code/invalidArgument`` if the range is empty, endless or before 0. A range that turns
    ///   out to be outside the item makes the ``status`` `failed`.
    public init(
        player: QueuePlayer, template: PlayerItem, range: MediaTimeRange? = nil,
        ordering: Ordering = .precedesExistingItems
    ) throws(HLSError) {
        if let range {
            guard let start = range.start.duration, let duration = range.duration.duration, start >= .zero,
                duration > .zero
            else {
                throw HLSError(
                    code: .invalidArgument, urlString: template.urlString,
                    cause: "a range to loop has a start and a duration above 0")
            }
        }
        self.player = player
        self.range = range
        pattern = template.copy()
        formerAction = player.actionAtItemEnd
        // Rounds are counted by them: none may be lost.
        let events = player.events(bufferingNewest: .max)
        let rate = player.rate
        player.pause()
        player.actionAtItemEnd = .advance
        let existing = ordering == .precedesExistingItems ? player.items() : []
        if !existing.isEmpty { player.removeAllItems() }
        for _ in 0..<Self.copyCount { append() }
        // A failed item cannot come back.
        for item in existing { try? player.insert(item) }
        let task = Task(executorPreference: player.core.clock.executor) { [weak self, changes] in
            for await event in events {
                guard let isOver = self?.take(event) else { break }
                changes.send(())
                if isOver { break }
            }
            changes.close()
        }
        state.withLock { $0.task = task }
        player.rate = rate
    }

    deinit {
        let (task, items) = state.withLock { ($0.task, $0.items) }
        task?.cancel()
        let current = player.currentItem
        for item in items where item !== current { player.remove(item) }
    }

    /// How far the looper is. May be read on any thread.
    public var status: Status { state.withLock(\.status) }

    /// Why looping failed; nil while it has not.
    public var error: HLSError? { if case .failed(let error) = status { error } else { nil } }

    /// Rounds that were played to their end.
    public var loopCount: Int { state.withLock(\.loopCount) }

    /// The copies that are in the queue, in the order in which they are played.
    public var loopingPlayerItems: [PlayerItem] { state.withLock(\.items) }

    /// Ends looping: the round that plays is played to its end, then come the items that were in the queue, and the
    /// player does what it did before at an item's end.
    public func disableLooping() {
        state.withLock { state in
            if case .failed = state.status { return }
            state.status = .cancelled
        }
        end()
        changes.send(())
    }

    // MARK: Rounds

    /// Puts a further copy behind those that are in the queue.
    private func append() {
        let copy = pattern.copy()
        if let range {
            copy.startTime = range.start.duration
            copy.forwardPlaybackEndTime = range.end
        }
        let last = state.withLock { $0.items.last }
        do {
            try player.insert(copy, after: last.flatMap { player.items().contains($0) ? $0 : nil })
            let isOver = state.withLock { state in
                if state.isOver { return true }
                state.items.append(copy)
                state.unfinished.insert(copy.id)
                return false
            }
            // Looping was ended meanwhile, on another thread.
            if isOver { player.remove(copy) }
        } catch {
            state.withLock { if !$0.isOver { $0.status = .failed(error) } }
        }
    }

    /// True when there is nothing more to look after.
    private func take(_ event: PlayerEvent) -> Bool {
        let items = state.withLock(\.items)
        let isOfCopy = event.item.map(items.contains) ?? false
        switch event.kind {
        case .itemStatusChanged(.readyToPlay) where isOfCopy: check(event.item)
        case .itemStatusChanged(.failed) where isOfCopy:
            let error = event.item?.error
            fail(error ?? HLSError(code: .internal, urlString: pattern.urlString, cause: "a copy failed"))
        case .didPlayToEnd:
            state.withLock { state in
                guard let item = event.item, state.unfinished.remove(item.id) != nil else { return }
                state.loopCount += 1
            }
        case .currentItemChanged(let id):
            // Copies that have had their turn are out.
            let queue = player.items()
            let isOver = state.withLock { state -> Bool in
                state.items.removeAll { item in !queue.contains { $0 === item } }
                return state.isOver && !state.items.contains { $0.id == id }
            }
            if isOver {
                restoreAction()
                return true
            }
            refill()
        default: break
        }
        return false
    }

    private func refill() {
        while state.withLock({ !$0.isOver && $0.items.count < Self.copyCount }) {
            let count = state.withLock(\.items.count)
            append()
            if state.withLock(\.items.count) == count { return }
        }
    }

    private func check(_ item: PlayerItem?) {
        if item?.duration == .indefinite {
            return fail(
                HLSError(
                    code: .invalidArgument, urlString: pattern.urlString, cause: "a live stream has no end to loop at"))
        }
        if let range, let end = item?.duration.duration, let wanted = range.end.duration, wanted > end {
            return fail(
                HLSError(
                    code: .invalidArgument, urlString: pattern.urlString,
                    cause: "the range to loop is not inside the item",
                    detail: "\(range.end.seconds) s of \(end / .seconds(1)) s"))
        }
        state.withLock { if case .unknown = $0.status { $0.status = .ready } }
    }

    private func fail(_ error: HLSError) {
        state.withLock { state in
            if case .cancelled = state.status { return }
            state.status = .failed(error)
        }
        end()
    }

    private func end() {
        let current = player.currentItem
        let items = state.withLock(\.items)
        for item in items where item !== current { player.remove(item) }
        state.withLock { state in state.items.removeAll { $0 !== current } }
        if !items.contains(where: { $0 === current }) { restoreAction() }
    }

    private func restoreAction() { player.actionAtItemEnd = formerAction }
}

extension PlayerLooper {
    /// The values of a property: the one it has now, and then each that differs from the one before.
    ///
    /// ```swift
    /// for await count in looper.values(of: \.loopCount) { print(count) }
    /// ```
    ///
    /// For `\.status`, `\.loopCount` and `\.loopingPlayerItems`. A slow reader gets the newest value only. Ends with the
    /// looper, when looping is over, and when its player is closed.
    public func values<Value>(
        of property: any KeyPath<PlayerLooper, Value> & Sendable
    ) -> PropertyValues<Value> {
        PropertyValues(changes: { [changes] in changes.subscribe() }) { [weak self] in
            guard let self else { return nil }
            return .some(self[keyPath: property])
        }
    }
}
