public import HLSKitPlaylist

/// Hooks with which your app takes part in loading.
///
/// Each hook is called without locks and has a deadline.
public struct LoadingHooks: Sendable {
    /// A closure that changes a multivariant playlist before a variant is selected.
    public typealias MultivariantTransform = @Sendable (MultivariantPlaylist) async throws -> MultivariantPlaylist

    /// The loader for custom schemes, or `nil` (the default) to refuse all such schemes.
    public var resourceLoader: (any ResourceLoader)?
    /// The policy that changes each request before it is sent, or `nil` (the default) for no changes.
    public var requestPolicy: RequestPolicy?
    /// The provider of fresh URLs for expired ones, or `nil` (the default) to treat 403 and 410 as errors.
    public var urlRefresher: (any URLRefresher)?
    /// The key providers in the order in which they are called.
    public var keyProviders: [any KeyProvider] = []
    /// Keys that override the playlists' keys, or `nil` (the default) to use the latter.
    public var keyOverride: ContentKeyOverride?
    /// A closure that is called each time a multivariant playlist is loaded, before a selection.
    ///
    /// The URIs are as in the server's response. The default, `nil`, does not change the playlist.
    public var transformMultivariant: MultivariantTransform?

    /// Creates hooks that do nothing.
    public init() {}

    var customSchemes: Set<String> {
        (resourceLoader?.schemes ?? []).subtracting(["http", "https", "file", "data"])
    }

    /// Returns these hooks, completed by `others`. Key providers of both are used.
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

    package func admit(to policy: inout ResourcePolicy) {
        policy.customSchemes = customSchemes
        policy.admitsAllKeySchemes = givesKeys
    }

    private var givesKeys: Bool { !keyProviders.isEmpty || keyOverride?.key != nil }

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
