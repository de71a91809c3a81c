import HLSTime
import Synchronization

/// The observers of a player's item time. Their times are worked out from the timebase; the driver of the current
/// item looks in at ``due``.
final class TimeObservers: Sendable {
    fileprivate enum Observer {
        case periodic(PeriodicSchedule, AsyncStream<MediaTime>.Continuation)
        case boundary(BoundarySchedule, AsyncStream<MediaTime>.Continuation)
    }

    private struct State {
        var observers: [(id: Int, observer: Observer)] = []
        var lastID = 0
        var time = ObservedTime()
        /// A jump that is reported when the seek behind it is over.
        var hasJumped = false
        var isClosed = false
    }

    /// The time as the engine of the current item reports it.
    struct Report {
        var time: ObservedTime
        /// Another item is current.
        var isNewItem = false
        /// The playhead is on its way somewhere.
        var isSeeking = false
    }

    private let state = Mutex(State())

    /// Someone is waiting.
    var isActive: Bool { state.withLock { !$0.observers.isEmpty } }

    // MARK: Subscribing

    /// - Precondition: `interval` is positive.
    func periodic(_ interval: Duration, at now: Duration) -> AsyncStream<MediaTime> {
        add(.bufferingNewest(1)) { .periodic(PeriodicSchedule(interval: interval, time: $0, at: now), $1) }
    }

    func boundaries(_ times: [Duration], at now: Duration) -> AsyncStream<MediaTime> {
        add(.unbounded) { .boundary(BoundarySchedule(times, time: $0, at: now), $1) }
    }

    private func add(
        _ buffering: AsyncStream<MediaTime>.Continuation.BufferingPolicy,
        _ make: (ObservedTime, AsyncStream<MediaTime>.Continuation) -> Observer
    ) -> AsyncStream<MediaTime> {
        let (stream, continuation) = AsyncStream.makeStream(of: MediaTime.self, bufferingPolicy: buffering)
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            state.observers.append((state.lastID, make(state.time, continuation)))
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in state.observers.removeAll { $0.id == id } }
        }
        return stream
    }

    func close() {
        let continuations = state.withLock { state in
            state.isClosed = true
            defer { state.observers = [] }
            return state.observers.map(\.observer.continuation)
        }
        for continuation in continuations { continuation.finish() }
    }

    // MARK: Time

    /// The engine handled something.
    func note(_ report: Report, at now: Duration) {
        state.withLock { state in
            let old = state.time
            var isJump = report.isNewItem
            if report.time.timebase != old.timebase {
                let expected = old.itemTime(at: max(now, report.time.timebase.hostTime))
                let isOff = abs(report.time.itemTime(at: now) - expected) > Self.jumpTolerance
                isJump = isJump || (isOff && (!report.time.isDrivenByOutputs || report.isSeeking))
            }
            state.hasJumped = state.hasJumped || isJump
            let tells = state.hasJumped && !report.isSeeking
            if tells { state.hasJumped = false }
            guard tells || report.time != old else { return }
            state.time = report.time
            for index in state.observers.indices {
                state.observers[index].observer.change(to: report.time, isJump: isJump, tells: tells, at: now)
            }
        }
    }

    /// The deviation of a timebase that is set again where it was.
    private static let jumpTolerance = Duration.milliseconds(1)

    /// The host time at which to call ``tell(at:isLast:)``.
    var due: Duration? { state.withLock { $0.observers.compactMap(\.observer.due).min() } }

    /// Calls the observers that are due.
    ///
    /// - Parameter isLast: no one will look in again until something changes.
    func tell(at now: Duration, isLast: Bool) {
        let told = state.withLock { state -> [(AsyncStream<MediaTime>.Continuation, Duration)] in
            var told: [(AsyncStream<MediaTime>.Continuation, Duration)] = []
            for index in state.observers.indices {
                for time in state.observers[index].observer.take(at: now, isLast: isLast) {
                    told.append((state.observers[index].observer.continuation, time))
                }
            }
            return told
        }
        for (continuation, time) in told { continuation.yield(MediaTime(time)) }
    }
}

extension TimeObservers.Observer {
    fileprivate var continuation: AsyncStream<MediaTime>.Continuation {
        switch self {
        case .periodic(_, let continuation), .boundary(_, let continuation): continuation
        }
    }

    fileprivate var due: Duration? {
        switch self {
        case .periodic(let schedule, _): schedule.due
        case .boundary(let schedule, _): schedule.due
        }
    }

    fileprivate mutating func change(to time: ObservedTime, isJump: Bool, tells: Bool, at now: Duration) {
        switch self {
        case .periodic(var schedule, let continuation):
            schedule.change(to: time, isJump: isJump, tells: tells, at: now)
            self = .periodic(schedule, continuation)
        case .boundary(var schedule, let continuation):
            schedule.change(to: time, isJump: isJump, at: now)
            self = .boundary(schedule, continuation)
        }
    }

    fileprivate mutating func take(at now: Duration, isLast: Bool) -> [Duration] {
        switch self {
        case .periodic(var schedule, let continuation):
            let time = schedule.take(at: now, isLast: isLast)
            self = .periodic(schedule, continuation)
            return [time].compactMap(\.self)
        case .boundary(var schedule, let continuation):
            let times = schedule.take(at: now)
            self = .boundary(schedule, continuation)
            return times
        }
    }
}
