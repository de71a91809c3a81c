/// What a request is for, as far as it decides how a failure is taken.
package struct RetryTerms: Sendable, Hashable {
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// The playlist whose URL the program gave.
        case firstPlaylist
        /// The first load of a media playlist.
        case mediaPlaylist
        /// A live media playlist again.
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
    /// The last segments of a live playlist, which may be listed before they exist.
    package var isAtLiveEdge = false
    /// A part that nobody else has: its segment may have it, when that is listed.
    package var awaitsSegment = false
    package var targetDuration: Duration = .seconds(6)
    /// How long reloads are tried, beyond the policies' budget.
    package var patience = Patience.usual
    /// Another variant or pathway that is not in the penalty box can serve the role.
    package var hasAlternative = false
    /// Nothing else is as good: what may pass is waited for here, as long as the budget lasts, and others are asked then,
    /// with a budget of their own.
    package var isFirstChoice = false
    /// Nothing ever came from there, and it was waited for before.
    package var isSilent = false
    /// Whether the statuses 401 and 403 may pass, as those of a server that limits rates do, because it serves other segments.
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
    /// What a resource is that a playlist names.
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

/// A request that failed.
package struct RequestFailure: Sendable {
    package enum Cause: Sendable {
        case loading(LoadingError)
        /// All bytes arrived and are of no use: not a playlist, not media, not a key.
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
        /// May pass by itself.
        case passing
        /// No connection to the host: it may pass, but another host is the better hope.
        case unreachable
        /// Not there, or not for us; once it may be an edge that does not know yet.
        case absent
        /// Arrived and is of no use.
        case bad
        /// Trying again would give the same.
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

    /// A connection ended on which an answer was awaited: those of other clients end at the same time.
    var endsForAll: Bool {
        guard case .loading(let error) = cause else { return false }
        return error.code == .connectionLost
    }

    /// The server is there, and answered.
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
        // A server may be slow to have a body; a file is what it is.
        case .emptyBody where LocalFile.isFileURL(error.url): return .bad
        case .untrustedCertificate, .tooManyRedirects, .tooLarge, .refused, .badURL, .fileNotFound, .fileNotReadable,
            .application, .missingLibrary:
            return .final
        default: return .passing
        }
    }

    /// What ends the item, where this does.
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
