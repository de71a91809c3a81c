public import HLSKitLoading
import Synchronization

/// Loads an asset's resources that do not come from the network.
///
/// Applies to the asset and to items made from it. Obtained from ``Asset/resourceLoader``.
public final class AssetResourceLoader: Sendable {
    private struct State {
        var loader: (any ResourceLoader)?
        var preloadsKeys = false
        var hasBegun = false
    }

    private let url: String
    private let state: Mutex<State>

    init(url: String, loader: (any ResourceLoader)?) {
        self.url = url
        state = Mutex(State(loader: loader))
    }

    /// Loads resources with a scheme of its own; nil if there is none. ``LoadingHooks/resourceLoader`` of the
    /// asset's options at first.
    public var loader: (any ResourceLoader)? { state.withLock { $0.loader } }

    /// Lets `loader` load what has one of its schemes, in the place of who did before.
    ///
    /// - Throws: ``HLSError/Code/loadingHasBegun`` once anything was asked of the asset, or an item made of it: what was
    ///   loaded before would not be of the same loader.
    public func setLoader(_ loader: (any ResourceLoader)?) throws(HLSError) {
        let isSet = state.withLock { state in
            if !state.hasBegun { state.loader = loader }
            return !state.hasBegun
        }
        guard isSet else {
            throw HLSError(
                code: .loadingHasBegun, urlString: url, cause: "a resource loader must be set before anything is loaded"
            )
        }
    }

    /// Items of the asset load keys that the multivariant playlist announces (`EXT-X-SESSION-KEY`) at once, so that no
    /// media waits for them. Read when an item begins to load. Default false.
    public var preloadsEligibleContentKeys: Bool {
        get { state.withLock { $0.preloadsKeys } }
        set { state.withLock { $0.preloadsKeys = newValue } }
    }

    /// The loader, which from now on stays.
    func begin() -> (any ResourceLoader)? {
        state.withLock { state in
            state.hasBegun = true
            return state.loader
        }
    }
}
