import ArgumentParser
package import HLSKitCore

package struct ConnectionOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "Header field, sent to the URL's origin only, except User-Agent, Accept… and the like.",
            valueName: "'name: value'"),
        transform: TransportField.init(argument:))
    var header: [TransportField] = []
    @Option(
        help: ArgumentHelp(
            "Query parameter for requests to the same origins as -H, e.g. token=abc.", valueName: "name=value"),
        transform: QueryArgument.encoded)
    var query: [String] = []
    @Option(
        name: [.customShort("A"), .long],
        help: ArgumentHelp("User-Agent to send (hlsget/VERSION).", valueName: "text"),
        transform: { try TransportField(argument: "User-Agent: \($0)") })
    var userAgent: TransportField?
    @Option(
        name: [.customShort("e"), .long],
        help: ArgumentHelp("Referer to send; other origins receive only its origin.", valueName: "url"),
        transform: { try TransportField(argument: "Referer: \($0)") })
    var referer: TransportField?
    @Option(
        help: ArgumentHelp(
            "Another origin that may receive -H, logins and the client certificate, e.g. https://cdn.example.com.",
            valueName: "origin"),
        transform: URLOrigin.init(argument:))
    var sendCredentialsTo: [URLOrigin] = []
    @Option(
        name: [.customLong("cookies"), .customLong("cookies-from-file")],
        help: ArgumentHelp(
            "Cookies to start with: a cookies.txt, as curl and browsers' extensions write it, or their JSON.",
            valueName: "file"), completion: .file(),
        transform: CookieFile.path)
    var cookies: String?
    @Flag(help: "Logins from ~/.netrc, for the same origins as -H.") var netrc = false
    @Option(
        help: ArgumentHelp("Client certificate (PEM).", valueName: "file"), completion: .file(),
        transform: FileArgument.readable)
    var cert: String?
    @Option(
        help: ArgumentHelp("Private key of the client certificate, if its file lacks the key.", valueName: "file"),
        completion: .file(),
        transform: FileArgument.readable)
    var keyFile: String?
    @Option(
        help: ArgumentHelp("Connect through a proxy: http, https, socks4(a) or socks5(h).", valueName: "url|none"),
        transform: TransportConfiguration.Proxy.init(argument:))
    var proxy: TransportConfiguration.Proxy?
    @Option(
        help: ArgumentHelp("Receive at most this many bytes per second, e.g. 500k.", valueName: "rate"),
        transform: ByteRateArgument.parse)
    var limitRate: Int?
    @Option(
        help: ArgumentHelp("Maximum number of connections to one host.", valueName: "n"),
        transform: NumberArgument.connections)
    var connectionsPerHost: Int?
    @Option(
        help: ArgumentHelp(
            "Connect to this address instead of resolving the host, e.g. cdn.example.com:443:192.0.2.7.",
            valueName: "host:port:address"),
        transform: TransportConfiguration.ConnectionTarget.init(resolving:))
    var resolve: [TransportConfiguration.ConnectionTarget] = []
    @Option(
        help: ArgumentHelp(
            "Connect to another host and port instead; empty parts mean any, or the same.",
            valueName: "host:port:host:port"),
        transform: TransportConfiguration.ConnectionTarget.init(argument:))
    var connectTo: [TransportConfiguration.ConnectionTarget] = []
    @Option(help: ArgumentHelp("Connect from this interface or local address.", valueName: "name"))
    var interface: String?
    @Flag(name: .customShort("4"), help: "Use IPv4 addresses only.") var ipv4 = false
    @Flag(name: .customShort("6"), help: "Use IPv6 addresses only.") var ipv6 = false
    @Option(
        help: ArgumentHelp(
            "Trust only these certificates (PEM).",
            valueName: "file"), completion: .file(),
        transform: FileArgument.readable)
    var cacert: String?
    @Flag(name: [.customShort("k"), .long], help: "Do not check certificates.") var insecure = false
    @Flag(name: .customLong("http1.1"), help: "Do not use HTTP/2.") var http11 = false
    @Option(
        help: ArgumentHelp(
            "Retries after the first attempt; by default as many as fit in 20 s, or 60 s for a live stream. inf: no limit.",
            valueName: "n|inf"),
        transform: RetriesArgument.init(parsing:))
    var retries: RetriesArgument?
    @Option(
        help: ArgumentHelp(
            "Waits before the first, second, … retry (0.5s,1s,2s,4s); the last one repeats.", valueName: "time,…"),
        transform: BackoffArgument.init(parsing:))
    var retryBackoff: BackoffArgument?
    @Option(
        help: ArgumentHelp("Longest wait for the first byte of a response (8s).", valueName: "time"),
        transform: NumberArgument.positiveDuration
    )
    var timeout: Duration?
    @Flag(help: "Refuse private and local addresses.") var denyPrivate = false
    @Option(
        help: ArgumentHelp("Refuse these addresses, e.g. 10.0.0.0/8.", valueName: "cidr"),
        transform: AddressArgument.init(parsing:))
    var denyAddress: [AddressArgument] = []
    @Flag(help: "Follow redirects from https to http.") var allowDowngrade = false
    @Option(
        help: ArgumentHelp(
            "Simulate a slower link: a recorded trace, or a rate, latency and packet loss, e.g. 800k,50ms,1%.",
            valueName: "csv|rate[,latency[,loss]]"),
        transform: ThrottleArgument.init(parsing:))
    var throttle: ThrottleArgument?

    // The CMCD options are not in a separate group, because the parser's checks in debug builds take five times as long
    // for each level.
    @Option(
        help: ArgumentHelp(
            "Send CMCD data to servers, in header fields or in the query of URLs.",
            valueName: "headers|query"),
        completion: .list(["headers", "query"]),
        transform: { try ChoiceArgument.parse($0) })
    var cmcd: ClientData.Transmission?
    @Option(
        help: ArgumentHelp("Version of CMCD in requests (1; 2 with --cmcd-events).", valueName: "1|2"),
        transform: ClientDataArgument.version)
    var cmcdVersion: ClientData.Version?
    @Option(
        help: ArgumentHelp("CMCD keys to send, e.g. br,bl,sid (all except tpb).", valueName: "key,…"),
        transform: ClientDataArgument.keys)
    var cmcdKeys: Set<String>?
    @Option(
        help: ArgumentHelp(
            "Custom CMCD key with a prefix, e.g. com.example-plan=gold.", valueName: "name=value"),
        transform: ClientDataArgument.customKey)
    var cmcdCustom: [CustomKeyArgument] = []
    @Option(
        help: ArgumentHelp("Content ID for CMCD.", valueName: "id"), transform: ClientDataArgument.contentID)
    var contentID: String?
    @Option(
        help: ArgumentHelp(
            "Session ID for CMCD, X-Playback-Session-Id and logs (a new UUID).", valueName: "id"),
        transform: ClientDataArgument.sessionID)
    var sessionID: String?

    package init() {}

    package mutating func validate() throws {
        if ipv4 && ipv6 { throw ValidationError("-4 and -6 are mutually exclusive") }
        if cert == nil && keyFile != nil { throw ValidationError("--key-file requires --cert") }
        let usesProxy = proxy != nil && proxy != TransportConfiguration.Proxy.none
        if usesProxy && (denyPrivate || !denyAddress.isEmpty) {
            throw ValidationError("a proxy resolves names itself, so --deny-private and --deny-address would not hold")
        }
        do { if netrc { _ = try FileArgument.readable(FileArgument.netrcPath) } } catch {
            throw ValidationError("--netrc: \(FileArgument.netrcPath) \(error.description)")
        }
    }

    private var typed: [TransportField] { header + [userAgent, referer].compactMap(\.self) }

    /// Adds the fields of a URL. Typed fields override them.
    package mutating func add(_ fields: [TransportField]) {
        header += typed.filled(from: fields).dropFirst(typed.count)
    }

    package func apply(to options: inout PlayOptions) {
        // Typed fields override fields in the URL argument.
        options.fields = typed.filled(from: options.fields)
        options.query = query
        options.credentialOrigins = Set(sendCredentialsTo)
        options.cookieFile = cookies
        options.netrcFile = netrc ? FileArgument.netrcPath : nil
        options.clientCertificateFile = cert
        options.clientKeyFile = keyFile
        options.proxy = proxy
        options.maximumBytesPerSecond = limitRate
        options.maximumConnectionsPerHost = connectionsPerHost
        options.connectionTargets = resolve + connectTo
        options.interface = interface
        options.addressFamily = ipv4 ? .ipv4 : ipv6 ? .ipv6 : .any
        options.certificateFile = cacert
        options.verifiesCertificates = !insecure
        options.forcesHTTP11 = http11
        options.retries = retries
        options.retryBackoff = retryBackoff
        options.timeout = timeout
        options.deniesPrivateAddresses = denyPrivate
        options.deniedAddresses = denyAddress
        options.allowsDowngrade = allowDowngrade
        options.throttle = throttle
        options.clientData.transmission = cmcd
        options.clientData.version = cmcdVersion
        options.clientData.keys = cmcdKeys
        options.clientData.customKeys = cmcdCustom
        options.clientData.contentID = contentID
        options.clientData.sessionID = sessionID
    }

    package func check() throws {
        var options = PlayOptions(url: "")
        apply(to: &options)
        do { try options.check() } catch { throw ValidationError(error.description) }
    }

    /// A loader for `url` without playback. Nothing starts before the first request.
    package func loader(
        of url: String, allowsFilesOutside: Bool = false,
        through wrap: (any ResourceTransport) -> any ResourceTransport = { $0 }
    ) throws(ArgumentValueError) -> PlaylistLoader {
        try options(of: url, allowsFilesOutside).loader(through: wrap)
    }

    private func options(of url: String, _ allowsFilesOutside: Bool) -> PlayOptions {
        var options = PlayOptions(url: url)
        apply(to: &options)
        options.allowsFilesOutside = allowsFilesOutside
        return options
    }

    /// Waits for a stream that has not started, and reports that.
    ///
    /// - Returns: The exit status if a signal ended the wait.
    package func wait(
        for url: String, _ wait: WaitArgument, allowsFilesOutside: Bool, isQuiet: Bool, isJSON: Bool
    ) async -> ExitStatus? {
        var once = self
        once.retries = .count(0)
        // Playback will report what is wrong.
        guard let loader = try? once.loader(of: url, allowsFilesOutside: allowsFilesOutside) else { return nil }
        let waiting = StreamWait(wait: wait, clock: PlayerConfiguration().sourceClock) {
            try await StreamWait.look(with: loader)
        }
        let interruption = Interruption()
        do {
            try await interruption.cancelling {
                try await waiting.run {
                    if isJSON {
                        StandardStream.error.writeLine(EventReporter.note("waiting for the stream", at: .zero))
                    } else if !isQuiet {
                        StandardStream.error.writeLine(
                            "hlsget: waiting for \(ErrorLine.printable(url: url)); Ctrl-C ends")
                    }
                }
            }
            return nil
        } catch let interrupted as Interruption.Interrupted {
            return .interrupted(signal: interrupted.signal)
        } catch {
            return nil
        }
    }

    /// The options for loading parts of `url` without playback. Nothing starts before the first request.
    package func assetOptions(
        of url: String, allowsFilesOutside: Bool = false,
        through wrap: (any ResourceTransport) -> any ResourceTransport = { $0 }
    ) throws(ArgumentValueError) -> AssetOptions {
        try options(of: url, allowsFilesOutside).assetOptions(through: wrap)
    }
}
