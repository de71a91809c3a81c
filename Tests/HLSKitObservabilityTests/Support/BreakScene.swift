import HLSKitCore
import HLSKitSimulation

/// A stage with a film of a minute in which interstitials are played. Assets last 4 s and have a host of their own, `NAME.invalid`;
/// those of `gone` are not there.
struct BreakScene {
    let stage: Stage

    /// - Parameters:
    ///   - link: nil for a fast one.
    ///   - answer: what is served before anything else.
    init(
        over link: NetworkTrace? = nil,
        answer: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse? = { _ in nil }
    ) {
        let asset = SyntheticStream(bitRates: [40_000], segmentDuration: .seconds(2), segmentCount: 2)
        stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 10), over: link) { request in
            if let response = answer(request) { return response }
            let host = "https://synthetic.invalid/"
            if request.urlString.hasPrefix(host) { return nil }
            guard !request.urlString.hasPrefix("https://gone.invalid/") else { return .notFound }
            var inner = request
            inner.urlString = host + request.urlString.dropFirst(8).drop { $0 != "/" }.dropFirst()
            return asset.response(to: inner)
        }
    }

    func event(_ id: String, at seconds: Int, _ assets: [String]) -> InterstitialEvent {
        let assets = assets.map { InterstitialAsset(urlString: "https://\($0).invalid/index.m3u8") }
        return InterstitialEvent(id: id, time: .seconds(seconds), content: .assets(assets))
    }

    /// A player that plays the film with events of a program, seen by `attach`.
    func play(_ events: [InterstitialEvent], _ attach: (Player) -> Void) throws -> Player {
        let player = stage.player()
        attach(player)
        let item = PlayerItem(urlString: stage.stream.urlString)
        InterstitialEventController(primaryPlayer: player).setEvents(events, for: item)
        player.play()
        try player.replaceCurrentItem(with: item)
        return player
    }
}
