import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("App hooks in loading", .timeLimit(.minutes(10)))
struct LoadingHooksTests {
    private final class Requests: Sendable {
        private let list = Mutex<[SimulatedRequest]>([])
        var all: [SimulatedRequest] { list.withLock { $0 } }
        var classes: Set<ResourceClass> { Set(all.map(\.resourceClass)) }
        func note(_ request: SimulatedRequest) { list.withLock { $0.append(request) } }
    }

    private struct Loader: ResourceLoader {
        var schemes: Set<String> = ["app"]
        var answer: @Sendable (TransportRequest) async throws -> LoadedResource

        func load(_ request: TransportRequest) async throws -> LoadedResource { try await answer(request) }
    }

    private struct Failure: Error {}

    private static let stream = SyntheticStream(segmentCount: 3)

    private static func play(
        _ url: String = stream.urlString, stream: SyntheticStream = stream, over trace: String = "1000,50000,20\n",
        clock: VirtualClock = VirtualClock(), requests: Requests = Requests(),
        prefer: (PlayerItem) -> Void = { _ in }, _ change: (inout PlayerConfiguration) -> Void
    ) throws -> VirtualPlay {
        let transport = SimulatedTransport(over: try NetworkTrace(parsing: trace.utf8), clock: clock) { request in
            requests.note(request)
            var asked = request
            asked.urlString = String(request.urlString.prefix { $0 != "?" })
            return stream.response(to: asked)
        }
        return try VirtualPlay(url, clock: clock, transport: transport, change: change, prefer: prefer)
    }

    private static let custom = "app://synthetic.invalid/index.m3u8"

    private static func content(_ request: TransportRequest) throws -> [UInt8] {
        let url = "https" + request.urlString.dropFirst("app".count)
        let response = stream.response(to: SimulatedRequest(urlString: url, resourceClass: request.resourceClass))
        guard response.status == 200 else { throw Failure() }
        return response.body
    }

    // MARK: D03

    @Test("D03: a loader supplies playlists, maps and media for a custom scheme")
    func wholeStream() throws {
        let requests = Requests()
        let play = try Self.play(Self.custom, requests: requests) {
            $0.hooks.resourceLoader = Loader { LoadedResource(.bytes(try Self.content($0))) }
        }
        #expect(play.log.decisions.last == "played to end", "\(play.log.text)")
        #expect(requests.all.isEmpty, "nothing went over the network")
    }

    @Test("D03: pieces of a byte stream are used as they arrive")
    func streamed() throws {
        let play = try Self.play(Self.custom) {
            $0.hooks.resourceLoader = Loader { request in
                let bytes = try Self.content(request)
                return LoadedResource(
                    .stream(
                        AsyncThrowingStream { continuation in
                            var rest = bytes[...]
                            while !rest.isEmpty {
                                continuation.yield(Array(rest.prefix(5000)))
                                rest = rest.dropFirst(5000)
                            }
                            continuation.finish()
                        }))
            }
        }
        #expect(play.log.decisions.last == "played to end", "\(play.log.text)")
    }

    @Test("D03: a rewritten playlist may lead back to the network, by its own URL or by a redirect")
    func backToTheNetwork() throws {
        let answers: [@Sendable (TransportRequest) throws -> LoadedResource] = [
            { LoadedResource(.bytes(try Self.content($0)), urlString: Self.stream.urlString) },
            { _ in LoadedResource(.redirect(Self.stream.urlString)) },
        ]
        for answer in answers {
            let requests = Requests()
            let play = try Self.play(Self.custom, requests: requests) {
                $0.hooks.resourceLoader = Loader { try answer($0) }
            }
            #expect(play.log.decisions.last == "played to end", "\(play.log.text)")
            #expect(requests.classes.isSuperset(of: [.mediaPlaylist, .segment, .initializationSection]))
        }
    }

    @Test("D03: an unresponsive loader fails at its deadline, and the error names the URL")
    func deadline() throws {
        let clock = VirtualClock()
        let play = try Self.play(Self.custom, clock: clock) {
            $0.retryPolicies.maximumRetryCount = 0
            $0.hooks.resourceLoader = Loader { _ in
                try await clock.sleep(for: .seconds(100_000))
                return LoadedResource(.bytes([]))
            }
        }
        #expect(play.log.text.contains("network: timed out \(Self.custom)") || play.state.itemStatus == .failed)
        #expect(play.duration == .seconds(10))
    }

    @Test("D03: an error thrown by a loader ends the item at once, without a retry")
    func failure() throws {
        let count = Mutex(0)
        let play = try Self.play(Self.custom) {
            $0.hooks.resourceLoader = Loader { _ in
                count.withLock { $0 += 1 }
                throw Failure()
            }
        }
        #expect(play.state.itemStatus == .failed)
        #expect(count.withLock { $0 } == 1)
        #expect(play.duration < .seconds(1))
    }

    @Test("R55, R56: unclaimed schemes stay refused, and a loader's playlist cannot reference files")
    func refused() throws {
        let alone = try Self.play(Self.custom) { _ in }
        #expect(alone.state.itemStatus == .failed)
        let target = "file:///etc/passwd"
        for url in [target, "ftp://host/a", "data:,x"] {
            let play = try Self.play(Self.custom) {
                $0.hooks.resourceLoader = Loader { _ in LoadedResource(.redirect(url)) }
            }
            #expect(play.state.itemStatus == .failed, "\(url)")
            #expect(play.duration < .seconds(1), "no second try")
        }
        let requests = Requests()
        let play = try Self.play(requests: requests) {
            $0.hooks.resourceLoader = Loader(schemes: ["https", "file"]) { _ in throw Failure() }
        }
        #expect(play.log.decisions.last == "played to end")
        #expect(!requests.all.isEmpty)
    }

