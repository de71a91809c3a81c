import HLSKitEngine

/// Cuts audio buffers at the exact start and end of presentation.
struct AudioTrim: Sendable, Hashable {
    private let from: Duration?
    private let until: Duration?

    init(_ window: PresentationWindow) {
        (from, until) = (window.from, window.until)
    }

    /// Returns the frames to remove from a buffer, or `nil` if it is completely inside or outside.
    func cut(time: Duration, frameCount: Int, sampleRate: Int) -> (leading: Int, trailing: Int)? {
        guard frameCount > 0, sampleRate > 0 else { return nil }
        let end = time + .seconds(1) * frameCount / sampleRate
        func frames(_ duration: Duration) -> Int { Int((duration / .seconds(1) * Double(sampleRate)).rounded()) }
        var (leading, trailing) = (0, 0)
        if let from, time < from, end > from { leading = frames(from - time) }
        if let until, end > until, time < until { trailing = frames(end - until) }
        guard leading + trailing > 0, leading + trailing < frameCount else { return nil }
        return (leading, trailing)
    }
}
