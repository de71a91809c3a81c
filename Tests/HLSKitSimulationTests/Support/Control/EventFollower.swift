import HLSKitEngine
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import Synchronization

/// Follows all events of a player and detects contradictions.
final class EventFollower: Sendable {
    struct ItemView: Sendable {
        var status = PlayerItemStatus.unknown
        var duration: MediaTime?
    }

    struct View: Sendable {
        var log = EventLog()
        var violations: [String] = []
        var status = TimeControlStatus.paused
        var reason: WaitingReason?
        var rate: Float = 0
        var currentItem: PlayerItem.ID?
        var items: [PlayerItem.ID: ItemView] = [:]
        var hostTime = HostTime.zero
        var eventCount = 0
        var isOver = false
    }

    private let view = Mutex(View())
    private let onLine: @Sendable (String) -> Void

    /// - Parameter onLine: Receives each event as text.
    init(onLine: @escaping @Sendable (String) -> Void) {
        self.onLine = onLine
    }

    var now: View { view.withLock(\.self) }

    func follow(_ events: AsyncStream<PlayerEvent>) async {
        for await event in events {
            let line = view.withLock { view in
                view.take(event)
                return view.log.lines.last ?? ""
            }
            onLine(line)
        }
        view.withLock { $0.isOver = true }
    }
}

extension EventFollower.View {
    fileprivate mutating func take(_ event: PlayerEvent) {
        log = EventLog()
        log.append(event)
        eventCount += 1
        func require(_ isTrue: Bool, _ text: @autoclosure () -> String) {
            if !isTrue { violations.append("event: \(text()): \(log.lines.last ?? "")") }
        }
        require(event.hostTime >= hostTime, "before the one before, at \(hostTime)")
        hostTime = max(hostTime, event.hostTime)
        switch event.kind {
        case .timeControl(let change):
            require(change.old == status, "it was \(status)")
            require(change.new != status || change.reason != reason, "nothing changed")
            require((change.reason != nil) == (change.new == .waitingToPlayAtSpecifiedRate), "a reason is for waiting")
            require((change.rate == 0) == (change.new == .paused), "paused is rate 0")
            require(change.timebaseRate == 0 || change.new == .playing, "time runs while playing")
            require(change.rate == rate, "the rate was \(rate)")
            status = change.new
            reason = change.reason
        case .rateChanged(let new, let cause):
            require(new != rate || cause == .setRateFailed, "nothing changed")
            rate = new
        case .currentItemChanged(let id):
            currentItem = id
        case .itemStatusChanged(let new):
            guard let id = event.item?.id else { return require(false, "of no item") }
            let old = items[id, default: .init()].status
            require(old != .failed, "failed is for ever")
            require(new != .unknown, "nothing becomes unknown")
            items[id, default: .init()].status = new
        case .durationChanged(let duration):
            guard let id = event.item?.id else { return require(false, "of no item") }
            items[id, default: .init()].duration = duration
        case .didPlayToEnd, .playbackStalled: require(status == .playing, "it was \(status)")
        default: break
        }
    }
}
