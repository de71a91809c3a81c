import CCurl
import HLSKitLoading
import Synchronization

/// libcurl, which is opened with the first network request.
package struct CurlLibrary: @unchecked Sendable {  // the table is never written again
    let functions: CCurl_library?
    let failure: LibraryFailure?

    /// The reason why no request can be made: the code of a ``LoadingError`` and a message.
    struct LibraryFailure {
        var code: LoadingError.Code
        var text: String
    }

    /// The library of this process. The first caller waits until it is open.
    static let shared = CurlLibrary()

    init(file: UnsafePointer<CChar> = CCurl_file()) {
        let library = LibraryFunctions(file, find: CCurl_find)
        // Not thread-safe in libcurl before 7.84 and harmless in later versions. A static member is initialized only
        // once.
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

    static func words(for code: CURLcode) -> String {
        shared.functions?.pointee.curl_easy_strerror(code).map { String(cString: $0) } ?? ""
    }

    // MARK: Opening it early

    private static let isExpected = Atomic<Bool>(false)

    /// There is a transport: requests may follow.
    static func expect() { isExpected.store(true, ordering: .relaxed) }

    package static func openIfExpected() {
        if isExpected.load(ordering: .relaxed) { _ = shared }
    }
}
