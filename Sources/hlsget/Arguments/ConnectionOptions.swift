import ArgumentParser
import HLSKitCore

/// How any command reaches servers.
struct ConnectionOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "Header field of requests; credentials go to the URL's origin only.", valueName: "'name: value'"),
        transform: HTTPField.init(argument:))
    var header: [HTTPField] = []
    @Option(help: ArgumentHelp("Trust these certificates (PEM) only.", valueName: "file")) var cacert: String?
    @Flag(help: "Do not check certificates.") var insecure = false
    @Flag(name: .customLong("http1.1"), help: "Do not use HTTP/2.") var http11 = false
    @Option(help: ArgumentHelp("Attempts after the first one.", valueName: "n"), transform: NumberArgument.retries)
    var retries: Int?
    @Option(
        help: ArgumentHelp("Longest wait for an answer.", valueName: "time"), transform: NumberArgument.positiveDuration
    )
    var timeout: Duration?
    @Flag(help: "Refuse private and local addresses.") var denyPrivate = false
    @Option(
        help: ArgumentHelp("Refuse these addresses, as in 10.0.0.0/8.", valueName: "cidr"),
        transform: AddressArgument.init(parsing:))
    var denyAddress: [AddressArgument] = []
    @Flag(help: "Follow redirects from https to http.") var allowDowngrade = false

    func apply(to options: inout PlayOptions) {
        options.fields = header
        options.certificateFile = cacert
        options.verifiesCertificates = !insecure
        options.forcesHTTP11 = http11
        options.retries = retries
        options.timeout = timeout
        options.deniesPrivateAddresses = denyPrivate
        options.deniedAddresses = denyAddress
        options.allowsDowngrade = allowDowngrade
    }

    /// Finds contradictions, as `play` does.
    func check() throws {
        var options = PlayOptions(url: "")
        apply(to: &options)
        do { try options.check() } catch { throw ValidationError(error.description) }
    }

    /// For loading `url` without playing it. Nothing is started before the first request.
    func loader(of url: String, allowsFilesOutside: Bool = false) -> PlaylistLoader {
        var options = PlayOptions(url: url)
        apply(to: &options)
        let transport = SchemeTransport(
            network: CurlTransport(configuration: options.transportConfiguration), local: LocalTransport())
        var configuration = PlayerConfiguration(transport: transport)
        configuration.fields = options.fields
        configuration.allowsFilesAnywhere = allowsFilesOutside
        if let retries { configuration.retryPolicies.maximumRetryCount = retries }
        if let timeout { configuration.timeouts.firstByte = timeout }
        configuration.timeouts.total = Self.longestTransfer
        return PlaylistLoader(url: url, configuration: configuration)
    }

    /// A playlist that takes longer is of no use to anybody who waits for it.
    private static let longestTransfer = Duration.seconds(60)
}
