import HLSPlaylist
import Testing

@testable import HLSKitCore

@Suite("the program's transport", .timeLimit(.minutes(1)))
struct HookedTransportTests {
    private struct Keys: KeyProvider {
        var keyFormats: Set<String> = ["com.example"]
        var keys: [String: [UInt8]]
        func key(for request: ContentKeyRequest) async throws -> [UInt8]? { keys[request.url] }
    }

    private struct Loader: ResourceLoader {
        var schemes: Set<String> { ["app"] }
        var resource: LoadedResource
        func load(_ request: TransportRequest) async throws -> LoadedResource { resource }
    }

    private static func transport(_ change: (inout LoadingHooks) -> Void) -> HookedTransport {
        var hooks = LoadingHooks()
        change(&hooks)
        var policy = ResourcePolicy()
        hooks.admit(to: &policy)
        return HookedTransport(
            TableTransport(texts: ["https://host/k": "from the network"]), hooks: hooks, policy: policy,
            itemURL: "https://host/main.m3u8", clock: ContinuousClock())
    }

    private static func key(_ url: String, format: String?) -> TransportRequest {
        var request = TransportRequest(url: url, resourceClass: .key, maximumByteCount: 4096)
        request.keyFormat = format
        return request
    }

    @Test("N04: a provider gives the keys of its systems; what it does not know the network is asked for")
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

    @Test("D03: byte ranges of what a loader gives, whole or in pieces", arguments: ranges)
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
                TransportRequest(url: "app://a/b", resourceClass: .segment, byteRange: test.range))
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

    @Test("R28: the limits of size hold for what a loader gives; nothing at all is a failure")
    func sizes() async {
        let large = Self.transport { $0.resourceLoader = Loader(resource: LoadedResource(.bytes(Array(0..<200)))) }
        let result = await large.load(
            TransportRequest(url: "app://a/b", resourceClass: .key, maximumByteCount: 100))
        #expect(result.error?.code == .tooLarge)
        let empty = Self.transport { $0.resourceLoader = Loader(resource: LoadedResource(.bytes([]))) }
        #expect(await empty.load("app://a/b").error?.code == .emptyBody)
        let looping = Self.transport { $0.resourceLoader = Loader(resource: LoadedResource(.redirect("app://a/b"))) }
        #expect(await looping.load("app://a/b").error?.code == .tooManyRedirects)
    }
}
