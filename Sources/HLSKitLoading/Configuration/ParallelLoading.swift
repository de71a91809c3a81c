/// How many segments a player loads side by side.
///
/// One after another costs a round trip for each segment. While media is presented as its time comes, segments are
/// loaded side by side only where round trips are a notable part of the loading time and the link gives well more than
/// the media needs: near the edge of the bandwidth the next segment must not wait for those after it. The next part of a
/// stream of low latency is asked for when those on their way are here within a round trip. Separate audio is loaded beside
/// the variant in any case.
///
/// See docs/loading.md; D07, R73.
public struct ParallelLoading: Sendable, Hashable {
    /// Segments under way at once while media is presented as its time comes. Default 4; 1 loads one after another.
    public var requestsWhilePlaying: Int
    /// The same where outputs take media as fast as it comes, over connections that carry one response at a time.
    /// Default 6.
    public var connections: Int
    /// The same over a connection that carries many responses at once (HTTP/2). Default 64.
    public var streams: Int
    /// Bytes of segments that may be under way or wait for their turn, as far as sizes are known or can be guessed.
    /// One segment is loaded whatever its size. Default 16 MiB.
    public var maximumByteCount: Int

    /// Makes a configuration with the default limits, unless stated otherwise.
    public init(
        requestsWhilePlaying: Int = 4, connections: Int = 6, streams: Int = 64, maximumByteCount: Int = 16 << 20
    ) {
        self.requestsWhilePlaying = requestsWhilePlaying
        self.connections = connections
        self.streams = streams
        self.maximumByteCount = maximumByteCount
    }

    /// One segment after another.
    public static let sequential = ParallelLoading(requestsWhilePlaying: 1, connections: 1, streams: 1)
}
