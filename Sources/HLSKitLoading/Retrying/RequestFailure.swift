/// The properties of a request that determine how its failure is handled.
package struct RetryTerms: Sendable, Hashable {
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// The playlist whose URL the app gave.
        case firstPlaylist
        /// The first load of a media playlist.
        case mediaPlaylist
        /// The reload of a live media playlist.
        case reload
        case segment, initializationSection, key
    }

    package enum Patience: Sendable, Hashable {
        case usual
        case atLeast(Duration)
        case endless
    }

    package var kind: Kind
    package var isLive = false
    /// Whether the segment is one of the last of a live playlist, which may list it before it exists.
    package var isAtLiveEdge = false
    /// Whether the part has no other source, but its segment may contain it once it is listed.
    package var awaitsSegment = false
    package var targetDuration: Duration = .seconds(6)
    /// The time for which reloads are retried, if it exceeds the policies' budget.
    package var patience = Patience.usual
    /// Whether another variant or pathway without a penalty can serve the role.
    package var hasAlternative = false
    /// Whether this is the preferred source. A temporary failure is retried here within the budget, and others are
    /// tried afterwards with their own budget.
    package var isFirstChoice = false
    /// Whether nothing ever arrived from this folder, and it was waited for before.
    package var isSilent = false
    /// Whether the statuses 401 and 403 may be temporary, because the server serves other segments.
    ///
    /// A server that limits rates responds in this way.
    package var refusalsMayPass = false

    package init(
        kind: Kind, isLive: Bool = false, isAtLiveEdge: Bool = false, awaitsSegment: Bool = false,
        targetDuration: Duration = .seconds(6), patience: Patience = .usual, hasAlternative: Bool = false,
        isFirstChoice: Bool = false
    ) {
        self.kind = kind
        self.isLive = isLive
        self.isAtLiveEdge = isAtLiveEdge
        self.awaitsSegment = awaitsSegment
        self.targetDuration = targetDuration
        self.patience = patience
        self.hasAlternative = hasAlternative
        self.isFirstChoice = isFirstChoice
    }
}

extension RetryTerms.Kind {
    package init(_ resourceClass: ResourceClass) {
        self =
            switch resourceClass {
            case .multivariantPlaylist, .mediaPlaylist: .mediaPlaylist
            case .segment, .sessionData, .report, .steering, .assetList: .segment
            case .initializationSection: .initializationSection
            case .key: .key
            }
    }
}

package struct RequestFailure: Sendable {
    package enum Cause: Sendable {
        case loading(LoadingError)
        /// All bytes arrived, but are unusable: not a playlist, not media or not a key.
        case badContent(url: String)
    }

    var cause: Cause
    package var terms: RetryTerms

    init(cause: Cause, terms: RetryTerms) {
        self.cause = cause
        self.terms = terms
    }

    package init(cause: Cause, kind: RetryTerms.Kind) {
        self.init(cause: cause, terms: RetryTerms(kind: kind))
    }
}

// MARK: - Kinds of failures

extension RequestFailure {
    enum Severity {
        /// The failure is temporary.
        case passing
        /// The host accepts no connection. It may recover, but another host is more promising.
        case unreachable
        /// The resource is missing or access is denied. A first failure may come from an edge server that is out of
        /// date.
        case absent
        /// The resource is unusable.
        case bad
        /// A retry would have the same result.
        case final
    }

    var url: String {
        switch cause {
        case .loading(let error): error.url
        case .badContent(let url): url
        }
    }

    var retryAfter: Duration? {
        guard case .loading(let error) = cause else { return nil }
        return error.retryAfter
    }

    /// Whether a connection ended while a response was awaited, which happens to other clients at the same time.
    var endsForAll: Bool {
        guard case .loading(let error) = cause else { return false }
        return error.code == .connectionLost
    }

    var isAnswer: Bool {
        guard case .loading(let error) = cause else { return true }
        return error.code == .httpStatus
    }

    var isUnknownName: Bool {
        guard case .loading(let error) = cause else { return false }
        return error.code == .nameNotFound
    }

    var severity: Severity {
        guard case .loading(let error) = cause else { return .bad }
        switch error.code {
        case .httpStatus where terms.refusalsMayPass && [401, 403].contains(error.status): return .passing
        case .httpStatus: return LoadingFailure.isRefusal(error.status) ? .absent : .passing
        case .nameNotFound, .cannotConnect, .tlsHandshake: return .unreachable
        case .badRange, .notFound: return .absent
        // A server may not have a body yet, but a file does not change.
        case .emptyBody where LocalFile.isFileURL(error.url): return .bad
        case .untrustedCertificate, .tooManyRedirects, .tooLarge, .refused, .badURL, .fileNotFound, .fileNotReadable,
            .application, .missingLibrary, .badMedia:
            return .final
        default: return .passing
        }
    }

    /// The error of the item if this failure ends it.
    var code: LoadingFailure.Kind {
        switch cause {
        case .loading(let error): LoadingFailure(error, as: role).kind
        case .badContent:
            switch terms.kind {
            case .firstPlaylist, .mediaPlaylist, .reload: .badPlaylist
            case .segment, .initializationSection: .badMedia
            case .key: .contentKey
            }
        }
    }

    private var role: LoadingFailure.Role {
        switch terms.kind {
        case .firstPlaylist: .named
        case .mediaPlaylist, .reload, .segment, .initializationSection: .listed
        case .key: .key
        }
    }
}
