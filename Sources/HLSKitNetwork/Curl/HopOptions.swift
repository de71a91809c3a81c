import CCurl
import Glibc
import HLSKitLoading
import HLSKitTime

struct HopOptions {
    private let url: HTTPURL
    private let request: TransportRequest
    private let configuration: TransportConfiguration
    private let isFresh: Bool
    /// Replaces `Basic` credentials if the server has requested another scheme.
    private let authorization: TransportField?

    /// The size of one read. Large reads keep the cost per byte low.
    private static let readByteCount = 256 << 10
    /// The size of a read under a rate limit and for small resources.
    private static let smallReadByteCount = 16 << 10

    /// - Parameter isFresh: Whether to open a new connection because a kept-alive one has just failed.
    init(
        _ url: HTTPURL, _ request: TransportRequest, _ configuration: TransportConfiguration, isFresh: Bool = false,
        authorization: TransportField? = nil
    ) {
        self.authorization = authorization
        self.url = url
        self.request = request
        self.configuration = configuration
        self.isFresh = isFresh
    }

    /// Creates a new handle for each hop, so that no credentials or other state can leak into the next request. A
    /// handle costs only microseconds. The expensive parts (connections, TLS sessions, names) are shared.
    func makeHandle(
        for transfer: CurlTransfer, _ share: borrowing ShareHandle
    ) throws(CurlFailure) -> EasyHandle {
        var handle = try share.makeHandle()
        // The transfer owns the handle and detaches it before its own release, so the pointer stays valid while in use.
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        try handle.set(CURLOPT_PRIVATE, pointer: context)
        try handle.set(CURLOPT_WRITEDATA, pointer: context)
        try handle.set(CURLOPT_HEADERDATA, pointer: context)
        try handle.set(CURLOPT_WRITEFUNCTION, callback: receiveBody)
        try handle.set(CURLOPT_HEADERFUNCTION, callback: receiveHeader)
        // A report may go to a third party, so it neither sends nor stores cookies.
        if request.body == nil { try share.attach(to: handle) }
        try handle.set(CURLOPT_URL, url.text)
        try setProtocol(handle)
        try setSecurity(handle)
        try setNetwork(handle, context, transfer.context.watch)
        try setHeader(&handle)
        try handle.setConnectionTargets(configuration.connectionTargets.map(\.line))
        if let body = request.body { try handle.setBody(body) }
        return handle
    }

