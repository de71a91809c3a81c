import HLSKitPlaylist
import Synchronization

package final class HookedTransport: ResourceTransport {
    private let base: any ResourceTransport
    private let hooks: LoadingHooks
    private let policy: ResourcePolicy
    private let itemURL: String
    private let call: AppCall
    private let reasons = KeyReasons()

    /// - Parameters:
    ///   - policy: The resources that the item may load, which also applies to values returned by the app.
    ///   - itemURL: The URL that counts as the source of values returned by the app.
    package init(
        _ base: any ResourceTransport, hooks: LoadingHooks, policy: ResourcePolicy, itemURL: String,
        clock: any Clock<Duration>
    ) {
        self.base = base
        self.hooks = hooks
        self.policy = policy
        self.itemURL = itemURL
        call = AppCall(clock: clock)
    }

    package func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard hooks.concern(request) else { return base.start(request, handler: handler) }
        let task = HookedTask(handler)
        task.setWork(
            Task(executorPreference: call.executor) { [self] in
                do throws(LoadingError) {
                    try await serve(request, task)
                } catch {
                    await task.deliver(.failed(error, TransferMetrics()))
                }
            })
        return task
    }

    private func serve(_ original: TransportRequest, _ task: HookedTask) async throws(LoadingError) {
        var request = original
        if let rule = hooks.requestPolicy {
            let asked = request
            request = try await call.value(
                of: "the request policy", url: asked.urlString, within: rule.deadline, failure: .refused
            ) { try await rule.apply(asked) }
            // A request policy must not raise limits.
            request.maximumByteCount = min(request.maximumByteCount, original.maximumByteCount)
            request.resourceClass = original.resourceClass
            request.ownFieldNames.formUnion(UserFields.names(addedTo: original, by: request))
            if request.urlString != original.urlString { try check(request.urlString, request.resourceClass) }
        }
        if request.resourceClass == .key, let key = try await key(for: request) {
            return try await deliver(
                key.bytes, for: request, LoadedResource(.bytes(key.bytes)), task, terms: key.terms)
        }
        try await load(request, task)
    }

    private func check(_ url: String, _ resourceClass: ResourceClass) throws(LoadingError) {
        try policy.check(url, resourceClass: resourceClass, namedBy: itemURL)
    }

    // MARK: Keys

    private func key(for request: TransportRequest) async throws(LoadingError) -> ContentKey? {
        if let bytes = hooks.keyOverride?.key { return ContentKey(bytes) }
        let format = request.keyFormat ?? "identity"
        let reason = reasons.next(for: request)
        for provider in hooks.keyProviders where provider.keyFormats.contains(format) {
            if let key = try await key(of: provider, for: request, format, reason) { return key }
        }
        return nil
    }

    private func key(
        of provider: any KeyProvider, for request: TransportRequest, _ format: String,
        _ reason: ContentKeyRequest.Reason
    ) async throws(LoadingError) -> ContentKey? {
        var question = ContentKeyRequest(
            url: request.urlString, keyFormat: format, itemURL: itemURL, reason: reason)
        for isLast in [false, true] {
            let asked = question
            let key: ContentKey?
            do throws(LoadingError) {
                key = try await call.value(of: "the key provider", url: request.urlString, within: provider.deadline) {
                    try await provider.key(for: asked)
                }
            } catch {
                if error.code == .timedOut { reasons.note(.timedOut, for: request.urlString) }
                throw error
            }
            guard let key, let expiration = key.expirationInterval, expiration <= .zero else { return key }
            if isLast { break }
            question.reason = .receivedResponseWithExpiredLease
        }
        throw LoadingError(
            code: .application, url: request.urlString, text: "the key provider gave a key that has expired")
    }

    // MARK: Resources

    private func load(_ original: TransportRequest, _ task: HookedTask) async throws(LoadingError) {
        var request = original
        var chain = 0
        while let loader = hooks.loader(for: request.urlString) {
            let asked = request
            let answer = try await call.value(of: "the resource loader", url: asked.urlString, within: loader.deadline)
            {
                try await loader.load(asked)
            }
            if let url = answer.urlString, url != request.urlString { try check(url, request.resourceClass) }
            switch answer.content {
            case .redirect(let url):
                chain += 1
                guard chain <= Self.maximumRedirectCount else {
                    throw LoadingError(
                        code: .tooManyRedirects, url: original.urlString,
                        text: "more than \(Self.maximumRedirectCount) redirects")
                }
                try check(url, request.resourceClass)
                request.urlString = url
            case .bytes(let bytes): return try await transform(bytes, for: request, answer, task)
            case .stream(let stream): return try await deliver(stream, for: request, answer, loader.deadline, task)
            }
        }
        guard hooks.transformMultivariant != nil, request.resourceClass == .multivariantPlaylist else {
            return task.forward { [base] handler in base.start(request, handler: handler) }
        }
        try await collect(request, task)
    }

    private static let maximumRedirectCount = 10

    private func deliver(
        _ stream: AsyncThrowingStream<[UInt8], any Error>, for request: TransportRequest, _ answer: LoadedResource,
        _ deadline: Duration, _ task: HookedTask
    ) async throws(LoadingError) {
        let range = request.byteRange.flatMap { answer.isWhole ? $0 : nil }
        var skip = range?.lowerBound ?? 0
        var rest = range.map { $0.isOpenEnded ? .max : $0.upperBound - $0.lowerBound } ?? .max
        var count = 0
        var whole: [UInt8] = []
        let isTransformed = hooks.transformMultivariant != nil && request.resourceClass == .multivariantPlaylist
        if !isTransformed { await task.deliver(.response(response(to: request, answer, byteCount: nil))) }
        while rest > 0 {
            let piece = try await call.value(of: "the resource loader", url: request.urlString, within: deadline) {
                // Iterators of a stream share its position.
                var pieces = stream.makeAsyncIterator()
                return try await pieces.next()
            }
            guard let piece else { break }
            let dropped = min(skip, UInt64(piece.count))
            skip -= dropped
            let taken = min(rest, UInt64(piece.count) - dropped)
            rest -= rest == .max ? 0 : taken
            guard taken > 0 else { continue }
            let bytes = Array(piece.dropFirst(Int(dropped)).prefix(Int(taken)))
            count += bytes.count
            try checkSize(count, of: request)
            if isTransformed, count > Self.maximumPlaylistByteCount {
                throw LoadingError(
                    code: .tooLarge, url: request.urlString, text: "more than \(Self.maximumPlaylistByteCount) bytes")
            }
            if isTransformed { whole += bytes } else { await task.deliver(.data(bytes)) }
        }
        if let range, !range.isOpenEnded, UInt64(count) < range.upperBound - range.lowerBound {
            throw LoadingError(
                code: .badRange, url: request.urlString, text: "the resource ends before the byte range does")
        }
        if isTransformed { return try await transform(whole, for: request, answer, task) }
        guard count > 0 else {
            throw LoadingError(code: .emptyBody, url: request.urlString, text: "the response is empty")
        }
        await task.deliver(.finished(metrics(byteCount: count)))
    }

    private func deliver(
        _ bytes: [UInt8], for request: TransportRequest, _ answer: LoadedResource, _ task: HookedTask,
        terms: KeyTerms? = nil
    ) async throws(LoadingError) {
        var body = bytes
        if let range = request.byteRange, answer.isWhole {
            guard let range = range.bytes(ofResourceOf: UInt64(bytes.count)) else {
                throw LoadingError(
                    code: .badRange, url: request.urlString, text: "the resource has \(bytes.count) bytes")
            }
            body = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        }
        guard !body.isEmpty else {
            throw LoadingError(code: .emptyBody, url: request.urlString, text: "the response is empty")
        }
        try checkSize(body.count, of: request)
        var response = response(to: request, answer, byteCount: body.count)
        if let terms { response.keyTerms = terms }
        await task.deliver(.response(response))
        await task.deliver(.data(body))
        await task.deliver(.finished(metrics(byteCount: body.count)))
    }

    private func checkSize(_ byteCount: Int, of request: TransportRequest) throws(LoadingError) {
        guard byteCount > request.maximumByteCount else { return }
        throw LoadingError(
            code: .tooLarge, url: request.urlString, text: "more than \(request.maximumByteCount) bytes")
    }

    private func response(
        to request: TransportRequest, _ answer: LoadedResource, byteCount: Int?
    ) -> TransportResponse {
        var response = TransportResponse(
            status: request.byteRange == nil ? 200 : 206, urlString: answer.urlString ?? request.urlString,
            contentType: answer.contentType, contentLength: byteCount)
        response.wasReadFromCache = answer.wasReadFromCache
        if request.resourceClass == .key { response.keyTerms = KeyTerms(renewal: answer.renewalInterval) }
        return response
    }

    private func metrics(byteCount: Int) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.receivedByteCount = byteCount
        metrics.decodedByteCount = byteCount
        metrics.protocolName = "application"
        return metrics
    }

    // MARK: Multivariant playlists

    private func collect(_ request: TransportRequest, _ task: HookedTask) async throws(LoadingError) {
        let events = base.events(for: request)
        task.follow { events.task }
        var response: TransportResponse?
        var bytes: [UInt8] = []
        var isPlaylist = true
        for await event in events {
            switch event {
            case _ where !isPlaylist: await task.deliver(event)
            case .response(let head): response = head
            case .data(let piece):
                bytes += piece
                guard bytes.count <= Self.maximumPlaylistByteCount else {
                    throw LoadingError(
                        code: .tooLarge, url: request.urlString,
                        text: "more than \(Self.maximumPlaylistByteCount) bytes")
                }
                // A request for a playlist may return media of any size.
                guard bytes.count >= 10, !Self.beginsPlaylist(bytes) else { continue }
                isPlaylist = false
                if let response { await task.deliver(.response(response)) }
                await task.deliver(.data(bytes))
                bytes = []
            case .failed(let error, let metrics): return await task.deliver(.failed(error, metrics))
            case .finished(let metrics):
                let text = try await transformed(
                    bytes, url: response?.urlString ?? request.urlString, response?.contentType)
                if let response { await task.deliver(.response(response)) }
                await task.deliver(.data(text))
                return await task.deliver(.finished(metrics))
            }
        }
    }

    /// The largest size of a playlist (R27).
    private static let maximumPlaylistByteCount = 16 << 20

    private static func beginsPlaylist(_ bytes: [UInt8]) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return text.starts(with: "#EXTM3U".utf8)
    }

    private func transform(
        _ bytes: [UInt8], for request: TransportRequest, _ answer: LoadedResource, _ task: HookedTask
    ) async throws(LoadingError) {
        let text = try await transformed(
            bytes, url: answer.urlString ?? request.urlString, answer.contentType, of: request)
        try await deliver(text, for: request, answer, task)
    }

    private func transformed(
        _ bytes: [UInt8], url: String, _ contentType: String?, of request: TransportRequest? = nil
    ) async throws(LoadingError) -> [UInt8] {
        guard let change = hooks.transformMultivariant,
            request?.resourceClass ?? .multivariantPlaylist == .multivariantPlaylist
        else { return bytes }
        var options = PlaylistParser.Options()
        options.contentType = contentType
        var parser = PlaylistParser(url: url, options: options)
        // Pass other content through. The loader of the playlist reports the error.
        do { try parser.append(bytes[...]) } catch { return bytes }
        guard case .multivariant(let playlist)? = try? parser.finish() else { return bytes }
        let changed = try await call.value(
            of: "the transformation of the multivariant playlist", url: url, within: .seconds(10)
        ) { try await change(playlist) }
        return changed.text
    }
}

