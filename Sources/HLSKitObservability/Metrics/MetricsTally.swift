import HLSKitCore

struct MetricsTally: Sendable {
    private struct Item: Sendable {
        var delta = StatisticsDelta()
        var requests = RequestMemory()
        var outcome = ItemOutcome.left
    }

    private var items: [PlayerItemID: Item] = [:]
    private var current: PlayerItemID?
    private var sample = MetricSample(status: .paused)
    /// The reason of the current wait, and the time from which it is not counted yet.
    private var waiting: (reason: WaitingReason?, since: HostTime)?
    private var stallBegan: HostTime?

    mutating func observe(_ signal: PlayerSignal, at time: HostTime) -> [MetricUpdate] {
        switch signal {
        case .began(let state):
            if state.timeControlStatus == .waitingToPlayAtSpecifiedRate {
                waiting = (state.reasonForWaitingToPlay, time)
            }
            // Earlier activity is not counted, unless the item has only just started to load.
            if let id = state.currentItemID {
                let isNew = state.statistics.receivedByteCount == 0
                items[id] = Item(delta: isNew ? StatisticsDelta() : StatisticsDelta(from: state.statistics))
            }
            return take(state)
        case .itemAppeared(let item):
            items[item.id] = items[item.id] ?? Item()
            return []
        case .event(let event): return take(event)
        case .metric(let event, let id): return take(event, of: id)
        case .sample(let state): return take(state) + countWaiting(until: time)
        case .itemLeft(let item, let isOver): return leave(item, isOver: isOver)
        case .ended:
            let counted = countWaiting(until: time) + endStall(at: time)
            waiting = nil
            return counted + [.sample(nil)]
        }
    }

    // MARK: State

    private mutating func take(_ state: PlayerState) -> [MetricUpdate] {
        sample = MetricSample(state)
        current = state.currentItemID
        let counted = state.currentItemID.flatMap { items[$0]?.delta.advance(to: state.statistics) } ?? []
        return counted + [.sample(sample)]
    }

    private mutating func leave(_ item: PlayerItem, isOver: Bool) -> [MetricUpdate] {
        guard var left = items.removeValue(forKey: item.id) else { return [] }
        var updates = left.delta.advance(to: item.latestState.statistics)
        if isOver { updates.append(.count(.items, labels: [left.outcome.rawValue], by: 1)) }
        guard item.id == current else { return updates }
        // There is no sample until the next item is checked.
        current = nil
        sample = MetricSample(status: sample.status)
        return updates + [.sample(sample)]
    }

    // MARK: Events

    private mutating func take(_ event: PlayerEvent) -> [MetricUpdate] {
        switch event.kind {
        case .timeControl(let change):
            var updates = countWaiting(until: event.hostTime)
            waiting = change.new == .waitingToPlayAtSpecifiedRate ? (change.reason, event.hostTime) : nil
            if change.new != .waitingToPlayAtSpecifiedRate { updates += endStall(at: event.hostTime) }
            guard change.new != sample.status else { return updates }
            sample.status = change.new
            return updates + [.sample(sample)]
        case .playbackStalled:
            stallBegan = stallBegan ?? event.hostTime
            return []
        case .playlistLoaded(let load): return load.extent == nil ? [] : [.count(.playlists, by: 1)]
        case .recoverableError(let error): return [.count(.errors, labels: [error.metricLabel], by: 1)]
        case .itemStatusChanged(.failed):
            event.item.map { items[$0.id]?.outcome = .failed }
            let label = event.item?.error?.metricLabel ?? "internal"
            return [.count(.errors, labels: [label], by: 1), .count(.failures, by: 1)]
        case .didPlayToEnd:
            event.item.map { items[$0.id]?.outcome = .ended }
            return []
        default: return []
        }
    }

    private mutating func countWaiting(until time: HostTime) -> [MetricUpdate] {
        guard let (reason, since) = waiting, time > since else { return [] }
        waiting = (reason, time)
        return [.add(.waiting, labels: [reason?.rawValue ?? "unknown"], time - since)]
    }

    private mutating func endStall(at time: HostTime) -> [MetricUpdate] {
        guard let began = stallBegan else { return [] }
        stallBegan = nil
        return [.time(.stall, max(.zero, time - began))]
    }

    // MARK: Measurements

    private mutating func take(_ event: any MetricEvent, of id: PlayerItemID) -> [MetricUpdate] {
        var updates: [MetricUpdate] = []
        switch event {
        case is MetricPlayerItemSeekEvent: updates.append(.count(.seeks, by: 1))
        case let event as MetricPlayerItemInitialLikelyToKeepUpEvent:
            updates.append(.time(.likelyToKeepUp, event.timeTaken))
        default: break
        }
        for request in items[id]?.requests.take(event) ?? [] {
            guard let (request, resource) = RequestClass.of(request) else { continue }
            let outcome = RequestOutcome(request)
            updates.append(.count(.finishedRequests, labels: [resource.rawValue, outcome.rawValue], by: 1))
            guard outcome == .success else { continue }
            updates.append(
                .time(.request, labels: [resource.rawValue], request.responseEndTime - request.requestStartTime))
            if let start = request.responseStartTime {
                updates.append(.time(.firstByte, labels: [resource.rawValue], start - request.requestStartTime))
            }
        }
        return updates
    }
}
