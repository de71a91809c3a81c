import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitLoading

@Suite("App hooks in the transport", .timeLimit(.minutes(10)))
struct HookedTransportTests {
    private struct Keys: KeyProvider {
        var keyFormats: Set<String> = ["com.example"]
        var keys: [String: [UInt8]]
        func key(for request: ContentKeyRequest) async throws -> ContentKey? {
            keys[request.urlString].map { ContentKey($0) }
        }
    }

    /// A key provider that gives its answers in order, repeats the last one, and records the reasons of requests.
    /// Without answers it never returns.
    private final class Script: KeyProvider {
        let keyFormats: Set<String> = ["com.example"]
        private let answers: [ContentKey]
        private let asked = Mutex<[ContentKeyRequest.Reason]>([])

        init(_ answers: [ContentKey]) { self.answers = answers }

        var reasons: [ContentKeyRequest.Reason] { asked.withLock { $0 } }

        func key(for request: ContentKeyRequest) async throws -> ContentKey? {
            let count = asked.withLock { asked in
                asked.append(request.reason)
                return asked.count
            }
            if answers.isEmpty { try await Task.sleep(for: .seconds(86_400)) }
            return answers[min(count, answers.count) - 1]
        }
    }

    private struct Loader: ResourceLoader {
        var schemes: Set<String> { ["app"] }
        var resource: LoadedResource
        func load(_ request: TransportRequest) async throws -> LoadedResource { resource }
    }

    private static func transport(
        clock: any Clock<Duration> = ContinuousClock(), _ change: (inout LoadingHooks) -> Void
    ) -> HookedTransport {
        var hooks = LoadingHooks()
        change(&hooks)
        var policy = ResourcePolicy()
        hooks.admit(to: &policy)
        return HookedTransport(
            TableTransport(texts: ["https://host/k": "from the network"]), hooks: hooks, policy: policy,
            itemURL: "https://host/main.m3u8", clock: clock)
    }

    private static func key(_ url: String, format: String?) -> TransportRequest {
        var request = TransportRequest(urlString: url, resourceClass: .key, maximumByteCount: 4096)
        request.keyFormat = format
        return request
    }

    @Test("N04: a provider supplies its systems' keys; unknown keys are requested from the network")
    func keys() async {
        let secret = [UInt8](repeating: 9, count: 16)
        let transport = Self.transport { $0.keyProviders = [Keys(keys: ["skd://asset": secret])] }
        let given = await transport.load(Self.key("skd://asset", format: "com.example"))
        #expect(given.bytes == secret)
        #expect(given.violations.isEmpty)
        let identity = await transport.load(Self.key("https://host/k", format: nil))
        #expect(identity.bytes == Array("from the network".utf8))
        let other = await transport.load(Self.key("https://host/k", format: "com.example"))
        #expect(other.bytes == Array("from the network".utf8))
    }

    @Test("N04: a key that is expired on arrival is requested once more, and then refused")
    func expiredLease() async {
        let key = [UInt8](repeating: 9, count: 16)
        let (old, new) = (ContentKey(key, expirationInterval: .zero), ContentKey(key, expirationInterval: .seconds(60)))
        let fixed = Script([old, new])
        let result = await Self.transport { $0.keyProviders = [fixed] }.load(
            Self.key("skd://a", format: "com.example"))
        #expect(result.bytes == key)
        #expect(result.response?.keyTerms?.expiration == .seconds(60))
        #expect(fixed.reasons == [.needed, .receivedResponseWithExpiredLease])
        let stuck = Script([old])
        let refused = await Self.transport { $0.keyProviders = [stuck] }.load(
            Self.key("skd://a", format: "com.example"))
        #expect(refused.error?.code == .application)
        #expect(stuck.reasons.count == 2)
    }

    @Test("N04: a provider that timed out is asked again with that reason, then with its own")
    func timedOut() async throws {
        let clock = VirtualClock()
        let provider = Script([])
        let transport = Self.transport(clock: clock) { $0.keyProviders = [provider] }
        try clock.run {
            for _ in 0..<2 {
                let result = await transport.load(Self.key("skd://a", format: "com.example"))
                #expect(result.error?.code == .timedOut)
            }
        }
        #expect(clock.now.offset == .seconds(20))
        #expect(provider.reasons == [.needed, .timedOut])
    }

    private final class Passing: KeyProvider {
        let keyFormats: Set<String> = ["com.example"]
        private let asked = Mutex<[ContentKeyRequest.Reason]>([])
        var reasons: [ContentKeyRequest.Reason] { asked.withLock { $0 } }

        func key(for request: ContentKeyRequest) async throws -> ContentKey? {
            asked.withLock { $0.append(request.reason) }
            return nil
        }
    }

