import HLSKitLoading

/// The way back from a machine that the URL of an item has led to by a redirect, and that fails: a balancer may name another
/// one. It is asked beside what goes on, and what it answers changes something only where it leads elsewhere.
struct WayBack: Sendable {
    /// From one time that it is asked to the next.
    private static let interval = Duration.seconds(5)

    private var request: RequestID?
    private var asked: Duration?

    /// Whether the URL is asked again after a failure.
    ///
    /// - Parameter base: the URL that answered for it; nil without a multivariant playlist.
    func mayAsk(
        _ url: String, insteadOf base: String?, after error: LoadingError, of context: RequestUnderWay, at now: Duration
    ) -> Bool {
        guard request == nil, asked.map({ now - $0 >= Self.interval }) ?? true, let base, base != url,
            let origin = URLOrigin(of: base), URLOrigin(of: context.url) == origin
        else { return false }
        // A segment that is not there says nothing of its machine.
        if case .mediaPlaylist = context.purpose { return true }
        return error.status.map { $0 >= 500 } ?? true
    }

    mutating func ask(_ id: RequestID, at now: Duration) { (request, asked) = (id, now) }

    /// Whether an answer, or a failure, is of this request, which is over then.
    mutating func take(_ id: RequestID) -> Bool {
        guard request == id else { return false }
        request = nil
        return true
    }
}
