/// A failed transfer, as the loading code keeps it. An app receives it as an ``HLSError``
/// (``HLSError/init(transport:)``).
package struct LoadingError: Error, Sendable, Hashable, CustomStringConvertible {
    package typealias Code = HLSError.Code

    package var code: Code
    /// The URL that failed, which is the last one after redirects. It has no user information, but its query as sent,
    /// which may contain a token. ``description`` does not contain it.
    package var url: String
    /// The HTTP status, or nil if there was no response.
    package var status: Int?
    /// The `Retry-After` of the response, as a time from its arrival.
    package var retryAfter: Duration?
    /// The message with the code and text of the underlying library (`curl 7: Couldn't connect to server`).
    package var text: String
    package var fields: [TransportField] = []
    package var serverAddress: String?

    package init(code: Code, url: String, status: Int? = nil, retryAfter: Duration? = nil, text: String) {
        self.code = code
        self.url = Redaction.withoutUserInfo(url)
        self.status = status
        self.retryAfter = retryAfter
        self.text = Redaction.text(text)
    }

    /// The ``status`` if it is the failure itself. If a body was truncated, late or empty, a range was missing or there
    /// were too many redirects, the status is not an error.
    package var failureStatus: Int? { code == .httpStatus ? status : nil }

    package var description: String { "\(Redaction.url(url)): \(text)" }
}
