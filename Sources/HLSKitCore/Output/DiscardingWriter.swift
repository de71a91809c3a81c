import HLSMedia

/// Drops decoded media: `-f null`.
public final class DiscardingWriter: MediaWriter {
    public var mediaTypes: Set<MediaType> { [.video, .audio] }

    public init() {}

    public func finish() {}
}
