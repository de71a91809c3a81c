public import HLSKitPlaylist

/// A program's part in loading. Each hook is called without locks held and has a deadline.
public struct LoadingHooks: Sendable {
    /// Changes a multivariant playlist before a variant is chosen.
    public typealias MultivariantTransform = @Sendable (MultivariantPlaylist) async throws -> MultivariantPlaylist

    /// Loads what has a scheme of its own; nil (the default) refuses all such schemes.
    public var resourceLoader: (any ResourceLoader)?
    /// Changes each request before it is sent; nil (the default) sends requests as they are.
    public var requestPolicy: RequestPolicy?
    /// Asked where a URL runs out in the middle of a stream; nil (the default) takes 403 and 410 for what they are.
    public var urlRefresher: (any URLRefresher)?
    /// Asked in their order.
    public var keyProviders: [any KeyProvider] = []
    /// Keys by hand, which nobody is asked for; nil (the default) takes what playlists say of keys.
    public var keyOverride: ContentKeyOverride?
    /// Called once for each time the multivariant playlist is loaded, and before anything is chosen from it. Its URIs are
    /// as the server wrote them. nil (the default) leaves the playlist as it is. See docs/loading.md.
    public var transformMultivariant: MultivariantTransform?

    /// Makes hooks that do nothing.
    public init() {}

    /// Those that a loader may claim.
    var customSchemes: Set<String> {
        (resourceLoader?.schemes ?? []).subtracting(["http", "https", "file", "data"])
    }

    /// These, and those of `others` where there is none of these; key providers of both.
    package func combined(with others: LoadingHooks) -> LoadingHooks {
        var hooks = self
        hooks.resourceLoader = resourceLoader ?? others.resourceLoader
        hooks.requestPolicy = requestPolicy ?? others.requestPolicy
        hooks.urlRefresher = urlRefresher ?? others.urlRefresher
        hooks.transformMultivariant = transformMultivariant ?? others.transformMultivariant
        hooks.keyProviders += others.keyProviders
        hooks.keyOverride = keyOverride ?? others.keyOverride
        return hooks
    }

    package var keyFormats: Set<String> { keyProviders.reduce(into: []) { $0.formUnion($1.keyFormats) } }

    /// The same rules, and what the program loads by itself.
    package func admit(to policy: inout ResourcePolicy) {
        policy.customSchemes = customSchemes
        policy.admitsAllKeySchemes = givesKeys
    }

    private var givesKeys: Bool { !keyProviders.isEmpty || keyOverride?.key != nil }

    /// Whether the program takes part in a request at all.
    func concern(_ request: TransportRequest) -> Bool {
        requestPolicy != nil || loader(for: request.urlString) != nil
            || request.resourceClass == .key && givesKeys
            || request.resourceClass == .multivariantPlaylist && transformMultivariant != nil
    }

    func loader(for url: String) -> (any ResourceLoader)? {
        guard let resourceLoader, let scheme = URIReference(url)?.scheme?.lowercased() else { return nil }
        return customSchemes.contains(scheme) ? resourceLoader : nil
    }
}
