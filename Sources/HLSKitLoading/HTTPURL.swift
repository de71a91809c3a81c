import HLSKitPlaylist
import HLSKitTime

/// An absolute http or https URL that was parsed strictly, with a normalized text.
///
/// The underlying library only gets the normalized text, so that two parsers cannot read a URL differently
/// (`http://good\@evil`, `%2F` in a host; curl's CVE-2022-27780).
package struct HTTPURL: Sendable, Hashable {
    package var origin: URLOrigin
    /// The user information as written, which is never part of ``text``.
    var userInfo: String?
    /// The path and query, which begin with `/`. All characters that a request line does not allow are escaped.
    package var target: String

    /// - Throws: `badURL`, or `refused` for a scheme other than http and https.
    package init(_ text: String) throws(LoadingError) {
        guard let reference = URIReference(text) else {
            throw LoadingError(
                code: .badURL, url: text, text: "the URL contains \(Self.fault(of: text))")
        }
        try self.init(reference, writtenAs: text)
    }

    func resolving(_ location: String) throws(LoadingError) -> HTTPURL {
        guard let reference = URIReference(location), let base = URIReference(text) else {
            let code: LoadingError.Code = Self.holdsControls(location) ? .refused : .badURL
            throw LoadingError(code: code, url: text, text: "redirect to a URL with \(Self.fault(of: location))")
        }
        return try HTTPURL(reference.resolved(against: base), writtenAs: location)
    }

    private static func fault(of text: String) -> String {
        holdsControls(text) ? "a control character" : "an invalid port"
    }

    private static func holdsControls(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }

    private init(_ reference: URIReference, writtenAs text: String) throws(LoadingError) {
        func fault(_ code: LoadingError.Code, _ why: String) -> LoadingError {
            LoadingError(code: code, url: text, text: why)
        }
        guard let scheme = reference.scheme?.lowercased() else { throw fault(.badURL, "the URL is not absolute") }
        guard scheme == "http" || scheme == "https" else {
            throw fault(.refused, "the scheme \"\(scheme)\" is not allowed")
        }
        guard let authority = reference.authority else { throw fault(.badURL, "the URL has no host") }
        // Browsers read a backslash as a slash, so the host would depend on the parser.
        guard !authority.contains("\\") else { throw fault(.badURL, "the host contains a backslash") }

        var hostPort = Substring(authority)
        if let at = authority.lastIndex(of: "@") {
            userInfo = String(authority[..<at])
            hostPort = authority[authority.index(after: at)...]
        }
        var portText: Substring = ""
        var host = hostPort
        if hostPort.hasPrefix("[") {
            guard let close = hostPort.firstIndex(of: "]") else {
                throw fault(.badURL, "the host is missing a bracket")
            }
            host = hostPort[...close]
            let after = hostPort[hostPort.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw fault(.badURL, "the port is not a number") }
            portText = after.dropFirst()
        } else if let colon = hostPort.firstIndex(of: ":") {
            host = hostPort[..<colon]
            portText = hostPort[hostPort.index(after: colon)...]
        }
        guard Self.isHost(host) else { throw fault(.badURL, "\"\(host)\" is not a host name") }
        var port = URLOrigin.defaultPort(of: scheme)
        if !portText.isEmpty {
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(portText),
                (1...65535).contains(number)
            else { throw fault(.badURL, "\"\(portText)\" is not a port") }
            port = number
        }
        origin = URLOrigin(scheme: scheme, host: host.lowercased(), port: port)
        let path = reference.path.isEmpty ? "/" : reference.path
        target = PercentCoding.encoded(path + (reference.query.map { "?" + $0 } ?? "")) { $0.isAllowedInTarget }
    }

    /// The URL without user information and fragment.
    package var text: String { "\(origin)\(target)" }

    /// The `Basic` credentials of the user information (RFC 7617), or nil if there is none.
    package var basicAuthorization: TransportField? {
        guard let userInfo else { return nil }
        let bytes = PercentCoding.decoded(userInfo)
        let pair = bytes.contains(UInt8(ascii: ":")) ? bytes : bytes + [UInt8(ascii: ":")]
        return TransportField(name: "Authorization", value: "Basic " + Base64.encoded(pair))
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") {
            return host.dropFirst().dropLast().utf8.allSatisfy {
                $0.hexadecimalValue != nil || $0 == 0x3A || $0 == 0x2E
            }
        }
        // Bytes from 0x80 on belong to internationalized names, which the resolver's library encodes.
        return !host.isEmpty && host.utf8.allSatisfy { $0.isUnreserved || $0 >= 0x80 }
    }
}

extension UInt8 {
    /// RFC 3986: unreserved and reserved characters, except for the special roles of brackets and hash, and `%`
    /// unchanged.
    fileprivate var isAllowedInTarget: Bool { isUnreserved || ":/?@!$&'()*+,;=%[]".utf8.contains(self) }
}
