import HLSKitLoading

/// Sleeps until the next timed work in a task that wakes the driver.
struct DriverSleeper {
    private let clock: HostClock
    private let inbox: DriverInbox
    private var task: Task<Void, Never>?
    private var time: Duration?

    init(clock: HostClock, inbox: DriverInbox) {
        self.clock = clock
        self.inbox = inbox
    }

    /// Wakes the driver at this time instead of the previous one. `nil` cancels the wake-up.
    mutating func arm(at next: Duration?) {
        guard let next else { return cancel() }
        if let time, time <= next, time > clock.now { return }
        task?.cancel()
        time = next
        let (clock, inbox) = (clock, inbox)
        task = Task(executorPreference: clock.executor) {
            do { try await clock.sleep(until: next) } catch { return }
            inbox.wake()
        }
    }

    mutating func cancel() {
        task?.cancel()
        task = nil
        time = nil
    }
}
