/// A closure that may change the URL and header fields of every request, or refuse it.
///
/// It is called before each playlist, segment, initialization section and key is requested, and again before each
/// retry. Use ``TransportRequest/resourceClass`` to distinguish them. The returned URL is checked like a URL from a
/// playlist, with the same restrictions of schemes, files and addresses. The origin of the returned URL receives the
/// fields that the policy sets, but other origins after a redirect do not. `Authorization`, `Cookie` and
/// `Proxy-Authorization` are only sent to ``TransportRequest/credentialOrigins``. To send them elsewhere, add an origin
/// there.
///
/// ```swift
/// configuration.hooks.requestPolicy = RequestPolicy { request in
///     var request = request
///     if request.resourceClass == .segment { request.urlString += "?token=\(try await tokens.current())" }
///     return request
/// }
/// ```
public struct RequestPolicy: Sendable {
    /// The longest time that ``apply`` may take. The default is 10 s. After that, the request counts as timed out and
    /// is retried.
    package var deadline: Duration
    /// Returns the request to send instead, or throws an error to refuse it.
    package var apply: @Sendable (TransportRequest) async throws -> TransportRequest

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - deadline: The longest time that the closure may take before the request fails.
    ///   - apply: Returns the request to send instead, or throws an error to make it fail.
    public init(
        deadline: Duration = .seconds(10),
        apply: @escaping @Sendable (TransportRequest) async throws -> TransportRequest
    ) {
        self.deadline = deadline
        self.apply = apply
    }
}
