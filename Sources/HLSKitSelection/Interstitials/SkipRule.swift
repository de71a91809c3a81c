public import HLSKitLoading
package import HLSKitPlaylist
public import HLSKitTime

/// Which parts of an item are left out: neither loaded nor played.
///
/// Date ranges are meant by expressions of their attributes (`CLASS=com.example.ad && DURATION!=0`, a class alone for `CLASS=`),
/// and so are the breaks between the markers of a playlist, whose class is the tag (`EXT-X-CUE-OUT`). Segments are meant by
/// regular expressions that match a part of their URI or URL. See docs/behaviour/interstitials.md.
public struct SkipRule: Sendable, Hashable {
    let dateRanges: [DateRangeExpression]
    let segmentURIs: [TextPattern]
    /// All of the item is meant, and its events are played.
    let isForAll: Bool

    /// Leaves out all of an item but its interstitials, which are played one after the other: to look at them.
    public static let primary = SkipRule(isForAll: true)

    private init(isForAll: Bool) {
        (dateRanges, segmentURIs) = ([], [])
        self.isForAll = isForAll
    }

    /// Makes a rule: what one of the expressions means is left out.
    ///
    /// - Parameters:
    ///   - dateRanges: expressions of the attributes of date ranges.
    ///   - segmentURIs: regular expressions; `^` and `$` stand for the ends of the URI, or the URL.
    /// - Throws: `invalidArgument`, with what is wrong with an expression.
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

    /// Makes a rule of expressions that were read before.
    package init(dateRanges: [DateRangeExpression], segmentURIs: [TextPattern]) {
        self.dateRanges = dateRanges
        self.segmentURIs = segmentURIs
        isForAll = false
    }

    /// Nothing is left out.
    public var isEmpty: Bool { dateRanges.isEmpty && segmentURIs.isEmpty && !isForAll }

    func means(_ range: DateRange) -> Bool { dateRanges.contains { $0.matches(range) } }
    func means(_ marker: SpliceMarker) -> Bool { dateRanges.contains { $0.matches(marker) } }
    func means(_ segment: MediaSegment, of playlist: MediaPlaylist) -> Bool {
        segmentURIs.contains { $0.matches(segment, of: playlist) }
    }
}

/// What was left out of an item because its ``SkipRule`` means it.
public struct SkippedContent: Sendable, Hashable {
    /// From where playing was to where it continues, on the item's timeline.
    public var timeRange: MediaTimeRange
    /// The IDs of the date ranges that are meant; those of markers only where they have one.
    public var dateRangeIDs: [String]
    /// How many segments are meant by their URIs.
    public var numberOfSegments: Int

    /// Makes a value.
    package init(timeRange: MediaTimeRange, dateRangeIDs: [String] = [], numberOfSegments: Int = 0) {
        self.timeRange = timeRange
        self.dateRangeIDs = dateRangeIDs
        self.numberOfSegments = numberOfSegments
    }
}