private final class KeyReasons: Sendable {
    private let reasons = Mutex<[String: ContentKeyRequest.Reason]>([:])

    func note(_ reason: ContentKeyRequest.Reason, for url: String) { reasons.withLock { $0[url] = reason } }

    func next(for request: TransportRequest) -> ContentKeyRequest.Reason {
        reasons.withLock { $0.removeValue(forKey: request.urlString) } ?? request.keyReason
    }
}

private final class HookedTask: TransportTask {
    private struct State {
        var isOver = false
        var work: Task<Void, Never>?
    }

    private let handler: @Sendable (TransportEvent) -> Void
    private let state = Mutex(State())
    private let inner = TransferSlot()
    private let isPaused = Gate(false)

    init(_ handler: @escaping @Sendable (TransportEvent) -> Void) { self.handler = handler }

    func deliver(_ event: TransportEvent) async {
        await isPaused.wait { $0 ? nil : () }
        handOn(event)
    }

    private func handOn(_ event: TransportEvent) {
        let isLast =
            switch event {
            case .finished, .failed: true
            case .response, .data: false
            }
        let mayCall = state.withLock { state in
            defer {
                if isLast { (state.isOver, state.work) = (true, nil) }
            }
            return !state.isOver
        }
        // The inner task retains the handler, which retains this object.
        if isLast { inner.end() }
        if mayCall { handler(event) }
    }

    func forward(_ start: (@escaping @Sendable (TransportEvent) -> Void) -> any TransportTask) {
        follow { start { [self] event in handOn(event) } }
    }

    func follow(_ start: () -> any TransportTask) { inner.start { _ in start() } }

    func setWork(_ work: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.work = work }
            return state.isOver
        }
        if isOver { work.cancel() }
    }

    func cancel() {
        let work = state.withLock { state in
            state.isOver = true
            return state.work.take()
        }
        inner.cancel()
        work?.cancel()
        isPaused.signal { $0 = false }
    }

    func pause() {
        isPaused.withLock { $0 = true }
        inner.pause()
    }

    func resume() {
        isPaused.signal { $0 = false }
        inner.resume()
    }
}
