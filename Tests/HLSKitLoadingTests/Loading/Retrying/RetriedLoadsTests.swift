import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@Suite("Retries without an engine", .timeLimit(.minutes(10)))
struct RetriedLoadsTests {
    private static let url = "https://a.example/list.m3u8"
    private static let segment = "https://a.example/1.ts"

    enum Loader: CaseIterable, Sendable {
        case asset, playlistLoader
    }

    private static func status(_ status: Int, retryAfter: Duration? = nil) -> LoadingError {
        LoadingError(code: .httpStatus, url: segment, status: status, retryAfter: retryAfter, text: "HTTP \(status)")
    }

    private static func error(_ code: LoadingError.Code) -> LoadingError {
        LoadingError(code: code, url: segment, text: code.rawValue)
    }

    private static func times(
        _ loader: Loader, _ error: LoadingError, _ policies: RetryPolicies, seed: UInt64 = 0
    ) throws -> [Duration] {
        let clock = VirtualClock()
        let transport = TimedTransport(clock) { _ in .failure(error) }
        try clock.run {
            do {
                switch loader {
                case .asset:
                    var options = AssetOptions(clock: clock, transport: transport)
                    options.retryPolicies = policies
                    options.seed = seed
                    let client = ResourceClient(url: url, options: options)
                    _ = try await client.bytes(segment, .segment, limit: 100, namedBy: url)
                case .playlistLoader:
                    var configuration = PlayerConfiguration(transport: transport)
                    configuration.sourceClock = SourceClock(clock)
                    configuration.retryPolicies = policies
                    configuration.seed = seed
                    _ = try await PlaylistLoader(urlString: url, configuration: configuration).byteCount(
                        of: segment, namedBy: url)
                }
                Issue.record("it cannot succeed")
            } catch is HLSError {}
        }
        return transport.times
    }

    private static func seconds(_ values: Double...) -> [Duration] {
        values.map { .milliseconds(Int64($0 * 1000)) }
    }

    @Test("delays follow the policies while the budget lasts", arguments: Loader.allCases)
    func delays(_ loader: Loader) throws {
        let policies = RetryPolicies(delays: Self.seconds(1, 3), jitter: 0, budget: .seconds(12))
        #expect(try Self.times(loader, Self.error(.timedOut), policies) == Self.seconds(0, 1, 4, 7, 10))
    }

    @Test("jitter makes waits longer or shorter, by seed", arguments: Loader.allCases)
    func jitter(_ loader: Loader) throws {
        let policies = RetryPolicies(delays: [.seconds(4)], jitter: 0.5, budget: .seconds(100))
        let times = try Self.times(loader, Self.status(503), policies, seed: 1)
        let waits = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(waits.allSatisfy { (.seconds(2)...Duration.seconds(6)).contains($0) })
        #expect(Set(waits).count > 10)
        #expect(try Self.times(loader, Self.status(503), policies, seed: 1) == times)
        #expect(try Self.times(loader, Self.status(503), policies, seed: 2) != times)
    }

    @Test("a missing resource is requested once more, after its own delay", arguments: Loader.allCases)
    func absent(_ loader: Loader) throws {
        let policies = RetryPolicies(secondAttemptDelay: .seconds(2))
        for error in [Self.status(404), Self.status(403), Self.error(.badRange)] {
            #expect(try Self.times(loader, error, policies) == Self.seconds(0, 2))
        }
        let three = RetryPolicies(secondAttemptDelay: .seconds(2), attemptsPerVariant: 3)
        #expect(try Self.times(loader, Self.status(404), three) == Self.seconds(0, 2, 4))
    }

    @Test("Retry-After is obeyed within a limit", arguments: Loader.allCases)
    func retryAfter(_ loader: Loader) throws {
        let policies = RetryPolicies(jitter: 0, maximumRetryAfter: .seconds(5))
        let soon = Self.status(429, retryAfter: .seconds(3))
        #expect(try Self.times(loader, soon, policies) == Self.seconds(0, 3, 6, 9, 12, 15, 18))
        let late = Self.status(503, retryAfter: .seconds(3600))
        #expect(try Self.times(loader, late, policies) == Self.seconds(0, 5, 10, 15, 20))
    }

    @Test("the policies limit the number of attempts", arguments: Loader.allCases)
    func count(_ loader: Loader) throws {
        let policies = RetryPolicies(jitter: 0, maximumRetryCount: 2)
        #expect(try Self.times(loader, Self.error(.connectionLost), policies) == Self.seconds(0, 0.5, 1.5))
        #expect(try Self.times(loader, Self.status(404), RetryPolicies(maximumRetryCount: 0)) == [.zero])
    }

