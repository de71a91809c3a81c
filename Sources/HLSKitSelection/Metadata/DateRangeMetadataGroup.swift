public import HLSKitPlaylist
public import HLSKitTime

/// An `EXT-X-DATERANGE` of the playlist that is played, with its place on the item's timeline.
public struct DateRangeMetadataGroup: Sendable, Hashable, Identifiable {
    /// All attributes, those of several tags with one ID merged.
    public let dateRange: DateRange
    /// When it ends: by its duration, its end date, or where the next range of its class begins; nil while that is not
    /// known.
    public let endDate: PlaylistDate?
    /// The same on the item's timeline, with an indefinite duration while the end is not known; nil in playlists without
    /// `EXT-X-PROGRAM-DATE-TIME`.
    public let timeRange: MediaTimeRange?

    /// Makes a group; without `timeRange` the range has no place on the item's timeline yet.
    package init(dateRange: DateRange, endDate: PlaylistDate? = nil, timeRange: MediaTimeRange? = nil) {
        self.dateRange = dateRange
        self.endDate = endDate
        self.timeRange = timeRange
    }

    /// Tells it from the others of its playlist.
    public var id: String { dateRange.id }
    /// The class of the date range; nil if undeclared.
    public var classifyingLabel: String? { dateRange.class }
    /// The start of the date range; nil if undeclared.
    public var startDate: PlaylistDate? { dateRange.startDate }

    /// The `X-` attributes as metadata, and the SCTE-35 messages in hexadecimal.
    public var items: [MetadataItem] {
        let messages = [
            ("SCTE35-CMD", dateRange.scte35Command), ("SCTE35-OUT", dateRange.scte35Out),
            ("SCTE35-IN", dateRange.scte35In),
        ]
        return dateRange.clientAttributes.map {
            MetadataItem(.hlsMetadata, key: $0.name, common: nil, value: .string($0.value))
        }
            + messages.compactMap { name, text in
                text.map { MetadataItem(.hlsMetadata, key: name, common: nil, value: .string($0)) }
            }
    }
}
