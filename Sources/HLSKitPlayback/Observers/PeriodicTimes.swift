public import HLSKitTime

/// The item times at which a periodic observer is called. Ends with the player or the consuming task.
///
/// A slow reader gets the newest time only. See docs/behaviour/time-observers.md.
public struct PeriodicTimes: AsyncSequence, Sendable {
    let stream: AsyncStream<MediaTime>

    public func makeAsyncIterator() -> AsyncStream<MediaTime>.Iterator { stream.makeAsyncIterator() }
}

/// The boundaries that playing went over, none of them left out. Ends with the player or the consuming task.
///
/// See docs/behaviour/time-observers.md.
public struct BoundaryTimes: AsyncSequence, Sendable {
    let stream: AsyncStream<MediaTime>

    public func makeAsyncIterator() -> AsyncStream<MediaTime>.Iterator { stream.makeAsyncIterator() }
}
