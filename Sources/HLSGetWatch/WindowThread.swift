package import HLSGetKit
import HLSKitCore
import Synchronization

/// A window with its own thread, because SDL requires the same thread for everything that belongs to a window.
package final class WindowThread: Sendable {
    package enum Request: Sendable, Equatable {
        case command(KeyCommand)
        /// The item time to go to.
        case seek(Double)
    }

    private enum Phase {
        case running
        case waiting(CheckedContinuation<Void, Never>)
        case over
    }

    private static let patience = Duration.seconds(3)

    let requests: AsyncStream<Request>
    private let scene: WatchScene
    private let phase = Mutex(Phase.running)

    /// Opens the window.
    ///
    /// - Throws: ``HLSError/Code/output`` if there is no display.
    static func open(
        _ library: SDLLibrary, scene: WatchScene, options: WindowOptions, log: PresentationLog?
    ) async throws(HLSError) -> WindowThread {
        let (requests, sink) = AsyncStream.makeStream(of: Request.self)
        let window = WindowThread(requests: requests, scene: scene)
        let opened: Result<Void, HLSError> = await withCheckedContinuation { continuation in
            let run: @Sendable () -> Void = {
                do throws(HLSError) {
                    let loop = try WindowLoop(
                        library, scene: scene, options: options, log: log, send: { sink.yield($0) })
                    continuation.resume(returning: .success(()))
                    loop.run()
                } catch {
                    continuation.resume(returning: .failure(error))
                }
                sink.finish()
                window.finish()
            }
            guard WorkerThread.start(run) else {
                continuation.resume(
                    returning: .failure(HLSError(code: .internal, cause: "no thread for a window")))
                return
            }
        }
        try opened.get()
        return window
    }

    private init(requests: AsyncStream<Request>, scene: WatchScene) {
        self.requests = requests
        self.scene = scene
    }

    private func finish() {
        let waiter = phase.withLock { phase -> CheckedContinuation<Void, Never>? in
            defer { phase = .over }
            if case .waiting(let continuation) = phase { return continuation }
            return nil
        }
        waiter?.resume()
    }

    /// Closes the window and returns when it is gone, or after ``patience`` if the graphics system hangs. Call it once.
    func close(clock: some Clock<Duration>) async {
        scene.close()
        let limit = Task { [weak self] in
            try await clock.sleep(for: Self.patience)
            self?.finish()
        }
        await withCheckedContinuation { continuation in
            let isOver = phase.withLock { phase in
                if case .over = phase { return true }
                phase = .waiting(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
        limit.cancel()
    }
}

struct WindowOptions: Sendable, Equatable {
    var title: String
    var size: PixelSize
    var isFullscreen = false
    /// Whether the text is the status line of a terminal.
    var showsDetails = false
}
