import CCurl
import HLSKitLoading
import HLSKitTime

/// One request with all its hops. Confined to the thread of its ``CurlLoop``.
final class CurlTransfer {
    final class Context {
        let configuration: TransportConfiguration
        let clock: ContinuousClock
        let origin: ContinuousClock.Instant
        let watch: SocketWatch
        var bucket: RateBucket?
        fileprivate var challenges: [ProtectedPlace: DigestChallenge] = [:]

        init(configuration: TransportConfiguration, clock: ContinuousClock, watch: SocketWatch) {
            self.configuration = configuration
            self.watch = watch
            self.clock = clock
            origin = clock.now
            bucket = configuration.maximumBytesPerSecond.map { RateBucket(bytesPerSecond: $0, at: .zero) }
        }

        var now: Duration { clock.now - origin }
    }

    enum Next { case hop, end }

    private enum Outcome {
        case redirect(String)
        /// The server requests another proof of the user's password.
        case challenge
        case failure(LoadingError)
        case success
    }

    let request: TransportRequest
    let task: QueuedTask
    let context: Context
    private let handler: @Sendable (TransportEvent) -> Void

    private let startedAt: Duration
    private var chain: RedirectChain?
    private(set) var url: HTTPURL?
    private var hasRetried = false
    private var challengeCount = 0
    private var metrics = TransferMetrics()

    private var easy: EasyHandle?
    private var hopStartedAt: Duration
    private var head = ResponseHead()
    private var body: BodyReader?
    private var outcome: Outcome?
    private var isHeldByPause = false
    private(set) var isHeldByRate = false
    var refusedAddress: String?

    private var arrivedByteCount = 0
    private var gauge: SpeedGauge?
    private var drainDeadline: Duration?
    private var drainedByteCount = 0

    private var pending: [UInt8] = []
    private var lastPieceByteCount = 0
    private var held: [TransportEvent] = []
    private var isEnded = false

    /// The bytes to collect in one round before they are delivered.
    private static let pieceByteCount = 256 << 10
    /// The bytes and the time to spend on reading an unwanted body so that the connection can be reused.
    private static let maximumDrainedByteCount = 64 << 10
    private static let maximumDrainTime = Duration.milliseconds(500)
    /// A second challenge is allowed because the nonce of a known one may have expired.
    private static let maximumChallengeCount = 2

    init(
        _ request: TransportRequest, task: QueuedTask, context: Context,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.request = request
        self.task = task
        self.context = context
        self.handler = handler
        startedAt = context.now
        hopStartedAt = startedAt
    }

    // MARK: Hops

    /// Starts the hop at ``url``, or the first hop.
    ///
    /// - Returns: False if the hop failed. In that case the failure has been delivered.
    func attach(to multi: borrowing MultiHandle, _ share: borrowing ShareHandle) -> Bool {
        do throws(LoadingError) {
            let url = if let url { url } else { try firstURL() }
            self.url = url
            try context.configuration.checkScheme(url.origin.scheme, of: url.text)
            try checkAddress(of: url)
            hopStartedAt = context.now
            head = ResponseHead()
            body = nil
            outcome = nil
            gauge = nil
            drainDeadline = nil
            drainedByteCount = 0
            refusedAddress = nil
            let options = HopOptions(
                url, request, context.configuration, isFresh: hasRetried, authorization: authorization(for: url))
            try add(options, to: multi, share)
            return true
        } catch {
            fail(error)
            return false
        }
    }

    private func add(
        _ options: HopOptions, to multi: borrowing MultiHandle, _ share: borrowing ShareHandle
    ) throws(LoadingError) {
        do throws(CurlFailure) {
            let handle = try options.makeHandle(for: self, share)
            guard multi.add(handle) else { throw CurlFailure(code: CURLE_FAILED_INIT) }
            easy = consume handle
        } catch {
            throw loadingError(error.loadingCode(isHeaderComplete: true), error.text)
        }
    }