    @Test(
        "permanent failures are not retried",
        arguments: [
            LoadingError.Code.untrustedCertificate, .tooManyRedirects, .tooLarge, .refused, .badURL, .fileNotFound,
            .fileNotReadable, .badMedia, .application, .missingLibrary,
        ])
    func permanent(_ code: LoadingError.Code) throws {
        for loader in Loader.allCases {
            #expect(try Self.times(loader, Self.error(code), RetryPolicies()) == [.zero])
        }
    }

    @Test("failed requests in 5 s stay within the limit, and the total ends the retries")
    func rateLimit() throws {
        let clock = VirtualClock()
        let transport = TimedTransport(clock) { _ in .failure(Self.status(404)) }
        var options = AssetOptions(clock: clock, transport: transport)
        options.retryPolicies = RetryPolicies(
            secondAttemptDelay: .zero, unsuccessfulRequestLimit: 20, unsuccessfulRequestTotal: 100)
        let client = ResourceClient(url: Self.url, options: options)
        try clock.run {
            for number in 0..<80 {
                _ = try? await client.bytes("https://a.example/\(number).ts", .segment, limit: 9, namedBy: Self.url)
            }
        }
        let times = transport.times
        // The first fifty segments are requested twice, which uses up the total. The other thirty are requested once.
        #expect(times.count == 100 + 30, "\(times.count)")
        for (first, last) in zip(times, times.dropFirst(20)) { #expect(last - first >= .seconds(5)) }
    }

    @Test("a delivered segment forgives failed requests")
    func forgiveness() throws {
        let clock = VirtualClock()
        let transport = TimedTransport(clock) { request in
            request.urlString.hasSuffix("0.ts") ? .success([1]) : .failure(Self.status(404))
        }
        var options = AssetOptions(clock: clock, transport: transport)
        options.retryPolicies = RetryPolicies(unsuccessfulRequestTotal: 30)
        let client = ResourceClient(url: Self.url, options: options)
        try clock.run {
            for number in 0..<60 {
                _ = try? await client.bytes("https://a.example/\(number).ts", .segment, limit: 9, namedBy: Self.url)
            }
        }
        #expect(transport.times.count == 6 + 2 * 54)
    }

    @Test("damaged media is requested once more; a file that the user named fails at once")
    func damage() throws {
        for (source, expected) in [(Self.url, 2), (nil, 1)] {
            let clock = VirtualClock()
            let transport = TimedTransport(clock) { _ in .success([1, 2, 3]) }
            let client = ResourceClient(url: Self.url, options: AssetOptions(clock: clock, transport: transport))
            _ = try clock.run {
                await #expect(throws: HLSError.self) {
                    try await client.load(Self.segment, .segment, limit: 100, namedBy: source) { Refusing() }
                }
            }
            #expect(transport.times.count == expected)
        }
    }

    @Test("an asset's property is retried like a player's playlist")
    func asset() throws {
        let clock = VirtualClock()
        let transport = TimedTransport(clock) { request in
            if request.urlString == Self.url {
                return .success(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n".utf8))
            }
            return .failure(Self.status(404))
        }
        var options = AssetOptions(clock: clock, transport: transport)
        options.retryPolicies.secondAttemptDelay = .seconds(3)
        let asset = Asset(urlString: Self.url, options: options)
        let error = try clock.run { await #expect(throws: HLSError.self) { try await asset.load(.duration) } }
        #expect(transport.times == Self.seconds(0, 0, 3))
        #expect(error?.attempt == 2)
    }

    private struct Refusing: ResourceReader {
        mutating func begin(_ response: TransportResponse) {}
        mutating func take(_ bytes: [UInt8]) throws -> Void? { nil }
        mutating func finish() throws { throw MediaError(code: .malformed, text: "damaged") }
    }
}

private final class TimedTransport: ResourceTransport {
    private final class Request: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }

    private let clock: VirtualClock
    private let answer: @Sendable (TransportRequest) -> Result<[UInt8], LoadingError>
    private let noted = Mutex<[Duration]>([])

    init(_ clock: VirtualClock, answer: @escaping @Sendable (TransportRequest) -> Result<[UInt8], LoadingError>) {
        self.clock = clock
        self.answer = answer
    }

    var times: [Duration] { noted.withLock { $0 } }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        noted.withLock { $0.append(clock.now.offset) }
        let result = answer(request)
        Task(executorPreference: clock) {
            switch result {
            case .success(let bytes):
                handler(
                    .response(TransportResponse(status: 200, urlString: request.urlString, contentLength: bytes.count)))
                handler(.data(bytes))
                handler(.finished(TransferMetrics()))
            case .failure(let error): handler(.failed(error, TransferMetrics()))
            }
        }
        return Request()
    }
}
