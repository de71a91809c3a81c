import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("Deadlines and retries of one class of resources", .timeLimit(.minutes(10)))
struct ResourceClassTests {
    private static let keyLine = #"#EXT-X-KEY:METHOD=AES-128,URI="https://synthetic.invalid/k.key""#

    private static func answer(_ request: SimulatedRequest, silent: ResourceClass) -> SimulatedResponse {
        let stream = SyntheticStream(bitRates: [400_000], segmentDuration: .seconds(4), segmentCount: 10)
        var response = stream.response(to: request)
        if silent == .key, request.resourceClass == .mediaPlaylist {
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(
                text.replacing("#EXT-X-MEDIA-SEQUENCE", with: keyLine + "\n#EXT-X-MEDIA-SEQUENCE").utf8)
        }
        if request.resourceClass == silent { response.delay = .seconds(100_000) }
        return response
    }

    /// Returns the times of the requests for one resource of a class that never gets a response, and the requests of
    /// all classes.
    private static func play(
        silent: ResourceClass, _ change: (inout PlayerConfiguration) -> Void
    ) throws -> (times: [Duration], counts: [ResourceClass: Int]) {
        let clock = VirtualClock()
        let requests = Mutex<[SimulatedRequest]>([])
        let trace = try NetworkTrace(parsing: VirtualQueue.fastLink.utf8)
        let transport = SimulatedTransport(over: trace, clock: clock) { request in
            requests.withLock { $0.append(request) }
            return answer(request, silent: silent)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.timeouts.firstByte = .seconds(7)
        configuration.retryPolicies = RetryPolicies(delays: [.seconds(1)], jitter: 0, maximumRetryCount: 1)
        change(&configuration)
        let player = Player(configuration: configuration)
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: "https://synthetic.invalid/index.m3u8"))
        clock.advance(by: .seconds(200))
        try clock.run { await player.close() }
        let made = requests.withLock { $0 }
        let first = made.first { $0.resourceClass == silent }
        return (
            made.filter { $0.urlString == first?.urlString && $0.resourceClass == silent }.map(\.time),
            Dictionary(grouping: made, by: \.resourceClass).mapValues(\.count)
        )
    }

    private static func waits(_ times: [Duration]) -> [Int] {
        zip(times, times.dropFirst()).map { Int((($1 - $0) / .seconds(1)).rounded()) }
    }

    private static let classes: [ResourceClass] = [
        .multivariantPlaylist, .mediaPlaylist, .initializationSection, .segment, .key,
    ]

    @Test("D04: a class has its own deadline, delays and attempts, as seen by the origin", arguments: classes)
    func own(_ silent: ResourceClass) throws {
        let found = try Self.play(silent: silent) { configuration in
            configuration.timeouts[silent].firstByte = .seconds(2)
            configuration.retryPolicies[silent].delays = [.seconds(3)]
            configuration.retryPolicies[silent].maximumRetryCount = 2
        }
        #expect(found.times.count == 3, "\(found.counts)")
        #expect(Self.waits(found.times) == [5, 5])
    }

    @Test("D04: settings of another class change nothing", arguments: classes)
    func others(_ silent: ResourceClass) throws {
        let found = try Self.play(silent: silent) { configuration in
            for other in Self.classes where other != silent {
                configuration.timeouts[other].firstByte = .seconds(2)
                configuration.retryPolicies[other].delays = [.seconds(3)]
                configuration.retryPolicies[other].maximumRetryCount = 4
            }
        }
        #expect(found.times.count == 2, "\(found.counts)")
        #expect(Self.waits(found.times) == [8])
    }
}
