/// Why a transfer failed, as what loads keeps it: a program meets it as an ``HLSError`` (``HLSError/init(transport:)``).
package struct LoadingError: Error, Sendable, Hashable, CustomStringConvertible {
    package typealias Code = HLSError.Code

    /// The kind of failure: one of those that ``HLSError/Code`` has for transports.
    package var code: Code
    /// The URL that failed; after redirects the last one. Without user information; with the query as it was sent, which
    /// may hold a token. ``description`` does not.
    package var url: String
    /// HTTP status; nil if there was no answer.
    package var status: Int?
    /// `Retry-After` of the answer, as a time from its arrival.
    package var retryAfter: Duration?
    /// The message, with the code and the words of the library below (`curl 7: Couldn't connect to server`).
    package var text: String
    /// The header of the answer, where there was one, and the numeric address that it came from.
    package var fields: [TransportField] = []
    /// The numeric address of the peer; nil if there was no response.
    package var serverAddress: String?

    /// Makes an error without a response header.
    package init(code: Code, url: String, status: Int? = nil, retryAfter: Duration? = nil, text: String) {
        self.code = code
        self.url = Redaction.withoutUserInfo(url)
        self.status = status
        self.retryAfter = retryAfter
        self.text = Redaction.text(text)
    }

    /// ``status`` where the answer itself is the failure. Of a body that was cut, late or empty, of a range that is not there
    /// and of a chain of redirects it is that of a success.
    package var failureStatus: Int? { code == .httpStatus ? status : nil }

    /// Without secrets.
    package var description: String { "\(Redaction.url(url)): \(text)" }
}