    private func setProtocol(_ handle: borrowing EasyHandle) throws(CurlFailure) {
        try handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try handle.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        try handle.set(CURLOPT_FOLLOWLOCATION, 0)
        try handle.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try handle.set(CURLOPT_HTTP09_ALLOWED, 0)
        try handle.set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        try handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try handle.set(CURLOPT_NOSIGNAL, 1)
        // HTTP/2 is negotiated in TLS. For http://, waiting to see whether streams can share would cost a round trip.
        let mayMultiplex =
            url.origin.scheme == "https" && !configuration.forcesHTTP11 && !request.usesOwnConnection
        try handle.set(
            CURLOPT_HTTP_VERSION,
            Int(mayMultiplex ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        try handle.set(CURLOPT_PIPEWAIT, mayMultiplex ? 1 : 0)
        if isFresh { try handle.set(CURLOPT_FRESH_CONNECT, 1) }
        let isSmall = request.resourceClass != .segment || configuration.maximumBytesPerSecond != nil
        try handle.set(CURLOPT_BUFFERSIZE, isSmall ? Self.smallReadByteCount : Self.readByteCount)
    }

    private func setSecurity(_ handle: borrowing EasyHandle) throws(CurlFailure) {
        try handle.set(CURLOPT_SSL_VERIFYPEER, configuration.verifiesCertificates ? 1 : 0)
        try handle.set(CURLOPT_SSL_VERIFYHOST, configuration.verifiesCertificates ? 2 : 0)
        if let file = configuration.caFile {
            try handle.set(CURLOPT_CAINFO, file)
            // libcurl would also trust a system certificate folder if it has one, as on Debian.
            try handle.set(CURLOPT_CAPATH, pointer: nil)
        }
        if configuration.caFile == nil, let file = configuration.additionalCAFile {
            try handle.set(CURLOPT_CAINFO, file)
        }
        if configuration.reportsCertificates, url.origin.scheme == "https" { try handle.set(CURLOPT_CERTINFO, 1) }
        // An empty name enables the cookie engine without reading a file.
        try handle.set(CURLOPT_COOKIEFILE, "")
        // Entries contain only host names, and a default entry applies to any host.
        if let file = configuration.netrcFile, isFromUser {
            try handle.set(CURLOPT_NETRC, CCurl_netrc_optional)
            try handle.set(CURLOPT_NETRC_FILE, file)
        }
        if let file = configuration.clientCertificateFile, isFromUser {
            try handle.set(CURLOPT_SSLCERT, file)
            try handle.set(CURLOPT_SSLKEY, configuration.clientKeyFile ?? file)
        }
    }

    private func setNetwork(
        _ handle: borrowing EasyHandle, _ context: UnsafeMutableRawPointer, _ watch: SocketWatch
    ) throws(CurlFailure) {
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(request.timeouts.connect.wholeMicroseconds / 1000)))
        try handle.set(CURLOPT_TCP_KEEPALIVE, 1)
        let restricts = !configuration.addressPolicy.denied.isEmpty
        switch configuration.proxy {
        case .environment: if restricts { try handle.set(CURLOPT_PROXY, "") }
        case .none: try handle.set(CURLOPT_PROXY, "")
        case .url(let proxy): try handle.set(CURLOPT_PROXY, proxy)
        }
        try handle.set(CURLOPT_OPENSOCKETDATA, pointer: context)
        try handle.setOpenSocket(openSocket)
        // Connections outlive the transfer, but not the watch.
        try handle.set(
            CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(watch).toOpaque())
        try handle.setCloseSocket(closeSocket)
        if let interface = configuration.interface { try handle.set(CURLOPT_INTERFACE, interface) }
        switch configuration.addressFamily {
        case .any: break
        case .ipv4: try handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: try handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
    }

    private func setHeader(_ handle: inout EasyHandle) throws(CurlFailure) {
        try handle.set(CURLOPT_USERAGENT, configuration.userAgent)
        // The fields are for the origin rather than for a proxy.
        try handle.set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        if let range = request.byteRange {
            try handle.set(CURLOPT_RANGE, range.headerText)
        }
        let fields = sentFields
        // libcurl combines these with the cookies that servers have set.
        let given = request.cookies.filter { $0.isSent(to: url) }.compactMap(\.pair)
        let cookies = (given + fields.filter { $0.isNamed("Cookie") }.map(\.value)).joined(separator: "; ")
        if !cookies.isEmpty { try handle.set(CURLOPT_COOKIE, cookies) }
        // libcurl sends an empty field if it is written with a semicolon. With a colon it omits the field, as intended
        // for `Expect`.
        try handle.setHeader(
            fields.filter { !$0.isNamed("Cookie") }
                .map { field in
                    guard field.value.isEmpty else { return "\(field.name): \(field.value)" }
                    return field.name + (field.isNamed("Expect") ? ":" : ";")
                })
    }

    /// A report carries no user credentials.
    private var isFromUser: Bool { isForUsersOrigin && request.body == nil }

    private var isForUsersOrigin: Bool { request.credentialOrigins.contains(url.origin) }

    var login: DigestChallenge.Login? {
        sentFields.lazy.compactMap { DigestChallenge.Login($0) }.first
    }

    /// The user's fields that this origin may receive, and the transport's own.
    private var sentFields: [TransportField] {
        var fields = UserFields.sent(request, to: url.origin)
        if isForUsersOrigin, let field = url.basicAuthorization,
            !fields.contains(where: { $0.isNamed("Authorization") })
        {
            fields.append(field)
        }
        if let authorization, let index = fields.firstIndex(where: { $0.isNamed("Authorization") }) {
            fields[index] = authorization
        }
        // Otherwise libcurl waits for a go-ahead before longer bodies.
        if request.body != nil { fields.append(TransportField(name: "Expect", value: "")) }
        // Media is already compressed. Playlists shrink to a tenth.
        let isText = [.multivariantPlaylist, .mediaPlaylist, .sessionData, .steering, .assetList].contains(
            request.resourceClass)
        if !fields.contains(where: { $0.isNamed("Accept-Encoding") }) {
            fields.append(TransportField(name: "Accept-Encoding", value: isText ? "gzip, deflate" : "identity"))
        }
        return fields
    }
}

extension TransportConfiguration.ConnectionTarget {
    fileprivate var line: String {
        func bracketed(_ host: String?) -> String {
            guard let host else { return "" }
            return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        }
        func text(_ port: Int?) -> String { port.map(String.init) ?? "" }
        return "\(bracketed(host)):\(text(port)):\(bracketed(targetHost)):\(text(targetPort))"
    }
}

// MARK: Callbacks: they capture nothing; the context is the transfer, which outlives the handle's use of it.

private func transfer(_ context: UnsafeMutableRawPointer) -> CurlTransfer {
    Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
}

private let receiveHeader: curl_write_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    return transfer(context).receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        ? size * count : 0
}

private let receiveBody: curl_write_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    return switch transfer(context).receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .taken: size * count
    case .pause: Int(CURL_WRITEFUNC_PAUSE)
    case .stop: Int(CURL_WRITEFUNC_ERROR)
    }
}

private let openSocket: curl_opensocket_callback = { context, _, address in
    guard let context, let address else { return CCurl_socket_bad }
    let transfer = transfer(context)
    let bits: UInt128
    switch address.pointee.family {
    case AF_INET:
        bits = CCurl_sockaddr(address).withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            AddressRange.mapped(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
        }
    case AF_INET6:
        bits = CCurl_sockaddr(address).withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
            withUnsafeBytes(of: $0.pointee.sin6_addr) { AddressRange.bits(of: $0) }
        }
    default:
        return CCurl_socket_bad
    }
    guard transfer.context.configuration.addressPolicy.allows(bits) else {
        transfer.refusedAddress = AddressRange.text(of: bits)
        return CCurl_socket_bad
    }
    // Without this flag, a process started by the app would keep the connection open.
    let flags = Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.pointee.family, address.pointee.socktype | flags, address.pointee.protocol)
    transfer.context.watch.add(descriptor)
    return descriptor
}

private let closeSocket: curl_closesocket_callback = { context, descriptor in
    guard let context else { return close(descriptor) }
    return Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().close(descriptor)
}

extension TransportField {
    /// Whether the field can be sent without changing the meaning of the following fields (RFC 9110 §5.5, §5.6.2).
    var isSendable: Bool {
        let token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8
        return !name.isEmpty && name.utf8.allSatisfy { token.contains($0) }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
