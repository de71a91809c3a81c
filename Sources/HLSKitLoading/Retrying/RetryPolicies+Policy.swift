extension RetryPolicies {
    /// How often, how soon and for how long requests of one class of resources are made again (D04).
    ///
    /// See ``RetryPolicies/subscript(_:)``.
    public struct Policy: Sendable, Hashable {
        /// As ``RetryPolicies/delays``.
        public var delays: [Duration]
        /// As ``RetryPolicies/budget``.
        public var budget: Duration?
        /// As ``RetryPolicies/liveBudget``.
        public var liveBudget: Duration?
        /// As ``RetryPolicies/triesPerVariant``.
        public var triesPerVariant: Int
        /// As ``RetryPolicies/maximumRetryCount``.
        public var maximumRetryCount: Int?

        /// What `policies` say of all classes.
        package init(_ policies: RetryPolicies = .init()) {
            delays = policies.delays
            budget = policies.budget
            liveBudget = policies.liveBudget
            triesPerVariant = policies.triesPerVariant
            maximumRetryCount = policies.maximumRetryCount
        }
    }
}

extension RetryPolicies {
    /// How requests of one class are made again, where it differs: `policies[.key].maximumRetryCount = 1`.
    ///
    /// Setting it gives the class a policy of its own: that for all as it is at that time, and the change. Limits that count
    /// requests of all classes together have no such form. Reloads of a live playlist are tried for ten target durations at
    /// least, whatever the budget of media playlists is.
    public subscript(resourceClass: ResourceClass) -> RetryPolicies.Policy {
        get { own[resourceClass] ?? RetryPolicies.Policy(self) }
        set { own[resourceClass] = newValue }
    }

    func policy(for kind: RetryTerms.Kind) -> RetryPolicies.Policy {
        own.isEmpty ? RetryPolicies.Policy(self) : self[kind.resourceClass]
    }
}

extension RetryTerms.Kind {
    /// The class whose policy counts. The first playlist may turn out to be either; it is asked for as a multivariant one.
    fileprivate var resourceClass: ResourceClass {
        switch self {
        case .firstPlaylist: .multivariantPlaylist
        case .mediaPlaylist, .reload: .mediaPlaylist
        case .segment: .segment
        case .initializationSection: .initializationSection
        case .key: .key
        }
    }
}
