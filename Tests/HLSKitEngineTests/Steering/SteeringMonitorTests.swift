import HLSKitPlaylist
import Testing

@testable import HLSKitEngine

@Suite("Steering monitor")
struct SteeringMonitorTests {
    private static let base = "https://host/movie/all.m3u8"

    private static func monitor(_ uri: String = "/steer?v=1") -> SteeringMonitor {
        SteeringMonitor(ContentSteering(serverURI: uri), base: base)
    }

    private static func manifest(ttl seconds: Int, reload: String? = nil) -> SteeringManifest {
        var manifest = SteeringManifest(priority: ["A"])
        manifest.timeToLive = .seconds(seconds)
        manifest.reloadURI = reload
        return manifest
    }

    struct Request: CustomTestStringConvertible {
        var testDescription: String
        var uri: String
        var pathway: String?
        var throughput: Double?
        var url: String
    }

    static let requests: [Request] = [
        Request(testDescription: "nothing is known", uri: "/steer", url: "https://host/steer"),
        Request(
            testDescription: "both", uri: "/steer", pathway: "A", throughput: 5_140_000.7,
            url: "https://host/steer?_HLS_pathway=A&_HLS_throughput=5140000"),
        Request(
            testDescription: "beside what is there", uri: "https://s.example/?v=1&w=a%20b#x", pathway: "A",
            url: "https://s.example/?v=1&w=a%20b&_HLS_pathway=A"),
        Request(
            testDescription: "in the place of what the server repeats", uri: "/s?_HLS_throughput=1&v=1&_HLS_pathway=B",
            pathway: "A", throughput: 2, url: "https://host/s?v=1&_HLS_pathway=A&_HLS_throughput=2"),
        Request(
            testDescription: "a name that has to be coded", uri: "s", pathway: "https://a.example/&",
            url: "https://host/movie/s?_HLS_pathway=https%3A%2F%2Fa.example%2F%26"),
        Request(
            testDescription: "a throughput beyond all numbers", uri: "s", throughput: .infinity,
            url: "https://host/movie/s?_HLS_throughput=1000000000000000"),
        Request(testDescription: "no throughput", uri: "s", throughput: .nan, url: "https://host/movie/s"),
    ]

    @Test("P04: the request contains the pathway and the throughput", arguments: requests)
    func request(_ row: Request) {
        #expect(Self.monitor(row.uri).request(pathway: row.pathway, throughput: row.throughput) == row.url)
    }

    @Test("P04: the server is asked again after the TTL, at RELOAD-URI relative to the response")
    func reload() {
        var monitor = Self.monitor()
        let next = monitor.take(
            Self.manifest(ttl: 10, reload: "b/next"), from: "https://edge/a/steer?x", at: .seconds(5))
        #expect(next == .seconds(15))
        #expect(monitor.request(pathway: nil, throughput: nil) == "https://edge/a/b/next")
        #expect(monitor.take(Self.manifest(ttl: 3), from: "https://edge/a/b/next", at: .seconds(15)) == .seconds(18))
        #expect(monitor.request(pathway: nil, throughput: nil) == "https://edge/a/b/next")
    }

    struct Failure: CustomTestStringConvertible {
        var testDescription: String
        var status: Int?
        var retryAfter: Duration?
        /// The seconds until the next request, or `nil` for none.
        var wait: Int?
    }

    static let failures: [Failure] = [
        Failure(testDescription: "no answer", wait: 20),
        Failure(testDescription: "not found", status: 404, wait: 20),
        Failure(testDescription: "a server in trouble", status: 503, wait: 20),
        Failure(testDescription: "a server that says when", status: 503, retryAfter: .seconds(5), wait: 5),
        Failure(testDescription: "too many requests", status: 429, wait: 20),
        Failure(testDescription: "too many, and when", status: 429, retryAfter: .seconds(90), wait: 90),
        Failure(testDescription: "too many, and at once", status: 429, retryAfter: .zero, wait: 1),
        Failure(testDescription: "too many, and never", status: 429, retryAfter: .seconds(1 << 60), wait: 86_400),
        Failure(testDescription: "gone", status: 410, wait: nil),
        Failure(testDescription: "gone, whatever it says", status: 410, retryAfter: .seconds(1), wait: nil),
    ]

    @Test("P04: a failure keeps the last manifest, and the server is asked again", arguments: failures)
    func failure(_ row: Failure) {
        var monitor = Self.monitor()
        _ = monitor.take(Self.manifest(ttl: 20), from: nil, at: .zero)
        let failure = monitor.fail("x", status: row.status, retryAfter: row.retryAfter, at: .seconds(20))
        #expect(failure.next == row.wait.map { .seconds(20 + $0) })
        #expect((monitor.request(pathway: nil, throughput: nil) == nil) == (row.wait == nil))
        #expect((monitor.later(than: .zero) == nil) == (row.wait == nil))
    }

    @Test("P04: before any manifest, the retry comes after five minutes; the same problem is reported once")
    func first() {
        var monitor = Self.monitor()
        #expect(monitor.fail("x", at: .zero) == SteeringMonitor.Failure(next: .seconds(300), isNews: true))
        #expect(monitor.fail("x", at: .seconds(300)).isNews == false)
        #expect(monitor.fail("y", at: .seconds(600)).isNews == true)
        _ = monitor.take(Self.manifest(ttl: 20), from: nil, at: .seconds(900))
        #expect(monitor.fail("y", at: .seconds(920)).isNews == true)
    }

    @Test("P04: a fresh playlist updates the server URI, unless the server named another or is gone")
    func renew() {
        let fresh = ContentSteering(serverURI: "/steer?token=2")
        var monitor = Self.monitor("/steer?token=1")
        monitor.renew(fresh, base: "https://other/all.m3u8")
        #expect(monitor.request(pathway: nil, throughput: nil) == "https://other/steer?token=2")
        monitor.renew(nil, base: Self.base)
        #expect(monitor.request(pathway: nil, throughput: nil) == "https://other/steer?token=2")
        _ = monitor.take(Self.manifest(ttl: 10, reload: "https://host/next"), from: nil, at: .zero)
        monitor.renew(fresh, base: Self.base)
        #expect(monitor.request(pathway: nil, throughput: nil) == "https://host/next")
        _ = monitor.fail("gone", status: 410, at: .zero)
        monitor.renew(fresh, base: Self.base)
        #expect(monitor.request(pathway: nil, throughput: nil) == nil)
    }

    @Test("P04: a RELOAD-URI that is itself a manifest is read directly")
    func reloadInline() {
        var monitor = Self.monitor()
        let next = monitor.take(Self.manifest(ttl: 10, reload: "data:application/json,%7B%7D"), from: nil, at: .zero)
        #expect(next == .seconds(10))
        #expect(monitor.request(pathway: "A", throughput: 1e6) == "data:application/json,%7B%7D")
    }

    @Test("P04: an inline manifest causes a request only if it names a RELOAD-URI")
    func inline() {
        var monitor = Self.monitor("data:application/json,%7B%7D")
        #expect(monitor.inlineText == "data:application/json,%7B%7D")
        #expect(monitor.request(pathway: nil, throughput: nil) == nil)
        #expect(monitor.take(Self.manifest(ttl: 10), from: nil, at: .zero) == nil)
        #expect(monitor.take(Self.manifest(ttl: 10, reload: "/steer"), from: nil, at: .zero) == .seconds(10))
        #expect(monitor.request(pathway: nil, throughput: nil) == "https://host/steer")
    }
}
