extension RetryPolicies {
    /// The retry policy for one class of resources (D04).
    ///
    /// See ``RetryPolicies/subscript(_:)``.
    public struct Policy: Sendable, Hashable {
        /// The waits before retries.
        ///
        /// See ``RetryPolicies/delays``.
        public var delays: [Duration]
        /// The time for which requests are retried.
        ///
        /// See ``RetryPolicies/budget``.
        public var budget: Duration?
        /// The time for which live requests are retried.
        ///
        /// See ``RetryPolicies/liveBudget``.
        public var liveBudget: Duration?
        /// The number of attempts per variant.
        ///
        /// See ``RetryPolicies/attemptsPerVariant``.
        public var attemptsPerVariant: Int
        /// The largest number of retries of one resource.
        ///
        /// See ``RetryPolicies/maximumRetryCount``.
        public var maximumRetryCount: Int?

        package init(_ policies: RetryPolicies = .init()) {
            delays = policies.delays
            budget = policies.budget
            liveBudget = policies.liveBudget
            attemptsPerVariant = policies.attemptsPerVariant
            maximumRetryCount = policies.maximumRetryCount
        }
    }
}

extension RetryPolicies {
    /// The policy of one class if it differs from the others, as in `policies[.key].maximumRetryCount = 1`.
    ///
    /// The first change gives the class a separate policy: a copy of the common one with the change. Limits that count
    /// requests of all classes cannot be set for one class. Live playlist reloads are retried for at least ten target
    /// durations, even if the budget of media playlists is shorter.
    public subscript(resourceClass: ResourceClass) -> RetryPolicies.Policy {
        get { own[resourceClass] ?? RetryPolicies.Policy(self) }
        set { own[resourceClass] = newValue }
    }

    func policy(for kind: RetryTerms.Kind) -> RetryPolicies.Policy {
        own.isEmpty ? RetryPolicies.Policy(self) : self[kind.resourceClass]
    }
}

extension RetryTerms.Kind {
    /// The class whose policy applies. The first playlist may be of either class, and is requested as a multivariant
    /// playlist.
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
