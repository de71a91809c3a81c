import Testing

@testable import HLSKitCore

@Suite("Failures of libcurl")
struct CurlFailureTests {
    @Test(
        "a failed connection to a proxy is distinguished from one to the server",
        arguments: [
            (
                "Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server", "http://127.0.0.1:1/",
                false
            ),
            (
                "Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect to server",
                "http://127.0.0.1:1/", true
            ),
            ("Failed to connect to proxy.example port 443 after 9 ms: x", "https://host.example/", true),
            ("Failed to connect to ::1 port 80 after 0 ms: x", "http://[::1]/", false),
            ("other words", "http://host/", false), ("Failed to connect to", "http://host/", false),
        ])
    func proxy(detail: String, url: String, isOfProxy: Bool) throws {
        let origin = try #require(Origin(of: url))
        #expect(CurlFailure.namesAnother(than: origin, in: detail) == isOfProxy)
    }
}
