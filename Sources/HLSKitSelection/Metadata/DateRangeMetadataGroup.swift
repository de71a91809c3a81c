public import HLSKitPlaylist
public import HLSKitTime

/// An `EXT-X-DATERANGE` of the playing playlist, with its position on the item's timeline.
public struct DateRangeMetadataGroup: Sendable, Hashable, Identifiable {
    /// The date range of the group.
    ///
    /// The attributes of several tags with the same ID are merged.
    public let dateRange: DateRange
    /// The end of the date range, or `nil` if it is not known.
    ///
    /// The end follows from the duration, the end date, or the start of the next range of the same class.
    public let endDate: PlaylistDate?
    /// The range on the item's timeline, or `nil` in playlists without `EXT-X-PROGRAM-DATE-TIME`.
    ///
    /// The duration is indefinite while the end is not known.
    public let timeRange: MediaTimeRange?

    /// Creates a group. Without `timeRange`, the range has no position on the item's timeline yet.
    package init(dateRange: DateRange, endDate: PlaylistDate? = nil, timeRange: MediaTimeRange? = nil) {
        self.dateRange = dateRange
        self.endDate = endDate
        self.timeRange = timeRange
    }

    /// The identifier of the date range in its playlist.
    public var id: String { dateRange.id }
    /// The class of the date range, or `nil` if it is not declared.
    public var classifyingLabel: String? { dateRange.class }
    /// The start of the date range, or `nil` if it is not declared.
    public var startDate: PlaylistDate? { dateRange.startDate }

    /// The `X-` attributes as metadata items, and the SCTE-35 messages in hexadecimal.
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