    @Test("N04: every provider gets the reason of a request")
    func sameReason() async throws {
        let clock = VirtualClock()
        let (first, second) = (Passing(), Script([]))
        let transport = Self.transport(clock: clock) { $0.keyProviders = [first, second] }
        try clock.run {
            for _ in 0..<2 { _ = await transport.load(Self.key("skd://a", format: "com.example")) }
        }
        #expect(first.reasons == [.needed, .timedOut])
        #expect(second.reasons == [.needed, .timedOut])
    }

    @Test("N05: a key override is used without a request, and its URL may be any")
    func override() async {
        let key = [UInt8](repeating: 7, count: 16)
        let provider = Script([ContentKey([UInt8](repeating: 1, count: 16))])
        let transport = Self.transport {
            $0.keyProviders = [provider]
            $0.keyOverride = ContentKeyOverride(key: key)
        }
        #expect(await transport.load(Self.key("skd://a", format: "com.example")).bytes == key)
        #expect(await transport.load(Self.key("https://host/k", format: nil)).bytes == key)
        #expect(provider.reasons.isEmpty)
    }

    @Test("N04: the bytes of a data: URI are the initialization data of a key system")
    func initializationData() {
        let request = ContentKeyRequest(
            url: "data:text/plain;base64,AAECAw==", keyFormat: "com.example", itemURL: "https://host/main.m3u8")
        #expect(request.initializationData == [0, 1, 2, 3])
        #expect(request.reason == .needed)
        let other = ContentKeyRequest(url: "skd://a", keyFormat: "com.example", itemURL: "")
        #expect(other.initializationData == nil)
    }

    @Test("D03: a key from a loader may need a renewal")
    func loadedKey() async {
        var resource = LoadedResource(.bytes([UInt8](repeating: 3, count: 16)))
        resource.renewalInterval = .seconds(30)
        let answer = resource
        let transport = Self.transport { $0.resourceLoader = Loader(resource: answer) }
        let key = await transport.load(Self.key("app://a/k", format: nil))
        #expect(key.response?.keyTerms == KeyTerms(renewal: .seconds(30)))
        #expect(await transport.load("app://a/b").response?.keyTerms == nil, "segments are what they are")
    }

    struct Range: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var isWhole: Bool
        var range: Swift.Range<UInt64>?
        var bytes: [UInt8]?
    }

    static let ranges = [
        Range(testDescription: "all", isWhole: true, range: nil, bytes: Array(0..<100)),
        Range(testDescription: "cut out", isWhole: true, range: 10..<20, bytes: Array(10..<20)),
        Range(testDescription: "cut already", isWhole: false, range: 10..<110, bytes: Array(0..<100)),
        Range(testDescription: "beyond the end", isWhole: true, range: 90..<110, bytes: nil),
    ]

    @Test("D03: byte ranges of a loader's data are served, whole or in pieces", arguments: ranges)
    func byteRanges(_ test: Range) async {
        let bytes = [UInt8](0..<100)
        let contents: [@Sendable () -> LoadedResource.Content] = [
            { .bytes(bytes) },
            {
                .stream(
                    AsyncThrowingStream { continuation in
                        for start in stride(from: 0, to: 100, by: 7) {
                            continuation.yield(Array(bytes[start..<min(100, start + 7)]))
                        }
                        continuation.finish()
                    })
            },
        ]
        for content in contents {
            var resource = LoadedResource(content())
            resource.isWhole = test.isWhole
            let answer = resource
            let transport = Self.transport { $0.resourceLoader = Loader(resource: answer) }
            let result = await transport.load(
                TransportRequest(urlString: "app://a/b", resourceClass: .segment, byteRange: test.range))
            if let bytes = test.bytes {
                #expect(result.bytes == bytes)
                #expect(result.error == nil)
            } else {
                #expect(result.error?.code == .badRange)
                #expect(result.error?.url == "app://a/b")
            }
            #expect(result.violations.isEmpty)
        }
    }

    @Test("R28: size limits apply to a loader's data; empty data is a failure")
    func sizes() async {
        let large = Self.transport { $0.resourceLoader = Loader(resource: LoadedResource(.bytes(Array(0..<200)))) }
        let result = await large.load(
            TransportRequest(urlString: "app://a/b", resourceClass: .key, maximumByteCount: 100))
        #expect(result.error?.code == .tooLarge)
        let empty = Self.transport { $0.resourceLoader = Loader(resource: LoadedResource(.bytes([]))) }
        #expect(await empty.load("app://a/b").error?.code == .emptyBody)
        let looping = Self.transport { $0.resourceLoader = Loader(resource: LoadedResource(.redirect("app://a/b"))) }
        #expect(await looping.load("app://a/b").error?.code == .tooManyRedirects)
    }
}