    private func firstURL() throws(LoadingError) -> HTTPURL {
        let url = try HTTPURL(request.urlString)
        for field in request.fields where !field.isSendable {
            throw LoadingError(
                code: .refused, url: url.text, text: "a header field contains a character that is not allowed")
        }
        if let range = request.byteRange, range.isEmpty {
            throw LoadingError(code: .badRange, url: url.text, text: "an empty byte range was requested")
        }
        chain = RedirectChain(
            from: url, maximumCount: context.configuration.maximumRedirectCount,
            allowsDowngrade: context.configuration.allowsDowngradeRedirect)
        return url
    }

    /// A numeric host is checked here as well because a proxied request opens no socket to it.
    private func checkAddress(of url: HTTPURL) throws(LoadingError) {
        let host = url.origin.host.hasPrefix("[") ? String(url.origin.host.dropFirst().dropLast()) : url.origin.host
        guard let bits = AddressRange.bits(of: host), !context.configuration.addressPolicy.allows(bits) else { return }
        throw LoadingError(code: .refused, url: url.text, text: "the address \(host) is not allowed")
    }

    /// Releases the handle. No callback is called afterwards.
    func detach(from multi: borrowing MultiHandle) {
        if let handle = easy.take() { multi.remove(handle) }
    }

    func complete(_ result: CURLcode) -> Next {
        noteTimes()
        switch outcome {
        case .failure(let error):
            fail(error)
        case .redirect(let location):
            return follow(location)
        case .challenge:
            return .hop
        case .success:
            finish()
        case nil where result == CURLE_OK && head.isComplete:
            finish()
        case nil:
            return retryOrFail(result)
        }
        return .end
    }

    private func follow(_ location: String) -> Next {
        guard let url, var chain else { return .end }
        do throws(LoadingError) {
            self.url = try chain.follow(location, from: url, status: head.status)
            self.chain = chain
            metrics.redirectCount = chain.redirectCount
            return .hop
        } catch {
            fail(error)
            return .end
        }
    }

    // MARK: Challenges

    private func authorization(for url: HTTPURL) -> TransportField? {
        guard !context.challenges.isEmpty, let login = HopOptions(url, request, context.configuration).login else {
            return nil
        }
        let place = ProtectedPlace(origin: url.origin, login: login)
        return context.challenges[place]?.authorization(
            login, method: request.body == nil ? "GET" : "POST", target: url.target, body: request.body ?? [])
    }

    /// Whether a refusal contains a challenge that can be answered.
    private func takeChallenge(at url: HTTPURL) -> Bool {
        guard head.status == 401, challengeCount < Self.maximumChallengeCount,
            let login = HopOptions(url, request, context.configuration).login,
            let challenge = DigestChallenge(head.fields)
        else { return false }
        challengeCount += 1
        context.challenges[ProtectedPlace(origin: url.origin, login: login)] = challenge
        return true
    }

    private func retryOrFail(_ result: CURLcode) -> Next {
        let failure = easy?.failure(result) ?? CurlFailure(code: result)
        // libcurl retries in most cases, but not if the connection ended while it was sending.
        if failure.mayBeDeadConnection, metrics.reusedConnection, head.byteCount == 0, !hasRetried {
            hasRetried = true
            return .hop
        }
        if let refusedAddress {
            fail(loadingError(.refused, "the address \(refusedAddress) is not allowed"))
        } else {
            let proxy = context.configuration.proxy
            let way = failure.isOfProxy(for: url?.origin) ? "\(proxy.words(for: url?.text ?? "")): " : ""
            fail(loadingError(failure.loadingCode(isHeaderComplete: head.isComplete), way + failure.text))
        }
        return .end
    }

    private func loadingError(_ code: LoadingError.Code, _ text: String) -> LoadingError {
        LoadingError(
            code: code, url: url?.text ?? request.urlString,
            status: head.status == 0 ? nil : head.status, text: text)
    }

    // MARK: Callbacks

