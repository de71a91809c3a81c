import CCurl
import Glibc
import HLSKitLoading

struct CurlFailure: Error {
    var code: CURLcode
    /// The contents of libcurl's error buffer, which are more exact than the message of the code.
    var detail = ""

    /// `curl 6: Could not resolve host: example.invalid`.
    var text: String {
        if [CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST].contains(code), Self.lacksDescriptors {
            return "too many open files"
        }
        let words = detail.isEmpty ? CurlLibrary.words(for: code) : detail
        return "curl \(code.rawValue): \(words)"
    }

    /// libcurl does not report why it could not open a socket.
    private static var lacksDescriptors: Bool {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    /// Whether the connection to a proxy failed, rather than the connection to `origin`.
    func isOfProxy(for origin: URLOrigin?) -> Bool {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return true
        case CURLE_COULDNT_CONNECT: return origin.map { Self.namesAnother(than: $0, in: detail) } ?? false
        default: return false
        }
    }

    /// Whether libcurl's message names another server: `Failed to connect to HOST port NUMBER after …`.
    static func namesAnother(than origin: URLOrigin, in words: String) -> Bool {
        guard let start = words.firstRange(of: "Failed to connect to ") else { return false }
        let words = words[start.upperBound...].split(separator: " ")
        guard words.count > 2, words[1] == "port" else { return false }
        let host = words[0].filter { !"[]".contains($0) }.lowercased()
        return host != origin.host.filter { !"[]".contains($0) }.lowercased() || words[2] != "\(origin.port)"
    }

    /// The code of a failed transfer.
    ///
    /// - Parameter isHeaderComplete: Whether the header has arrived. Before that, an out-of-memory error means that a
    ///   header line exceeds libcurl's limit (100 KiB).
    func loadingCode(isHeaderComplete: Bool) -> LoadingError.Code {
        switch code {
        case CURLE_URL_MALFORMAT: .badURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .nameNotFound
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: .cannotConnect
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE:
            .tlsHandshake
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS:
            .untrustedCertificate
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR:
            .connectionLost
        case CURLE_OUT_OF_MEMORY where !isHeaderComplete: .tooLarge
        // The name CURLE_TOO_LARGE exists only since 8.6.
        case CURLcode(rawValue: 100): .tooLarge
        case CURLE_BAD_CONTENT_ENCODING: .badContentEncoding
        default: .transport
        }
    }

    /// Whether the failure can result from a kept-alive connection that the peer has closed in the meantime.
    var mayBeDeadConnection: Bool {
        [CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM].contains(code)
    }
}

extension TransportConfiguration.Proxy {
    /// Names the proxy of a URL and the environment variable that sets it, found in curl's order.
    ///
    /// - Parameter variable: The value of an environment variable.
    func words(
        for url: String, variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) -> String {
        guard self == .environment else { return "the proxy" }
        // `HTTP_PROXY` is not read because CGI servers set it from a request header of the client.
        let own = url.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let name = (own + ["all_proxy", "ALL_PROXY"]).first { variable($0)?.isEmpty == false }
        return name.map { "the proxy of \($0)" } ?? "the proxy"
    }
}