    // MARK: D02

    @Test("D02: the request policy sees every class of request and changes URLs")
    func requestPolicy() throws {
        let requests = Requests()
        let play = try Self.play(requests: requests) {
            $0.hooks.requestPolicy = RequestPolicy { request in
                var request = request
                request.urlString += "?class=\(request.resourceClass.rawValue)"
                return request
            }
        }
        #expect(play.log.decisions.last == "played to end", "\(play.log.text)")
        #expect(requests.classes == [.multivariantPlaylist, .mediaPlaylist, .initializationSection, .segment])
        for request in requests.all { #expect(request.urlString.hasSuffix("?class=\(request.resourceClass.rawValue)")) }
    }

    @Test("D02: a throwing policy refuses the request; its URLs are checked like a playlist's")
    func policyRefusal() throws {
        let requests = Requests()
        let refused = try Self.play(requests: requests) {
            $0.hooks.requestPolicy = RequestPolicy { _ in throw Failure() }
        }
        #expect(refused.state.itemStatus == .failed)
        #expect(requests.all.isEmpty)
        for url in ["file:///etc/passwd", "gopher://host/"] {
            let play = try Self.play(requests: requests) {
                $0.hooks.requestPolicy = RequestPolicy { request in
                    var request = request
                    request.urlString = url
                    return request
                }
            }
            #expect(play.state.itemStatus == .failed)
        }
        #expect(requests.all.isEmpty)
    }

    // MARK: Multivariant playlists

    @Test("E14: a multivariant playlist is transformed once, before a variant is chosen")
    func transform() throws {
        let count = Mutex(0)
        let play = try Self.play {
            $0.hooks.transformMultivariant = { playlist in
                count.withLock { $0 += 1 }
                var playlist = playlist
                playlist.variants.removeAll { $0.bandwidth < 2_000_000 }
                return playlist
            }
        }
        #expect(play.log.decisions.last == "played to end", "\(play.log.text)")
        #expect(count.withLock { $0 } == 1)
        #expect(play.state.statistics.numberOfVariantSwitches <= 1)
        #expect((play.state.variant?.peakBitRate ?? 0) >= 2_000_000)
    }

    @Test("E13, E14: a variant stays pinned if the app reorders and removes variants")
    func pinnedInTransformed() throws {
        let first = try Self.play {
            $0.hooks.transformMultivariant = { playlist in
                var playlist = playlist
                playlist.variants.removeAll { $0.bandwidth < 500_000 || $0.bandwidth > 2_000_000 }
                return playlist
            }
        }
        let pinned = try #require(first.state.variant)
        let second = try Self.play(prefer: { $0.variantPolicy = .pinned(pinned.id) }) {
            $0.hooks.transformMultivariant = { playlist in
                var playlist = playlist
                playlist.variants.reverse()
                playlist.variants.removeLast()
                return playlist
            }
        }
        #expect(pinned.index == 0)
        #expect(second.state.variant?.index == 2)
        #expect(second.state.variant?.id == pinned.id)
        #expect(second.state.variant?.peakBitRate == pinned.peakBitRate)
        #expect(second.state.statistics.numberOfVariantSwitches == 0)
        #expect(second.log.decisions.last == "played to end")
    }

    @Test("the same hooks give the same events, byte for byte")
    func determinism() throws {
        func run() throws -> String {
            let clock = VirtualClock()
            return try Self.play(Self.custom, clock: clock) {
                $0.hooks.resourceLoader = Loader { request in
                    try await clock.sleep(for: .milliseconds(30))
                    return LoadedResource(.bytes(try Self.content(request)))
                }
                $0.hooks.requestPolicy = RequestPolicy { request in
                    try await clock.sleep(for: .milliseconds(7))
                    return request
                }
            }.log.text
        }
        let first = try run()
        let second = try run()
        #expect(first == second)
        #expect(first.contains("played to end"))
    }

    // MARK: Bandwidth

    @Test("E12: a second player starts with the first one's known variant; the history can be stored")
    func bandwidthHistory() throws {
        let history = BandwidthHistory()
        func run(_ history: BandwidthHistory, at seconds: Int64) throws -> VirtualPlay {
            try Self.play(stream: SyntheticStream(segmentCount: 10)) {
                $0.bandwidthHistory = history
                $0.wallClock = { PlaylistDate(seconds: seconds) }
            }
        }
        func firstVariant(_ play: VirtualPlay) -> String? {
            play.log.decisions.first { $0.hasPrefix("variant none -> ") }
        }
        let first = try run(history, at: 1_000_000)
        #expect(firstVariant(first) == "variant none -> 0", "the first of the playlist: nothing is known")
        #expect(history.estimates.entries.keys.sorted() == ["synthetic.invalid"])
        let second = try run(history, at: 1_003_600)
        #expect(firstVariant(second) == "variant none -> 3")
        let tooLate = try run(BandwidthHistory(history.estimates), at: 1_003_600 + 100_000)
        #expect(firstVariant(tooLate) == "variant none -> 0", "what was measured yesterday says nothing")
    }
}
