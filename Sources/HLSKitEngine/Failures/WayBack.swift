import HLSKitLoading

/// The way back from a failing server to which a redirect of the item's URL has led.
///
/// A load balancer may name another server. The URL is requested in parallel with normal loading, and the response
/// matters only if it leads to another server.
struct WayBack: Sendable {
    /// The minimum time between two such requests.
    private static let interval = Duration.seconds(5)

    private var request: RequestID?
    private var asked: Duration?

    /// Whether to request the URL again after a failure.
    ///
    /// - Parameter base: The URL that the redirect led to, or `nil` without a multivariant playlist.
    func mayAsk(
        _ url: String, insteadOf base: String?, after error: LoadingError, of context: RequestUnderWay, at now: Duration
    ) -> Bool {
        guard request == nil, asked.map({ now - $0 >= Self.interval }) ?? true, let base, base != url,
            let origin = URLOrigin(of: base), URLOrigin(of: context.url) == origin
        else { return false }
        // A missing segment does not mean that its server fails.
        if case .mediaPlaylist = context.purpose { return true }
        return error.status.map { $0 >= 500 } ?? true
    }

    mutating func ask(_ id: RequestID, at now: Duration) { (request, asked) = (id, now) }

    /// Whether a response or failure belongs to this request. If so, the request has ended.
    mutating func take(_ id: RequestID) -> Bool {
        guard request == id else { return false }
        request = nil
        return true
    }
}
