import HLSKitEngine
import HLSKitLoading
import Synchronization

/// The queue, as callers see it. Each call is complete when it returns.
extension PlayerCore {
    var currentItem: PlayerItem? { state.withLock { $0.current.isRetired ? nil : $0.current.item } }

    var items: [PlayerItem] {
        state.withLock { state in
            let current = state.current.isRetired ? nil : state.current.item
            return [current].compactMap(\.self) + state.upcoming.map(\.item)
        }
    }

    /// Makes `item` current instead of the current item. Later items remain in the queue.
    func replaceCurrentItem(with item: PlayerItem?) throws(HLSError) {
        try change { state, afterwards, now throws(HLSError) in
            guard let item else {
                if state.current.item != nil { self.handOver(to: nil, at: now, &state, &afterwards) }
                return
            }
            if item === state.current.item, !state.current.isRetired { return }
            if let index = state.upcoming.firstIndex(where: { $0.item === item }) {
                let upcoming = state.upcoming.remove(at: index)
                return self.handOver(to: upcoming, at: now, &state, &afterwards)
            }
            try self.attach(item, state)
            self.handOver(to: UpcomingItem(item: item), at: now, &state, &afterwards)
        }
    }

    /// Inserts an item into the queue. The first one becomes current at once.
    ///
    /// - Parameter other: The item to insert after, or `nil` to append.
    func insert(_ item: PlayerItem, after other: PlayerItem?) throws(HLSError) {
        try change { state, afterwards, now throws(HLSError) in
            let index = try state.index(after: other)
            try self.attach(item, state)
            if state.current.item == nil {
                self.handOver(to: UpcomingItem(item: item), at: now, &state, &afterwards)
            } else {
                state.upcoming.insert(UpcomingItem(item: item), at: index)
            }
            self.prepareUpcoming(at: now, &state, &afterwards)
        }
    }

    func canInsert(_ item: PlayerItem, after other: PlayerItem?) -> Bool {
        state.withLock { state in
            guard (try? state.index(after: other)) != nil else { return false }
            return !state.isClosed && item.canAttach(to: self)
        }
    }

    /// Removes an item from the queue. If it is current, the next one continues.
    func remove(_ item: PlayerItem) {
        change { state, afterwards, now in
            if state.current.item === item, !state.current.isRetired {
                self.advance(at: now, isAtEnd: false, &state, &afterwards)
            } else if let index = state.upcoming.firstIndex(where: { $0.item === item }) {
                state.drop(state.upcoming.remove(at: index), at: now, &afterwards)
            }
            self.prepareUpcoming(at: now, &state, &afterwards)
        }
    }

    func removeAll() {
        change { state, afterwards, now in
            for upcoming in state.upcoming { state.drop(upcoming, at: now, &afterwards) }
            state.upcoming = []
            self.handle(.control(.pause), of: state.current.id, at: now, &state, &afterwards)
            if state.current.item != nil { self.handOver(to: nil, at: now, &state, &afterwards) }
        }
    }

    func advanceToNextItem() {
        change { state, afterwards, now in
            guard state.current.item != nil else { return }
            self.advance(at: now, isAtEnd: false, &state, &afterwards)
            self.prepareUpcoming(at: now, &state, &afterwards)
        }
    }

    private func attach(_ item: PlayerItem, _ state: borrowing State) throws(HLSError) {
        guard !state.isClosed else {
            throw HLSError(code: .invalidArgument, urlString: item.urlString, cause: "the player is closed")
        }
        guard item.attach(to: self) else {
            throw HLSError(code: .itemInUse, urlString: item.urlString, cause: "the item belongs to a player already")
        }
    }
}

extension PlayerCore.State {
    fileprivate func index(after other: PlayerItem?) throws(HLSError) -> Int {
        guard let other else { return upcoming.count }
        if current.item === other, !current.isRetired { return 0 }
        if let index = upcoming.firstIndex(where: { $0.item === other }) { return index + 1 }
        throw HLSError(
            code: .invalidArgument, urlString: other.urlString, cause: "the item to insert after is not in the queue")
    }
}
