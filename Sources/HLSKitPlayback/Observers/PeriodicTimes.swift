public import HLSKitTime

/// A sequence of the item times at which a periodic observer is called.
///
/// It ends with the player or the reading task. A slow reader gets only the newest time.
public struct PeriodicTimes: AsyncSequence, Sendable {
    let stream: AsyncStream<MediaTime>

    public func makeAsyncIterator() -> AsyncStream<MediaTime>.Iterator { stream.makeAsyncIterator() }
}

/// A sequence of all boundaries that playback has crossed.
///
/// It ends with the player or the reading task.
public struct BoundaryTimes: AsyncSequence, Sendable {
    let stream: AsyncStream<MediaTime>

    public func makeAsyncIterator() -> AsyncStream<MediaTime>.Iterator { stream.makeAsyncIterator() }
}
