public import HLSKitMedia
public import HLSKitPlaylist

extension DateRange {
    /// The `SCTE35-CMD` attribute, parsed on each access, or `nil` if it is missing or invalid.
    public var spliceCommand: SpliceInformation? { Self.read(scte35Command) }
    /// The `SCTE35-OUT` attribute, parsed on each access, or `nil` if it is missing or invalid.
    public var spliceOut: SpliceInformation? { Self.read(scte35Out) }
    /// The `SCTE35-IN` attribute, parsed on each access, or `nil` if it is missing or invalid.
    public var spliceIn: SpliceInformation? { Self.read(scte35In) }

    private static func read(_ text: String?) -> SpliceInformation? {
        text.flatMap { try? SpliceInformation(text: $0) }
    }
}

extension SpliceMarker {
    /// The value of `scte35`, parsed on each access, or `nil` if it is missing or invalid.
    public var spliceInformation: SpliceInformation? { scte35.flatMap { try? SpliceInformation(text: $0) } }
}
