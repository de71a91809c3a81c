import HLSMedia

/// Drops decoded media: `-f null`.
public final class DiscardingWriter: MediaWriter {
    public var mediaTypes: Set<MediaType> { [.video, .audio] }

    /// Makes a writer that takes everything and keeps nothing.
    public init() {}

    public func finish() {}
}
