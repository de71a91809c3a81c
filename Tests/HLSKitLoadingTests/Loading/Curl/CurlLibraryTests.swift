import HLSKitLoading
import TestSupport
import Testing

@testable import HLSKitNetwork

@Suite("libcurl, opened lazily", .timeLimit(.minutes(10)))
struct CurlLibraryTests {
    private static func without() -> CurlTransport {
        CurlTransport(configuration: TransportConfiguration(proxy: .none)) { CurlLibrary(file: "libno-curl.so.4") }
    }

    @Test("without libcurl every request fails at once and names the library and its package")
    func absent() async {
        let transport = Self.without()
        for url in ["http://127.0.0.1:1/a.m3u8", "https://example.invalid/b.m3u8"] {
            let result = await transport.load(url)
            #expect(result.error?.code == .missingLibrary)
            #expect(result.error?.text == "libno-curl.so.4 is not installed (Debian: libno-curl4)")
            #expect(result.error?.url == url)
        }
    }

    @Test("concurrent requests during the library lookup all get their response")
    func many() async {
        let transport = Self.without()
        await withTaskGroup(of: LoadingError.Code?.self) { group in
            for number in 0..<50 {
                group.addTask { await transport.load("http://127.0.0.1:1/\(number)").error?.code }
            }
            for await code in group { #expect(code == .missingLibrary) }
        }
    }

    @Test("the app's error names the missing library")
    func words() {
        let error = HLSError(
            LoadingError(
                code: .missingLibrary, url: "http://a.example/a",
                text: "libcurl.so.4 is not installed (Debian: libcurl4)"),
            as: .named)
        #expect(
            error.description
                == "a library is missing: http://a.example/a (libcurl.so.4 is not installed (Debian: libcurl4))")
        #expect((error.underlyingError as? HLSError)?.isPermanent == true)
    }

    @Test("the default libcurl is found and describes its codes")
    func present() {
        #expect(CurlLibrary.shared.failure == nil)
        #expect(CurlLibrary.shared.functions != nil)
    }
}
