import CCurl
import Synchronization

/// The thread of a ``CurlTransport``, and the queue of what it is told.
final class CurlLoop: Sendable {
    enum Command: Sendable {
        case start(TransportRequest, QueuedTask, @Sendable (TransportEvent) -> Void)
        /// The flags of the task have changed.
        case look(QueuedTask)
        case stop
    }

    private struct Queue {
        var commands: [Command] = []
        var isStarted = false
    }

    private let queue = Mutex(Queue())
    private let configuration: TransportConfiguration
    private let clock: ContinuousClock
    private let watch: SocketWatch
    private let multi: MultiHandle?

    /// Connections that are kept open for later use: a connection each for playlists and media of some tens of
    /// players, without idle descriptors by the thousand.
    private static let keptConnectionCount = 128

    // Not thread-safe in libcurl before 7.84 and harmless after it; static members are made once.
    private static let libraryIsReady = curl_global_init(Int(CCurl_global_all)) == CURLE_OK

    init(_ configuration: TransportConfiguration, clock: ContinuousClock) {
        self.configuration = configuration
        self.clock = clock
        let watch = SocketWatch()
        self.watch = watch
        multi = Self.libraryIsReady ? MultiHandle(watch) : nil
    }

    /// Hands over a command and wakes the thread.
    func post(_ command: Command) {
        let isRunning = queue.withLock { queue in
            if !queue.isStarted {
                // Without a request there is nothing to look at or to stop.
                guard case .start = command, multi != nil else { return false }
                queue.isStarted = WorkerThread.start { [self] in run() }
            }
            if queue.isStarted { queue.commands.append(command) }
            return queue.isStarted
        }
        if isRunning {
            multi?.wakeUp()
        } else if case .start(let request, _, let handler) = command {
            let error = LoadingError(
                code: .transport, url: request.urlString, text: "libcurl or its thread cannot start")
            handler(.failed(error, TransferMetrics()))
        }
    }

    private func run() {
        guard let share = ShareHandle() else { return }
        if let file = configuration.cookieFile { try? share.readCookies(file) }
        let context = CurlTransfer.Context(configuration: configuration, clock: clock, watch: watch)
        multi?.set(CURLMOPT_MAXCONNECTS, Self.keptConnectionCount)
        multi?.set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        var transfers: [ObjectIdentifier: CurlTransfer] = [:]
        while true {
            for command in takeCommands() {
                switch command {
                case .start(let request, let task, let handler):
                    let transfer = CurlTransfer(request, task: task, context: context, handler: handler)
                    if begin(transfer, share) { transfers[ObjectIdentifier(task)] = transfer }
                case .look(let task):
                    guard let transfer = transfers[ObjectIdentifier(task)] else { continue }
                    if task.isCancelled || transfer.resume() { end(transfer, &transfers) }
                case .stop:
                    for transfer in transfers.values { transfer.detach(from: multi) }
                    watch.stop()
                    return
                }
            }
            if transfers.isEmpty { watch.rest() } else { watch.enter() }
            multi?.perform()
            if !transfers.isEmpty { watch.leave() }
            while let (pointer, result) = multi?.nextFinished() {
                guard let pointer else { continue }
                let transfer = Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
                settle(transfer, transfer.complete(result), share, &transfers)
            }
            multi?.poll(milliseconds: tend(&transfers, share, context))
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
    /// - Returns: Whether there is anything left to do for it.
    private func begin(_ transfer: CurlTransfer, _ share: borrowing ShareHandle) -> Bool {
        guard !transfer.task.isCancelled else { return false }
        return transfer.attach(to: multi, share) || !transfer.isDelivered
    }

    /// Carries on with a transfer whose hop has ended.
    private func settle(
        _ transfer: CurlTransfer, _ next: CurlTransfer.Next, _ share: borrowing ShareHandle,
        _ transfers: inout [ObjectIdentifier: CurlTransfer]
    ) {
        transfer.detach(from: multi)
        switch next {
        case .hop: if !begin(transfer, share) { end(transfer, &transfers) }
        case .end: if transfer.isDelivered || transfer.task.isCancelled { end(transfer, &transfers) }
        }
    }

    private func end(_ transfer: CurlTransfer, _ transfers: inout [ObjectIdentifier: CurlTransfer]) {
        transfer.detach(from: multi)
        transfers[ObjectIdentifier(transfer.task)] = nil
    }

    /// Delivers what has arrived and looks at the deadlines.
    ///
    /// - Returns: The milliseconds until the next deadline.
    private func tend(
        _ transfers: inout [ObjectIdentifier: CurlTransfer], _ share: borrowing ShareHandle,
        _ context: CurlTransfer.Context
    ) -> Int32 {
        let now = context.now
        var wake = now + .seconds(60)
        context.bucket?.fill(at: now)
        // A handler may take its time; what becomes due meanwhile is seen in the next round.
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
                settle(transfer, next, share, &transfers)
            } else if let deadline = transfer.nextDeadline {
                wake = min(wake, deadline)
            }
        }
        let left = max(.zero, wake - now)
        let (seconds, attoseconds) = left.components
        // Rounded up: a poll that ends too early would spin.
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