    /// Reads a header line.
    ///
    /// - Returns: Whether the transfer continues.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        context.watch.note()
        noteArrival(line.count)
        guard !head.isComplete else { return head.read(line) }
        guard head.read(line) else {
            outcome = .failure(loadingError(.tooLarge, "a header of more than \(ResponseHead.maximumByteCount) bytes"))
            return false
        }
        guard head.isComplete, let url else { return true }
        switch ResponsePlan(head, for: request, at: url.text, now: HTTPDate.now()) {
        // "303 See Other" names the location of a response to the sent data. The data itself must not be sent there.
        case .redirect where request.body != nil && head.status == 303:
            outcome = .failure(
                loadingError(
                    .httpStatus, "HTTP \(head.status): redirect not followed, because the request has a body"))
        case .redirect(let location): outcome = .redirect(location)
        case .fail where takeChallenge(at: url): outcome = .challenge
        case .fail(var error):
            error.fields = head.fields
            error.serverAddress = easy?.text(CURLINFO_PRIMARY_IP)
            outcome = .failure(error)
        case .body(let plan):
            do throws(LoadingError) {
                body = try BodyReader(plan, url: url.text)
                metrics.isLengthUnverified = head.isCloseDelimited
                deliver(.response(response(from: url)))
            } catch {
                outcome = .failure(error)
            }
        }
        if outcome != nil { drainDeadline = context.now + Self.maximumDrainTime }
        return true
    }

    private func response(from url: HTTPURL) -> TransportResponse {
        TransportResponse(
            status: head.status, urlString: url.text, contentType: head.value(of: "Content-Type"),
            contentLength: head.contentLength, fields: head.fields, serverAddress: easy?.text(CURLINFO_PRIMARY_IP))
    }

    enum Reception { case taken, pause, stop }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Reception {
        context.watch.note()
        if outcome != nil {
            drainedByteCount += bytes.count
            return drainedByteCount <= Self.maximumDrainedByteCount ? .taken : .stop
        }
        if task.isCancelled { return .stop }
        if task.isPaused {
            isHeldByPause = true
            return .pause
        }
        if context.bucket?.isEmpty == true {
            isHeldByRate = true
            return .pause
        }
        context.bucket?.take(bytes.count)
        noteArrival(bytes.count)
        do throws(LoadingError) {
            try body?.read(bytes) { collect($0) }
        } catch {
            outcome = .failure(error.with(status: head.status))
            return .stop
        }
        if body?.isSatisfied == true, head.status != 206 {
            let rest = head.contentLength.map { $0 - (body?.receivedByteCount ?? 0) } ?? Int.max
            if rest > Self.maximumDrainedByteCount {
                outcome = .success
                return .stop
            }
        }
        return .taken
    }

    /// Collects bytes of the resource. It must not access `body`, which is in use.
    private func collect(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // The size of the last piece is the best estimate for this one. The player would keep a larger array in memory.
        if pending.isEmpty { pending.reserveCapacity(max(bytes.count, lastPieceByteCount)) }
        pending.append(contentsOf: bytes)
        if pending.count >= Self.pieceByteCount { deliverPending() }
        return !task.isCancelled
    }

    // MARK: Time

    private func noteArrival(_ byteCount: Int) {
        arrivedByteCount += byteCount
        guard gauge == nil else { return }
        gauge = SpeedGauge(
            window: request.timeouts.lowSpeed, minimumBytesPerSecond: request.timeouts.minimumBytesPerSecond,
            start: context.now, byteCount: arrivedByteCount)
    }

    private var isHeld: Bool { isHeldByPause || isHeldByRate || task.isPaused }

    /// The latest time of the next call to ``overdue(at:)``, or nil while no deadline runs.
    var nextDeadline: Duration? {
        guard easy != nil, !isHeld else { return nil }
        let speed = gauge?.nextCheck ?? startedAt + request.timeouts.firstByte
        return [speed, drainDeadline, request.timeouts.total.map { startedAt + $0 }].compactMap { $0 }.min()
    }

    func overdue(at now: Duration) -> Next? {
        guard easy != nil, !isHeld else {
            // Time in which no data was read says nothing about the network.
            if isHeld, gauge != nil {
                gauge = nil
                noteArrival(0)
            }
            return nil
        }
        if let drainDeadline, now >= drainDeadline { return complete(CURLE_OK) }
        if let total = request.timeouts.total, now >= startedAt + total {
            outcome = .failure(loadingError(.timedOut, "not complete after \(total.decimalText(1, atLeast: 1)) s"))
        } else if gauge == nil, now >= startedAt + request.timeouts.firstByte {
            outcome = .failure(
                loadingError(.timedOut, "no response after \(request.timeouts.firstByte.decimalText(1, atLeast: 1)) s"))
        } else if let received = gauge?.check(at: now, byteCount: arrivedByteCount), outcome == nil {
            let timeouts = request.timeouts
            outcome = .failure(
                loadingError(
                    .timedOut,
                    "\(received) bytes in \(timeouts.lowSpeed.decimalText(1, atLeast: 1)) s, "
                        + "less than \(timeouts.minimumBytesPerSecond) bytes/s"))
        } else {
            return nil
        }
        return complete(CURLE_OK)
    }

    private func noteTimes() {
        let offset = hopStartedAt - startedAt
        metrics.reusedConnection = easy?.number(CURLINFO_NUM_CONNECTS) == 0
        func time(_ info: CURLINFO) -> Duration {
            let value = easy?.time(info) ?? .zero
            return value == .zero ? .zero : offset + value
        }
        metrics.nameLookup = metrics.reusedConnection ? .zero : time(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = metrics.reusedConnection ? .zero : time(CURLINFO_CONNECT_TIME_T)
        metrics.secureConnect = metrics.reusedConnection ? .zero : time(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.receivedByteCount = body?.receivedByteCount ?? 0
        metrics.decodedByteCount = body?.decodedByteCount ?? 0
        if context.configuration.reportsCertificates, !metrics.reusedConnection {
            metrics.certificateExpirationDate = CertificateDate.expiration(in: easy?.certificateLines ?? [])
        }
        switch easy?.number(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): metrics.protocolName = "http/1.0"
        case Int(CURL_HTTP_VERSION_1_1): metrics.protocolName = "http/1.1"
        case Int(CURL_HTTP_VERSION_2_0): metrics.protocolName = "h2"
        case Int(CURL_HTTP_VERSION_3): metrics.protocolName = "h3"
        default: break
        }
    }

    // MARK: Delivery

    var isDelivered: Bool { isEnded && held.isEmpty }

    func flush() { if !task.isPaused { deliverPending() } }

    /// Continues after a pause.
    ///
    /// - Returns: Whether the request has ended.
    func resume() -> Bool {
        while !held.isEmpty, !task.isPaused, !task.isCancelled { handler(held.removeFirst()) }
        guard held.isEmpty else { return false }
        if isHeldByPause {
            isHeldByPause = false
            easy?.resume()
        }
        return isDelivered
    }

    func continueAfterRate() {
        isHeldByRate = false
        easy?.resume()
    }

    private func finish() {
        do throws(LoadingError) {
            try body?.finish()
        } catch {
            fail(error.with(status: head.status))
            return
        }
        end(.finished(finalMetrics()))
    }

    private func fail(_ error: LoadingError) { end(.failed(error, finalMetrics())) }

    private func finalMetrics() -> TransferMetrics {
        metrics.total = context.now - startedAt
        return metrics
    }

    private func end(_ event: TransportEvent) {
        deliverPending()
        deliver(event)
        isEnded = true
    }

    private func deliverPending() {
        guard !pending.isEmpty else { return }
        lastPieceByteCount = min(pending.count, Self.pieceByteCount)
        let piece = pending
        pending = []
        deliver(.data(piece))
    }

    private func deliver(_ event: TransportEvent) {
        guard !task.isCancelled else { return }
        if task.isPaused || !held.isEmpty {
            held.append(event)
        } else {
            handler(event)
        }
    }
}

/// A protected area of a server that requires a login.
private struct ProtectedPlace: Hashable {
    var origin: URLOrigin
    var login: DigestChallenge.Login
}

extension LoadingError {
    fileprivate func with(status: Int) -> LoadingError {
        var error = self
        error.status = status
        return error
    }
}
