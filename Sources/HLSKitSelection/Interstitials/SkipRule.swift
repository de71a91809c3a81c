public import HLSKitLoading
package import HLSKitPlaylist
public import HLSKitTime

/// A rule that selects ranges of an item to skip, which are neither loaded nor played.
///
/// Expressions select date ranges by their attributes, for example `CLASS=com.example.ad && DURATION!=0`. A class alone
/// stands for `CLASS=`. They also select breaks between the markers of a playlist, whose class is the tag
/// (`EXT-X-CUE-OUT`). Regular expressions select segments by a part of their URI or URL.
public struct SkipRule: Sendable, Hashable {
    let dateRanges: [DateRangeExpression]
    let segmentURIs: [TextPattern]
    /// Whether the whole item is skipped and only its events are played.
    let isForAll: Bool

    /// A rule that skips all media of an item and plays only its interstitials, one after another.
    public static let primary = SkipRule(isForAll: true)

    private init(isForAll: Bool) {
        (dateRanges, segmentURIs) = ([], [])
        self.isForAll = isForAll
    }

    /// Creates a rule that skips everything that one of the expressions matches.
    ///
    /// - Parameters:
    ///   - dateRanges: The expressions for attributes of date ranges.
    ///   - segmentURIs: The regular expressions, in which `^` and `$` match the ends of the URI or the URL.
    /// - Throws: ``HLSError`` with the code `invalidArgument` and the problem with an expression.
    public init(dateRanges: [String] = [], segmentURIs: [String] = []) throws(HLSError) {
        do throws(ExpressionError) {
            var expressions: [DateRangeExpression] = []
            for text in dateRanges { expressions.append(try DateRangeExpression(parsing: text)) }
            var patterns: [TextPattern] = []
            for text in segmentURIs { patterns.append(try TextPattern(text)) }
            (self.dateRanges, self.segmentURIs, isForAll) = (expressions, patterns, false)
        } catch {
            throw HLSError(code: .invalidArgument, cause: "not a skip rule", detail: error.description)
        }
    }

    package init(dateRanges: [DateRangeExpression], segmentURIs: [TextPattern]) {
        self.dateRanges = dateRanges
        self.segmentURIs = segmentURIs
        isForAll = false
    }

    /// A Boolean value that indicates whether the rule skips nothing.
    public var isEmpty: Bool { dateRanges.isEmpty && segmentURIs.isEmpty && !isForAll }

    func means(_ range: DateRange) -> Bool { dateRanges.contains { $0.matches(range) } }
    func means(_ marker: SpliceMarker) -> Bool { dateRanges.contains { $0.matches(marker) } }
    func means(_ segment: MediaSegment, of playlist: MediaPlaylist) -> Bool {
        segmentURIs.contains { $0.matches(segment, of: playlist) }
    }
}

/// Content of an item that was skipped because its ``SkipRule`` selects it.
public struct SkippedContent: Sendable, Hashable {
    /// The skipped range on the item's timeline, up to the position where playback continues.
    public var timeRange: MediaTimeRange
    /// The IDs of the selected date ranges and markers.
    ///
    /// A marker may have no ID.
    public var dateRangeIDs: [String]
    /// The number of segments selected by their URIs.
    public var numberOfSegments: Int

    package init(timeRange: MediaTimeRange, dateRangeIDs: [String] = [], numberOfSegments: Int = 0) {
        self.timeRange = timeRange
        self.dateRangeIDs = dateRangeIDs
        self.numberOfSegments = numberOfSegments
    }
}
