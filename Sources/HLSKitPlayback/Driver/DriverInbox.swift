import HLSKitEngine
import HLSKitLoading

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
///
/// A ``Gate`` and not a ``Broadcast``: there is one reader, which takes all that has come at once.
final class DriverInbox: Sendable {
    private struct State {
        var inputs: [DriverInput] = []
        /// Something besides inputs wants the driver's attention: effects, a timer, a thread that waits for its time.
        var isAlarmed = false
        /// The engine has changed, and not by the driver.
        var hasNews = false
        var isClosed = false
    }

    private let state = Gate(State())

    func post(_ input: DriverInput) {
        state.signal { state in
            if !state.isClosed { state.inputs.append(input) }
        }
    }

    /// The engine has decided something: makes the driver look at its effects.
    func alarm() {
        state.signal { state in
            state.isAlarmed = true
            state.hasNews = true
        }
    }

    /// Makes the driver look at its timers.
    func wake() {
        state.signal { $0.isAlarmed = true }
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
        state.signal { state in
            state.isClosed = true
            state.inputs = []
        }
    }

    /// Waits until there is something; nil when the inbox is closed.
    func next() async -> [DriverInput]? {
        await state.wait { state -> [DriverInput]?? in
            if state.isClosed { return .some(nil) }
            guard state.isAlarmed || !state.inputs.isEmpty else { return nil }
            defer {
                state.inputs = []
                state.isAlarmed = false
            }
            return state.inputs
        }
    }
}
