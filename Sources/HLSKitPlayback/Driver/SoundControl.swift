import Synchronization

final class SoundControl: Sendable {
    private struct State {
        var volume: Float = 1
        var isMuted = false
    }

    private let state = Mutex(State())

    var volume: Float {
        get { state.withLock(\.volume) }
        set { state.withLock { $0.volume = newValue.isNaN ? $0.volume : min(1, max(0, newValue)) } }
    }

    var isMuted: Bool {
        get { state.withLock(\.isMuted) }
        set { state.withLock { $0.isMuted = newValue } }
    }

    var gain: Float { state.withLock { $0.isMuted ? 0 : $0.volume } }
}
