/// The number of segments that a player loads in parallel.
///
/// Sequential loading costs one round trip per segment. With paced output, segments are loaded in parallel under two
/// conditions: round trips are a notable part of the loading time, and the throughput far exceeds the bit rate. Near
/// the limit of the bandwidth, the next segment must not share the link with later ones. In a low-latency stream, the
/// next part is requested when the running requests will finish within a round trip. Separate audio is always loaded in
/// parallel with the variant.
public struct ParallelLoading: Sendable, Hashable {
    /// The number of parallel segment requests with paced output.
    ///
    /// The default is 4. With 1, segments are loaded one after another.
    public var requestsWhilePlaying: Int
    /// The number of parallel segment requests without pacing, on connections with one response at a time.
    ///
    /// The default is 6.
    public var connections: Int
    /// The number of parallel segment requests without pacing on an HTTP/2 connection.
    ///
    /// The default is 64.
    public var streams: Int
    /// The total size in bytes of segments that are loading or waiting.
    ///
    /// The default is 16 MiB. Unknown sizes are estimated. One segment is loaded regardless of its size.
    public var maximumByteCount: Int

    /// Creates a configuration.
    public init(
        requestsWhilePlaying: Int = 4, connections: Int = 6, streams: Int = 64, maximumByteCount: Int = 16 << 20
    ) {
        self.requestsWhilePlaying = requestsWhilePlaying
        self.connections = connections
        self.streams = streams
        self.maximumByteCount = maximumByteCount
    }

    /// A configuration that loads one segment after another.
    public static let sequential = ParallelLoading(requestsWhilePlaying: 1, connections: 1, streams: 1)
}
