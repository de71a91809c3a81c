/// The preferred start of playback: `EXT-X-START`.
///
/// Source: rfc8216bis §4.4.2.2.
public struct StartPoint: Sendable, Hashable {
    /// The offset from the start of the playlist, or from its end if negative.
    ///
    /// It may lie outside the playlist.
    public var timeOffset: Duration
    /// A Boolean value that indicates whether media before the offset must not be presented.
    public var isPrecise: Bool

    /// Creates a start point.
    ///
    /// Negative offsets count from the end.
    public init(timeOffset: Duration, isPrecise: Bool = false) {
        self.timeOffset = timeOffset
        self.isPrecise = isPrecise
    }
}

extension StartPoint {
    init?(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        var offset: Duration?
        var isPrecise = false
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .timeOffset: offset = try context.duration(attribute, bytes, signed: true)
            case .precise: isPrecise = try context.isYes(attribute, bytes)
            default: break
            }
        }
        guard let offset else {
            try context.reportMissing(.timeOffset)
            return nil
        }
        self.init(timeOffset: offset, isPrecise: isPrecise)
    }

    var attributeText: String {
        var list = AttributeText()
        list.duration(.timeOffset, timeOffset)
        list.yes(.precise, isPrecise)
        return list.text
    }
}
