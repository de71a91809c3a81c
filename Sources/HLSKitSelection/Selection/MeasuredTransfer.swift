/// A transfer that finished, failed or was cancelled.
public struct MeasuredTransfer: Sendable, Hashable {
    /// The number of received bytes.
    public var byteCount: Int
    /// The time of the request, on the player's clock.
    public var requested: Duration
    /// The time at which the first byte arrived.
    public var firstByte: Duration
    /// The time at which the transfer ended.
    public var finished: Duration

    package init(byteCount: Int, requested: Duration, firstByte: Duration, finished: Duration) {
        self.byteCount = byteCount
        self.requested = requested
        self.firstByte = firstByte
        self.finished = finished
    }
}
