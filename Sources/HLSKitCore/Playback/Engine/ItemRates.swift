/// The rates that an item can be played at, and which of them take I-frames.
struct ItemRates: Sendable {
    /// Known once the item is ready.
    private(set) var capabilities = TimeControlMachine.RateCapabilities()
    /// I-frames were to be played and could not be had.
    private var hasFailed = false

    /// The item is ready.
    mutating func open(_ capabilities: TimeControlMachine.RateCapabilities) { self.capabilities = capabilities }

    /// I-frames cannot be had: the media itself goes on, as fast as it can.
    mutating func fail() { hasFailed = true }

    /// Which way I-frames are played at a rate; nil where media is.
    func direction(at rate: Float) -> TrickPlay.Direction? {
        guard !hasFailed else { return nil }
        if rate > 2, capabilities.canPlayFastForward { return .forward }
        return rate < 0 && capabilities.allowReverse(at: rate) ? .reverse : nil
    }
}
