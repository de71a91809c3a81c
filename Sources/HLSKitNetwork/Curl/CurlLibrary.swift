import CCurl
import HLSKitLoading
import Synchronization

/// libcurl, opened when the first request goes to the network (docs/contributing/decisions/loading-libraries.md).
package struct CurlLibrary: @unchecked Sendable {  // the table is never written again
    /// Its functions; nil if it is not there or does not start.
    let functions: CCurl_library?
    /// Why there are none.
    let failure: LibraryFailure?

    /// Why nothing can be loaded: a code of a ``LoadingError``, and words.
    struct LibraryFailure {
        var code: LoadingError.Code
        var text: String
    }

    /// That of the program. Whoever asks first waits until it is open.
    static let shared = CurlLibrary()

    init(file: UnsafePointer<CChar> = CCurl_file()) {
        let library = LibraryFunctions(file, find: CCurl_find)
        // Not thread-safe in libcurl before 7.84 and harmless after it; static members are made once.
        let isReady = library.table?.pointee.curl_global_init(CCurl_global_all) == CURLE_OK
        functions = isReady ? library.table : nil
        failure =
            if let text = library.failure {
                LibraryFailure(code: .missingLibrary, text: text)
            } else if !isReady {
                LibraryFailure(code: .transport, text: "libcurl cannot start")
            } else {
                nil
            }
    }

    /// The words for a code.
    static func words(for code: CURLcode) -> String {
        shared.functions?.pointee.curl_easy_strerror(code).map { String(cString: $0) } ?? ""
    }

    // MARK: Opening it early

    private static let isExpected = Atomic<Bool>(false)

    /// There is a transport: requests may follow.
    static func expect() { isExpected.store(true, ordering: .relaxed) }

    /// Opens it now if requests may follow.
    package static func openIfExpected() {
        if isExpected.load(ordering: .relaxed) { _ = shared }
    }
}
