public import HLSKitLoading
import Synchronization

/// An object that loads an asset's resources that do not come from the network.
///
/// It applies to the asset and to items created from it. You get it from ``Asset/resourceLoader``.
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

    /// The object that loads resources with custom URL schemes, or `nil` if there is none.
    ///
    /// Its initial value is ``LoadingHooks/resourceLoader`` from the asset's options.
    public var loader: (any ResourceLoader)? { state.withLock { $0.loader } }

    /// Sets the object that loads resources with custom URL schemes.
    ///
    /// - Throws: ``HLSError/Code/loadingHasBegun`` if the asset or one of its items has already begun loading, because
    ///   the earlier resources would come from another loader.
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

    /// A Boolean value that indicates whether items load announced keys before the media needs them.
    ///
    /// These are the keys that the multivariant playlist announces (`EXT-X-SESSION-KEY`). Items read the value when
    /// they begin to load. The default is `false`.
    public var preloadsEligibleContentKeys: Bool {
        get { state.withLock { $0.preloadsKeys } }
        set { state.withLock { $0.preloadsKeys = newValue } }
    }

    /// Returns the loader, which cannot be changed after this call.
    func begin() -> (any ResourceLoader)? {
        state.withLock { state in
            state.hasBegun = true
            return state.loader
        }
    }
}
