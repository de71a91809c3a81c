import Synchronization

/// Runs the built command to its end. At most six commands run at once, because each needs its own threads and memory.
package func hlsget(_ arguments: String..., in folder: ScratchFolder? = nil) async throws -> Command.Result {
    try await hlsget(arguments, in: folder)
}

package func hlsget(
    _ arguments: [String], in folder: ScratchFolder? = nil, input: String = "/dev/null"
) async throws -> Command.Result {
    await Turnstile.shared.enter()
    defer { Turnstile.shared.leave() }
    return try await Command.hlsget(arguments, in: folder?.path ?? "/tmp", input: input).result()
}

private final class Turnstile: Sendable {
    static let shared = Turnstile(capacity: 6)

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Mutex<State>

    init(capacity: Int) { state = Mutex(State(free: capacity)) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
