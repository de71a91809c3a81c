import HLSKitLoading
import Testing

@testable import HLSKitNetwork

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
        let origin = try #require(URLOrigin(of: url))
        #expect(CurlFailure.namesAnother(than: origin, in: detail) == isOfProxy)
    }

    @Test(
        "an environment proxy is named by its variable",
        arguments: [
            (["http_proxy": "a"], "http://host/", "the proxy of http_proxy"),
            (["http_proxy": "a", "all_proxy": "b"], "https://host/", "the proxy of all_proxy"),
            (["HTTPS_PROXY": "a", "https_proxy": ""], "https://host/", "the proxy of HTTPS_PROXY"),
            (["HTTP_PROXY": "a"], "http://host/", "the proxy"),
        ])
    func variable(variables: [String: String], url: String, words: String) {
        #expect(TransportConfiguration.Proxy.environment.words(for: url) { variables[$0] } == words)
        #expect(TransportConfiguration.Proxy.url("http://proxy/").words(for: url) { variables[$0] } == "the proxy")
    }
}
