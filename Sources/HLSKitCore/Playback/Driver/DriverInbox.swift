import Synchronization

/// What happens outside and waits for the driver.
enum DriverInput: Sendable {
    case transport(RequestID, TransportEvent)
    case freshURL(Result<String, LoadingError>)
    case renderer(LaneID, RendererID, TrackRenderer.Report)
    case lanes(LaneReport)
    case playlist(ReadPlaylist)
    /// An output of the item came, went or changed its wishes.
    case outputsChanged
}

/// Where threads of transports and renderers leave what they have for the driver, which is woken by it.
final class DriverInbox: Sendable {
    private struct State {
        var inputs: [DriverInput] = []
        /// Something besides inputs wants the driver's attention: effects, a timer, a thread that waits for its time.
        var isAlarmed = false
        /// The engine has changed, and not by the driver.
        var hasNews = false
        var isClosed = false
        var sleeper: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func post(_ input: DriverInput) {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isClosed else { return nil }
            state.inputs.append(input)
            return Self.takeSleeper(&state)
        }
        sleeper?.resume()
    }

    /// The engine has decided something: makes the driver look at its effects.
    func alarm() {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isAlarmed = true
            state.hasNews = true
            return Self.takeSleeper(&state)
        }
        sleeper?.resume()
    }

    /// Makes the driver look at its timers.
    func wake() {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isAlarmed = true
            return Self.takeSleeper(&state)
        }
        sleeper?.resume()
    }

    /// The engine was told something of which nothing follows: the driver sees it when it looks next.
    func noteNews() { state.withLock { $0.hasNews = true } }

    /// Whether the engine has changed since the last call, and not by the driver.
    func takeNews() -> Bool {
        state.withLock { state in
            defer { state.hasNews = false }
            return state.hasNews
        }
    }

    func close() {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isClosed = true
            state.inputs = []
            return Self.takeSleeper(&state)
        }
        sleeper?.resume()
    }

    /// Waits until there is something; nil when the inbox is closed.
    func next() async -> [DriverInput]? {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isClosed || state.isAlarmed || !state.inputs.isEmpty { return true }
                state.sleeper = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
        return state.withLock { state in
            if state.isClosed { return nil }
            let inputs = state.inputs
            state.inputs = []
            state.isAlarmed = false
            return inputs
        }
    }

    private static func takeSleeper(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        let sleeper = state.sleeper
        state.sleeper = nil
        return sleeper
    }
}
