import HLSKitEngine
public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// Plays an item, or a range of it, repeatedly without a pause between rounds.
///
/// Three copies of the item alternate in the player's queue: while one plays, the next is loaded and decoded. The
/// resources of the first round stay in memory (up to 64 MiB), so later rounds make no requests. If you release the
/// looper, looping ends as with ``disableLooping()``.
public final class PlayerLooper: Sendable {
    /// The states of a looper.
    public enum Status: Sendable, Hashable {
        /// No copy has been loaded yet.
        case unknown
        case ready
        /// A copy failed, or the range is not inside the item.
        case failed(HLSError)
        /// ``PlayerLooper/disableLooping()`` was called.
        case cancelled
    }

    /// Positions of the rounds relative to items that are already in the queue.
    public enum Ordering: Sendable, Hashable {
        case precedesExistingItems, followsExistingItems
    }

    private static let copyCount = 3

    private struct State {
        var status = Status.unknown
        var items: [PlayerItem] = []
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
    /// A copy of the template at initialization, which is never played itself.
    private let pattern: PlayerItem
    private let range: MediaTimeRange?
    private let formerAction: ActionAtItemEnd
    private let state = Mutex(State())
    private let changes = Broadcast<Void>(.bufferingNewest(1))

    /// Creates a looper and starts playback if the player's rate is not 0.
    ///
    /// The initializer sets the player's ``Player/actionAtItemEnd`` to `advance` and puts copies of `template` into its
    /// queue.
    ///
    /// - Parameters:
    ///   - player: The player for the copies.
    ///   - template: The item to copy. Later changes to it have no effect.
    ///   - range: The range of the item to loop, or `nil` (the default) for all of it.
    ///   - ordering: Whether items that are already in the queue play after looping ends (the default) or before it
    ///     starts.
    /// - Throws: ``HLSError/Code/invalidArgument`` if the range is empty, endless or starts before 0. If the range
    ///   turns out to exceed the item, ``status`` becomes `failed`.
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
        // The events count the rounds, so none may be lost.
        let events = player.events(bufferingNewest: .max)
        let rate = player.rate
        player.pause()
        player.actionAtItemEnd = .advance
        let existing = ordering == .precedesExistingItems ? player.items() : []
        if !existing.isEmpty { player.removeAllItems() }
        for _ in 0..<Self.copyCount { append() }
        // Ignore the error of a failed item: it cannot return to the queue.
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

    /// The status of the looper.
    ///
    /// You can read it on any thread.
    public var status: Status { state.withLock(\.status) }

    /// The reason why looping failed, or `nil` if it has not failed.
    public var error: HLSError? { if case .failed(let error) = status { error } else { nil } }

    /// The number of rounds that have played to their end.
    public var loopCount: Int { state.withLock(\.loopCount) }

    /// The copies in the queue, in playback order.
    public var loopingPlayerItems: [PlayerItem] { state.withLock(\.items) }

    /// Ends looping after the current round.
    ///
    /// The player then plays the items that were already in the queue. Its ``Player/actionAtItemEnd`` is restored to its
    /// earlier value.
    public func disableLooping() {
        state.withLock { state in
            if case .failed = state.status { return }
            state.status = .cancelled
        }
        end()
        changes.send(())
    }

    // MARK: Rounds

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
            // Another thread has ended looping in the meantime.
            if isOver { player.remove(copy) }
        } catch {
            state.withLock { if !$0.isOver { $0.status = .failed(error) } }
        }
    }

    /// Returns `true` if the looper needs no more events.
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
            // Copies that have played have left the queue.
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
    /// Returns a sequence of a property's values: its current value, then each changed value.
    ///
    /// ```swift
    /// for await count in looper.values(of: \.loopCount) { print(count) }
    /// ```
    ///
    /// Use it for `\.status`, `\.loopCount` and `\.loopingPlayerItems`. A slow reader gets only the newest value. The
    /// sequence ends with the looper, when looping ends, and when the looper's player is closed.
    public func values<Value>(
        of property: any KeyPath<PlayerLooper, Value> & Sendable
    ) -> PropertyValues<Value> {
        PropertyValues(changes: { [changes] in changes.subscribe() }) { [weak self] in
            guard let self else { return nil }
            return .some(self[keyPath: property])
        }
    }
}
