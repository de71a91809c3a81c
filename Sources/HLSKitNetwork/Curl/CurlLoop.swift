import CCurl
import HLSKitLoading
import Synchronization

/// The thread of a ``CurlTransport`` and the queue of its commands.
final class CurlLoop: Sendable {
    enum Command: Sendable {
        case start(TransportRequest, QueuedTask, @Sendable (TransportEvent) -> Void)
        /// The flags of the task have changed.
        case look(QueuedTask)
        case stop
    }

    /// The only handle of the loop. Other threads may call only ``MultiHandle/wakeUp()``.
    private final class Multi: Sendable {
        let handle: MultiHandle

        init?(_ curl: CCurl_library, _ watch: SocketWatch) {
            guard let handle = MultiHandle(curl, watch) else { return nil }
            self.handle = handle
        }
    }

    private struct Queue {
        var commands: [Command] = []
        var isStarted = false
        /// nil before the thread has opened libcurl, after which it reads the commands.
        var multi: Multi?
        /// The reason why all current and future requests fail.
        var failure: CurlLibrary.LibraryFailure?
    }

    private let queue = Mutex(Queue())
    private let configuration: TransportConfiguration
    private let clock: ContinuousClock
    private let watch = SocketWatch()
    private let openLibrary: @Sendable () -> CurlLibrary

    /// The number of idle connections to keep.
    ///
    /// It is enough for the playlists and media of a few dozen players, without thousands of idle descriptors.
    private static let keptConnectionCount = 128

    /// - Parameter openLibrary: Opens the library. It is called on the thread, with the first request.
    init(
        _ configuration: TransportConfiguration, clock: ContinuousClock,
        openLibrary: @escaping @Sendable () -> CurlLibrary
    ) {
        self.configuration = configuration
        self.clock = clock
        self.openLibrary = openLibrary
    }

    func post(_ command: Command) {
        let (isRunning, multi, failure) = queue.withLock { queue in
            if !queue.isStarted, queue.failure == nil, case .start = command {
                queue.isStarted = WorkerThread.start { [self] in run() }
            }
            // Without a request there is no transfer to check or to cancel.
            if queue.isStarted { queue.commands.append(command) }
            return (queue.isStarted, queue.multi, queue.failure)
        }
        if isRunning {
            multi?.handle.wakeUp()
        } else {
            Self.refuse(command, failure ?? .init(code: .transport, text: "no thread is left for libcurl"))
        }
    }

    private static func refuse(_ command: Command, _ failure: CurlLibrary.LibraryFailure) {
        guard case .start(let request, _, let handler) = command else { return }
        let error = LoadingError(code: failure.code, url: request.urlString, text: failure.text)
        handler(.failed(error, TransferMetrics()))
    }

    private func run() {
        let library = openLibrary()
        guard let curl = library.functions, let multi = Multi(curl, watch), let share = ShareHandle(curl) else {
            return giveUp(library.failure ?? .init(code: .transport, text: "libcurl cannot start"))
        }
        queue.withLock { $0.multi = multi }
        run(multi.handle, share)
    }

    private func giveUp(_ failure: CurlLibrary.LibraryFailure) {
        let commands = queue.withLock { queue in
            queue.failure = failure
            queue.isStarted = false
            defer { queue.commands = [] }
            return queue.commands
        }
        for command in commands { Self.refuse(command, failure) }
    }

    private func run(_ multi: borrowing MultiHandle, _ share: borrowing ShareHandle) {
        if let file = configuration.cookieFile { try? share.readCookies(file) }
        let context = CurlTransfer.Context(configuration: configuration, clock: clock, watch: watch)
        multi.set(CURLMOPT_MAXCONNECTS, Self.keptConnectionCount)
        multi.set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        var transfers: [ObjectIdentifier: CurlTransfer] = [:]
        while true {
            for command in takeCommands() {
                switch command {
                case .start(let request, let task, let handler):
                    let transfer = CurlTransfer(request, task: task, context: context, handler: handler)
                    if begin(transfer, multi, share) { transfers[ObjectIdentifier(task)] = transfer }
                case .look(let task):
                    guard let transfer = transfers[ObjectIdentifier(task)] else { continue }
                    if task.isCancelled || transfer.resume() { end(transfer, multi, &transfers) }
                case .stop:
                    for transfer in transfers.values { transfer.detach(from: multi) }
                    watch.stop()
                    return
                }
            }
            if transfers.isEmpty { watch.rest() } else { watch.enter() }
            multi.perform()
            if !transfers.isEmpty { watch.leave() }
            while let (pointer, result) = multi.nextFinished() {
                guard let pointer else { continue }
                let transfer = Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
                settle(transfer, transfer.complete(result), multi, share, &transfers)
            }
            multi.poll(milliseconds: tend(&transfers, multi, share, context))
        }
    }

    private func takeCommands() -> [Command] {
        queue.withLock { queue in
            defer { queue.commands = [] }
            return queue.commands
        }
    }

    /// Starts the current hop of a transfer.
    ///
    /// - Returns: Whether the transfer still needs work.
    private func begin(
        _ transfer: CurlTransfer, _ multi: borrowing MultiHandle, _ share: borrowing ShareHandle
    ) -> Bool {
        guard !transfer.task.isCancelled else { return false }
        return transfer.attach(to: multi, share) || !transfer.isDelivered
    }

    private func settle(
        _ transfer: CurlTransfer, _ next: CurlTransfer.Next, _ multi: borrowing MultiHandle,
        _ share: borrowing ShareHandle, _ transfers: inout [ObjectIdentifier: CurlTransfer]
    ) {
        transfer.detach(from: multi)
        switch next {
        case .hop: if !begin(transfer, multi, share) { end(transfer, multi, &transfers) }
        case .end: if transfer.isDelivered || transfer.task.isCancelled { end(transfer, multi, &transfers) }
        }
    }

    private func end(
        _ transfer: CurlTransfer, _ multi: borrowing MultiHandle, _ transfers: inout [ObjectIdentifier: CurlTransfer]
    ) {
        transfer.detach(from: multi)
        transfers[ObjectIdentifier(transfer.task)] = nil
    }

    /// Delivers the received data and checks the deadlines.
    ///
    /// - Returns: The milliseconds until the next deadline.
    private func tend(
        _ transfers: inout [ObjectIdentifier: CurlTransfer], _ multi: borrowing MultiHandle,
        _ share: borrowing ShareHandle, _ context: CurlTransfer.Context
    ) -> Int32 {
        let now = context.now
        var wake = now + .seconds(60)
        context.bucket?.fill(at: now)
        // A handler may be slow. The next round handles deadlines that pass in the meantime.
        for transfer in Array(transfers.values) {
            if transfer.isHeldByRate {
                if context.bucket?.isEmpty == false {
                    transfer.continueAfterRate()
                } else if let fill = context.bucket?.nextFill {
                    wake = min(wake, fill)
                }
            }
            transfer.flush()
            if let next = transfer.overdue(at: now) {
                settle(transfer, next, multi, share, &transfers)
            } else if let deadline = transfer.nextDeadline {
                wake = min(wake, deadline)
            }
        }
        let left = max(.zero, wake - now)
        let (seconds, attoseconds) = left.components
        // Rounded up because a poll that ends too early would loop.
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
