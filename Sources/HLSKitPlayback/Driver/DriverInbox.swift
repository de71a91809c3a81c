import HLSKitEngine
import HLSKitLoading

enum DriverInput: Sendable {
    case transport(RequestID, TransportEvent)
    case freshURL(Result<String, LoadingError>)
    case renderer(LaneID, RendererID, TrackRenderer.Report)
    case lanes(LaneReport)
    case playlist(ReadPlaylist)
    case outputsChanged
}

/// Passes input from the threads of transports and renderers to the driver, and wakes it.
///
/// This is a ``Gate``, not a ``Broadcast``, because the only reader takes all input at once.
final class DriverInbox: Sendable {
    private struct State {
        var inputs: [DriverInput] = []
        /// Whether something other than input needs the driver: effects, a timer or a waiting thread.
        var isAlarmed = false
        /// Whether the engine was changed by another caller than the driver.
        var hasNews = false
        var isClosed = false
    }

    private let state = Gate(State())

    func post(_ input: DriverInput) {
        state.signal { state in
            if !state.isClosed { state.inputs.append(input) }
        }
    }

    /// Called when the engine has made a decision. Makes the driver carry out its effects.
    func alarm() {
        state.signal { state in
            state.isAlarmed = true
            state.hasNews = true
        }
    }

    func wake() {
        state.signal { $0.isAlarmed = true }
    }

    /// Notes an engine change without effects, which the driver sees when it next runs.
    func noteNews() { state.withLock { $0.hasNews = true } }

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

    /// Waits for input. Returns `nil` when the inbox is closed.
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
