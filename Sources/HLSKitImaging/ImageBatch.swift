import HLSKitAsset
import HLSKitLoading
import HLSKitPlayback
import HLSKitTime
import Synchronization

/// One request for images. It produces results slightly ahead of the consumer and delivers them in time order.
final class ImageBatch: Sendable {
    /// The number of images made in advance, and of concurrent requests.
    private static let lookahead = 4
    private static let width = 3

    private struct State {
        var results: [Int: ImageGenerationResult] = [:]
        /// The index of the result that the consumer waits for. All earlier ones have been delivered.
        var demand = 0
        var isStarted = false
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    let requests: [RequestedImage]
    private let store: FrameStore
    private let options: ImageOptions
    private let gate = Gate(State())

    init(_ times: [MediaTime], store: FrameStore, options: ImageOptions) {
        // Equal times keep their order.
        let sorted = times.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        requests = sorted.enumerated().map { index, entry in
            RequestedImage(index: index, requested: entry.element, time: entry.element.duration ?? .zero)
        }
        self.store = store
        self.options = options
    }

    /// Returns the result of the requested time with this index. Each result is delivered once, in order.
    func result(_ index: Int) async -> ImageGenerationResult {
        start()
        gate.signal { $0.demand = max($0.demand, index) }
        let requested = requests[index].requested
        return await withTaskCancellationHandler {
            await gate.wait { state in
                if state.isCancelled { return .cancelled(requested: requested) }
                return state.results.removeValue(forKey: index)
            }
        } onCancel: {
            cancel()
        }
    }

    func cancel() {
        let task = gate.withLock { $0.task }
        gate.signal { state in
            state.isCancelled = true
            state.results = [:]
        }
        task?.cancel()
    }

    // MARK: Work

    private func start() {
        let isFirst = gate.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isCancelled
        }
        guard isFirst else { return }
        let clock = store.inspector.client.options.clock
        let thread = clock is any TaskExecutor ? nil : ThreadExecutor()
        // Decoding blocks a thread. Under a virtual clock, all work runs on the clock's executor.
        let executor = clock as? any TaskExecutor ?? thread
        let task = Task(executorPreference: executor) { [self] in
            await work()
            thread?.finish()
        }
        let isCancelled = gate.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func work() async {
        let possible = requests.filter { $0.requested.isNumeric }
        for request in requests where !request.requested.isNumeric {
            deliver(request, .failed(requested: request.requested, error: .notAvailable("the time is not a number")))
        }
        guard !possible.isEmpty else { return }
        do {
            let library = try await FrameLibrary(store, options)
            let worker = ImageWorker(store: store, library: library, options: options)
            try await run(try await worker.jobs(for: possible), worker)
        } catch let error as HLSError {
            for request in possible { deliver(request, .failed(requested: request.requested, error: error)) }
        } catch {
            cancel()
        }
    }

    private func run(_ jobs: [ImageWorker.Job], _ worker: ImageWorker) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            for job in jobs {
                guard let first = job.first else { continue }
                if running == Self.width {
                    try await group.next()
                    running -= 1
                }
                await waitForDemand(of: first.index)
                try Task.checkCancellation()
                running += 1
                group.addTask { [self] in
                    var open = Set(job.map(\.index))
                    try await worker.run(job) { request, result in
                        // Frames do not arrive in time order. Delaying this one while an earlier one of the same job is
                        // missing would wait forever.
                        await self.waitForDemand(of: open.min() ?? request.index)
                        try Task.checkCancellation()
                        open.remove(request.index)
                        self.deliver(request, result)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Returns when the consumer is about to take the result.
    private func waitForDemand(of index: Int) async {
        await gate.wait { state in
            state.isCancelled || index <= state.demand + Self.lookahead ? () : nil
        }
    }

    private func deliver(_ request: RequestedImage, _ result: ImageGenerationResult) {
        gate.signal { state in
            if !state.isCancelled { state.results[request.index] = result }
        }
    }
}
