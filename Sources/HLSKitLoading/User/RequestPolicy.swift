/// The program's own say in every request: it may change URL and header fields, or refuse.
///
/// Called before anything is sent, for playlists, segments, initialization sections and keys alike (look at
/// ``TransportRequest/resourceClass``), and again for each retry. What it returns is checked as what a playlist names
/// is: the schemes, files and addresses that are refused there are refused here. Fields that it sets go to the origin of
/// the URL that it returns, and not on to another one with a redirect; `Authorization`, `Cookie` and
/// `Proxy-Authorization` go to ``TransportRequest/credentialOrigins`` only: add an origin there to send them elsewhere.
///
/// ```swift
/// configuration.hooks.requestPolicy = RequestPolicy { request in
///     var request = request
///     if request.resourceClass == .segment { request.urlString += "?token=\(try await tokens.current())" }
///     return request
/// }
/// ```
public struct RequestPolicy: Sendable {
    /// The longest that ``apply`` may take; then the request fails, and is tried again as one that timed out. Default
    /// 10 s.
    package var deadline: Duration
    /// Returns the request to send instead; throwing refuses it.
    package var apply: @Sendable (TransportRequest) async throws -> TransportRequest

    /// Makes a policy of a closure that returns the request to send instead. If it throws or exceeds `deadline`, the
    /// request fails.
    public init(
        deadline: Duration = .seconds(10),
        apply: @escaping @Sendable (TransportRequest) async throws -> TransportRequest
    ) {
        self.deadline = deadline
        self.apply = apply
    }
}
