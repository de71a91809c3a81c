import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The refresh of expired URLs: when to ask the app for a fresh one, and whether it helped.
struct URLRefresh: Sendable {
    /// The consequence of a rejected request.
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
    /// The reason for asking the app.
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

    /// The reason for asking the app.
    ///
    /// - Parameter hasOpened: Whether a playlist of the item is loaded.
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

    /// Called when the app supplies a URL.
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

/// The relation of the playlist at a fresh URL to the previous playlist.
enum FreshPlaylist: Sendable {
    /// There is no previous playlist.
    case first
    /// An update of the item's only media playlist.
    case media(MediaPlaylist)
    /// A playlist with the same variants.
    case multivariant(MultivariantPlaylist)
    case otherStream(HLSError)

    /// - Parameters:
    ///   - old: The previous multivariant playlist, or `nil` if a media playlist was opened directly.
    ///   - hasOpened: Whether a playlist of the item is loaded.
    ///   - hasVariant: Whether a variant is in use.
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
