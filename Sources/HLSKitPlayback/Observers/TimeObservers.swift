import HLSKitEngine
import HLSKitLoading
import HLSKitTime
import Synchronization

/// The observers of a player's item time. The timebase determines their times, and the current item's driver calls them
/// when ``due``.
final class TimeObservers: Sendable {
    fileprivate enum Observer {
        case periodic(PeriodicSchedule, AsyncStream<MediaTime>.Continuation)
        case boundary(BoundarySchedule, AsyncStream<MediaTime>.Continuation)
    }

    private struct State {
        var observers: [(id: Int, subject: String?, observer: Observer)] = []
        var lastID = 0
        var time = ObservedTime()
        /// The subject of the time, or `nil` if there is only one.
        var subject: String?
        var hasJumped = false
        var isClosed = false
    }

    struct Report {
        var time: ObservedTime
        var isNewItem = false
        var isSeeking = false
        /// The subject of the time. For observers of other subjects, time does not pass.
        var subject: String?
    }

    private let state = Mutex(State())

    var isActive: Bool { state.withLock { !$0.observers.isEmpty } }

    // MARK: Subscribing

    /// - Precondition: `interval` is positive.
    func periodic(_ interval: Duration, at now: Duration) -> AsyncStream<MediaTime> {
        let (stream, continuation) = AsyncStream.makeStream(of: MediaTime.self, bufferingPolicy: .bufferingNewest(1))
        let id = addPeriodic(interval, to: continuation, at: now)
        if let id { continuation.onTermination = { [weak self] _ in self?.remove(id) } }
        return stream
    }

    /// Adds a periodic observer to a stream that has other sources, too.
    ///
    /// The caller removes the observer with the returned number. Returns `nil` and ends the stream if no time will
    /// follow.
    func addPeriodic(
        _ interval: Duration, to continuation: AsyncStream<MediaTime>.Continuation, at now: Duration
    ) -> Int? {
        add(continuation) { .periodic(PeriodicSchedule(interval: interval, time: $0, at: now), continuation) }
    }

    func boundaries(_ times: [Duration], of subject: String? = nil, at now: Duration) -> AsyncStream<MediaTime> {
        let (stream, continuation) = AsyncStream.makeStream(of: MediaTime.self, bufferingPolicy: .unbounded)
        let id = add(continuation, of: subject) { .boundary(BoundarySchedule(times, time: $0, at: now), continuation) }
        if let id { continuation.onTermination = { [weak self] _ in self?.remove(id) } }
        return stream
    }

    private func add(
        _ continuation: AsyncStream<MediaTime>.Continuation, of subject: String? = nil,
        _ make: (ObservedTime) -> Observer
    ) -> Int? {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            let time = subject == nil || subject == state.subject ? state.time : ObservedTime()
            state.observers.append((state.lastID, subject, make(time)))
            return state.lastID
        }
        if id == nil { continuation.finish() }
        return id
    }

    func remove(_ id: Int) {
        state.withLock { state in state.observers.removeAll { $0.id == id } }
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

    func note(_ report: Report, at now: Duration) {
        state.withLock { state in
            let old = state.time
            let isNewSubject = report.subject != state.subject
            var isJump = report.isNewItem || isNewSubject
            if report.time.timebase != old.timebase {
                let expected = old.itemTime(at: max(now, report.time.timebase.hostTime))
                let isOff = abs(report.time.itemTime(at: now) - expected) > Self.jumpTolerance
                isJump = isJump || (isOff && (!report.time.isDrivenByOutputs || report.isSeeking))
            }
            state.hasJumped = state.hasJumped || isJump
            let reports = state.hasJumped && !report.isSeeking
            if reports { state.hasJumped = false }
            guard reports || isNewSubject || report.time != old else { return }
            let former = state.subject
            state.time = report.time
            state.subject = report.subject
            for index in state.observers.indices {
                if let subject = state.observers[index].subject, isNewSubject {
                    if subject == former { state.observers[index].observer.stand(at: old.itemTime(at: now), now) }
                    if subject == report.subject { state.observers[index].observer.enter(report.time, at: now) }
                } else if state.observers[index].subject.map({ $0 == report.subject }) ?? true {
                    state.observers[index].observer.change(to: report.time, isJump: isJump, reports: reports, at: now)
                }
            }
        }
    }

    /// The largest change of a timebase that is not a jump.
    private static let jumpTolerance = Duration.milliseconds(1)

    var due: Duration? { state.withLock { $0.observers.compactMap(\.observer.due).min() } }

    /// Calls the observers that are due.
    ///
    /// - Parameter isLast: Whether there will be no further call until something changes.
    func report(at now: Duration, isLast: Bool) {
        let reported = state.withLock { state -> [(AsyncStream<MediaTime>.Continuation, Duration)] in
            var reported: [(AsyncStream<MediaTime>.Continuation, Duration)] = []
            for index in state.observers.indices {
                for time in state.observers[index].observer.take(at: now, isLast: isLast) {
                    reported.append((state.observers[index].observer.continuation, time))
                }
            }
            return reported
        }
        for (continuation, time) in reported { continuation.yield(MediaTime(time)) }
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

    fileprivate mutating func change(to time: ObservedTime, isJump: Bool, reports: Bool, at now: Duration) {
        switch self {
        case .periodic(var schedule, let continuation):
            schedule.change(to: time, isJump: isJump, reports: reports, at: now)
            self = .periodic(schedule, continuation)
        case .boundary(var schedule, let continuation):
            schedule.change(to: time, isJump: isJump, at: now)
            self = .boundary(schedule, continuation)
        }
    }

    fileprivate mutating func enter(_ time: ObservedTime, at now: Duration) {
        guard case .boundary(var schedule, let continuation) = self else { return }
        schedule.enter(time, at: now)
        self = .boundary(schedule, continuation)
    }

    fileprivate mutating func stand(at time: Duration, _ now: Duration) {
        guard case .boundary(var schedule, let continuation) = self else { return }
        schedule.change(
            to: ObservedTime(timebase: TimebaseState(itemTime: time, hostTime: now, rate: 0)), isJump: false, at: now)
        self = .boundary(schedule, continuation)
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
