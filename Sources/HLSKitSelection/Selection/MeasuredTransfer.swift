/// A transfer that is over: finished, failed or cancelled.
public struct MeasuredTransfer: Sendable, Hashable {
    /// Bytes that arrived.
    public var byteCount: Int
    /// When it was requested, by the player's clock.
    public var requested: Duration
    /// When its first byte arrived.
    public var firstByte: Duration
    /// When it was over.
    public var finished: Duration

    /// Makes a transfer.
    package init(byteCount: Int, requested: Duration, firstByte: Duration, finished: Duration) {
        self.byteCount = byteCount
        self.requested = requested
        self.firstByte = firstByte
        self.finished = finished
    }
}
