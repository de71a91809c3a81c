import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The refresh of expired URLs: when to ask the app for a fresh one, and whether it helped.
struct URLRefresh: Sendable {
    enum Verdict: Sendable, Hashable {
        /// The rejection is final: no URL has expired, or the fresh one was rejected too.
        case stands
        /// The request waits for a fresh URL, or is repeated at one that has arrived meanwhile.
        case waits
        /// The app is asked for a fresh URL.
        case asks
    }

    /// Whether the app was asked, or the playlist at the URL that it supplied is loading.
    private(set) var isUnderWay = false
    /// The time at which the app last supplied a URL.
    private var renewed: Duration?
    /// Whether media has arrived since then.
    private var isProved = true
    @Shared private var cause: HLSError? = nil
    /// The error of an item without a fresh URL. It fails with it after all earlier requests have ended.
    @Shared private(set) var refusal: HLSError? = nil

    /// - Parameters:
    ///   - began: The time of the rejected request.
    ///   - isFirst: Whether it was the request for the playlist that the app supplied.
    func verdict(on error: LoadingError, began: Duration, isFirst: Bool) -> Verdict {
        guard error.code == .httpStatus, error.status == 403 || error.status == 410, !(isFirst && isUnderWay) else {
            return .stands
        }
        // A request from before the last fresh URL says nothing about that URL. If there is no fresh URL, the app is
        // not asked again.
        if isUnderWay || refusal != nil || renewed.map({ began < $0 }) == true { return .waits }
        return isProved ? .asks : .stands
    }

    static func cause(of error: LoadingError, for purpose: RequestPurpose, hasOpened: Bool) -> HLSError {
        var cause = HLSError(error, isFirst: !hasOpened)
        cause.code = .notFound
        if case .resource(let resource, _) = purpose, resource.kind == .key { cause.code = .contentKey }
        return cause
    }

    /// Whether a playlist that was requested at this time comes from the fresh URL.
    func isFresh(_ began: Duration) -> Bool { !isUnderWay && renewed.map { began >= $0 } ?? false }

    mutating func ask(because error: HLSError) {
        isUnderWay = true
        cause = error
    }

    mutating func renew(at now: Duration) {
        renewed = now
        isProved = false
    }

    /// Called when the playlist at the fresh URL is loaded.
    mutating func end() { isUnderWay = false }

    /// Called when there is no fresh URL. The item fails with the reason for which one was requested.
    mutating func refuse(because error: LoadingError) {
        isUnderWay = false
        var final = cause ?? HLSError(error, isFirst: false)
        final.detail = (final.detail.map { "\($0); " } ?? "") + "no fresh URL: \(error.text)"
        refusal = final
    }

    /// Called when media arrives that was requested at this time.
    mutating func prove(began: Duration) {
        if let renewed, began >= renewed { isProved = true }
    }
}

extension URLRefresh {
    enum FreshPlaylist: Sendable {
        /// There is no previous playlist.
        case first
        /// An update of the item's only media playlist.
        case media(MediaPlaylist)
        /// A playlist with the same variants.
        case multivariant(MultivariantPlaylist)
        case otherStream(HLSError)

        /// - Parameter old: The previous multivariant playlist, or `nil` if a media playlist was opened directly.
        init(_ loaded: LoadedPlaylist, after old: MultivariantPlaylist?, hasOpened: Bool, hasVariant: Bool) {
            switch (loaded.playlist, old) {
            case (_, nil) where !hasOpened: self = .first
            case (.media(let playlist), nil): self = .media(playlist)
            case (.multivariant(let playlist), let old?)
            where hasVariant && playlist.variants.map(\.bandwidth) == old.variants.map(\.bandwidth):
                self = .multivariant(playlist)
            case (.media, _?), (.multivariant, _):
                self = .otherStream(
                    HLSError(
                        code: .badPlaylist, urlString: loaded.url, cause: "the fresh URL belongs to another stream"))
            }
        }
    }
}

// MARK: - Way back

extension URLRefresh {
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
            _ url: String, insteadOf base: String?, after error: LoadingError, of context: InFlightRequest,
            at now: Duration
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
}
