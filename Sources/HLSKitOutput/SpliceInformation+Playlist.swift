public import HLSKitMedia
public import HLSKitPlaylist

extension DateRange {
    /// `SCTE35-CMD`, read; nil where it is not there, or cannot be read. Reads the text each time, as the others do.
    public var spliceCommand: SpliceInformation? { Self.read(scte35Command) }
    /// `SCTE35-OUT`, read; nil where it is not there, or cannot be read.
    public var spliceOut: SpliceInformation? { Self.read(scte35Out) }
    /// `SCTE35-IN`, read; nil where it is not there, or cannot be read.
    public var spliceIn: SpliceInformation? { Self.read(scte35In) }

    private static func read(_ text: String?) -> SpliceInformation? {
        text.flatMap { try? SpliceInformation(text: $0) }
    }
}

extension SpliceMarker {
    /// `scte35`, read; nil where it is not there, or cannot be read. Reads the text each time.
    public var spliceInformation: SpliceInformation? { scte35.flatMap { try? SpliceInformation(text: $0) } }
}
