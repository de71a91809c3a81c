import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// URLs that run out: when the program is asked for a fresh one, and whether that helped.
struct URLRefresh: Sendable {
    /// What a refusal is taken for.
    enum Verdict: Sendable, Hashable {
        /// No URL has run out, or the fresh one is refused as well.
        case stands
        /// What was refused waits for the fresh URL that is on its way, or is asked for at the one that came meanwhile.
        case waits
        /// The program is asked.
        case asks
    }

    /// The program is asked, or the playlist that it named is on its way.
    private(set) var isUnderWay = false
    /// When the program gave a URL last.
    private var renewed: Duration?
    /// Media came since then.
    private var isProved = true
    /// Why the program was asked.
    @Shared private var cause: HLSError? = nil
    /// There is no fresh URL: what the item fails with when what was asked for before has come.
    @Shared private(set) var refusal: HLSError? = nil

    /// - Parameters:
    ///   - began: when the request was made that was refused.
    ///   - isFirst: it was for the playlist that the program named.
    func verdict(on error: LoadingError, began: Duration, isFirst: Bool) -> Verdict {
        guard error.code == .httpStatus, error.status == 403 || error.status == 410, !(isFirst && isUnderWay) else {
            return .stands
        }
        // What was asked for before the last fresh URL came says nothing about that. Where there is none, nobody is asked
        // again.
        if isUnderWay || refusal != nil || renewed.map({ began < $0 }) == true { return .waits }
        return isProved ? .asks : .stands
    }

    /// Why the program is asked.
    ///
    /// - Parameter hasOpened: a playlist of the item is here.
    static func cause(of error: LoadingError, for purpose: RequestPurpose, hasOpened: Bool) -> HLSError {
        var cause = HLSError(error, isFirst: !hasOpened)
        cause.code = .notFound
        if case .resource(let resource, _) = purpose, resource.kind == .key { cause.code = .contentKey }
        return cause
    }

    /// Whether a list that was asked for then comes from the fresh URL.
    func isFresh(_ began: Duration) -> Bool { !isUnderWay && renewed.map { began >= $0 } ?? false }

    mutating func ask(because error: HLSError) {
        isUnderWay = true
        cause = error
    }

    /// The program named a URL.
    mutating func renew(at now: Duration) {
        renewed = now
        isProved = false
    }

    /// The playlist at the fresh URL is here.
    mutating func end() { isUnderWay = false }

    /// There is no fresh URL. The item fails with why one was asked for.
    mutating func refuse(because error: LoadingError) {
        isUnderWay = false
        var final = cause ?? HLSError(error, isFirst: false)
        final.detail = (final.detail.map { "\($0); " } ?? "") + "no fresh URL: \(error.text)"
        refusal = final
    }

    /// Media came that was asked for then.
    mutating func prove(began: Duration) {
        if let renewed, began >= renewed { isProved = true }
    }
}

/// What is at a fresh URL, beside what was at the one before.
enum FreshPlaylist: Sendable {
    /// Nothing was opened yet.
    case first
    /// A newer state of the one media playlist that there is.
    case media(MediaPlaylist)
    /// The same variants.
    case multivariant(MultivariantPlaylist)
    case otherStream(HLSError)

    /// - Parameters:
    ///   - old: nil for a media playlist that was opened directly.
    ///   - hasOpened: a playlist of the item is here.
    ///   - hasVariant: one of its variants is in use.
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
