import HLSKitCore
import Tracing

/// The item of an asset that is made ready: what happens to it is kept until it is known what its span belongs to.
struct WaitingAsset: Sendable {
    /// Signals that are kept; more than an asset makes that is loaded ahead.
    static let limit = 512

    let item: PlayerItem
    /// What its span belongs to if it is never played.
    let context: ServiceContext
    /// When it was heard of.
    let began: HostTime
    private(set) var signals: [PlayerSignal] = []
    /// It plays, and the event that it belongs to has not begun for those who look.
    var isPlayed = false

    init(_ item: PlayerItem, context: ServiceContext, at time: HostTime) {
        self.item = item
        self.context = context
        began = time
    }

    /// - Returns: false where there is no room for more.
    mutating func keep(_ signal: PlayerSignal) -> Bool {
        signals.append(signal)
        return signals.count < Self.limit
    }
}
