/// Other content that a date range schedules, such as an advertisement: a ``DateRange`` of the class
/// `com.apple.hls.interstitial`, with the defaults of the specification filled in.
///
/// Source: rfc8216bis, appendix D.
public struct Interstitial: Sendable, Hashable {
    /// How much room the interstitial takes on a timeline that is shown.
    public enum TimelineOccupies: String, Sendable, Hashable, CaseIterable {
        case point = "POINT"
        case range = "RANGE"
    }

    /// How the interstitial is shown on the timeline.
    public enum TimelineStyle: String, Sendable, Hashable, CaseIterable {
        case highlight = "HIGHLIGHT"
        case primary = "PRIMARY"
    }

    /// The asset to play, as written. A playlist names either this or ``assetList``.
    public var assetURI: String?
    /// A JSON list of assets, as written.
    public var assetList: String?
    /// Where the primary content continues, from the start of the interstitial; nil means after its duration.
    public var resumeOffset: Duration?
    /// No more than this is played.
    public var playoutLimit: Duration?
    /// Align the start with a segment boundary.
    public var snapsOut: Bool
    /// Align the return with a segment boundary.
    public var snapsIn: Bool
    /// Skipping ahead inside is not allowed.
    public var restrictsSkip: Bool
    /// Jumping over it is not allowed.
    public var restrictsJump: Bool
    /// Default true.
    public var contentMayVary: Bool
    /// Whether the interstitial takes up a point or a range of the timeline (`X-TIMELINE-OCCUPIES`).
    public var timelineOccupies: TimelineOccupies
    /// Whether a timeline shows the interstitial as distinct from the content (`X-TIMELINE-STYLE`).
    public var timelineStyle: TimelineStyle
    /// From when on a skip button is offered.
    public var skipControlOffset: Duration?
    /// For how long.
    public var skipControlDuration: Duration?
    /// The label of the button.
    public var skipControlLabelID: String?
}

extension DateRange {
    /// The value of `CLASS` that makes a date range an interstitial.
    public static let interstitialClass = "com.apple.hls.interstitial"

    /// The interstitial that the range schedules; nil if it is of another class. Values that cannot be read count as
    /// not written.
    public var interstitial: Interstitial? {
        guard self.class == Self.interstitialClass else { return nil }
        let snap = Self.list(self[attribute: "X-SNAP"] ?? "")
        let restrict = Self.list(self[attribute: "X-RESTRICT"] ?? "")
        return Interstitial(
            assetURI: self[attribute: "X-ASSET-URI"], assetList: self[attribute: "X-ASSET-LIST"],
            resumeOffset: duration(ofAttribute: "X-RESUME-OFFSET", signed: true),
            playoutLimit: duration(ofAttribute: "X-PLAYOUT-LIMIT"),
            snapsOut: snap.contains("OUT"), snapsIn: snap.contains("IN"),
            restrictsSkip: restrict.contains("SKIP"), restrictsJump: restrict.contains("JUMP"),
            contentMayVary: self[attribute: "X-CONTENT-MAY-VARY"] != "NO",
            timelineOccupies: self[attribute: "X-TIMELINE-OCCUPIES"].flatMap { .init(rawValue: $0) } ?? .point,
            timelineStyle: self[attribute: "X-TIMELINE-STYLE"].flatMap { .init(rawValue: $0) } ?? .highlight,
            skipControlOffset: duration(ofAttribute: "X-SKIP-CONTROL-OFFSET"),
            skipControlDuration: duration(ofAttribute: "X-SKIP-CONTROL-DURATION"),
            skipControlLabelID: self[attribute: "X-SKIP-CONTROL-LABEL-ID"])
    }

    /// nil where the attribute is missing, or not a number.
    func duration(ofAttribute name: String, signed: Bool = false) -> Duration? {
        guard let text = self[attribute: name] else { return nil }
        let bytes = Array(text.utf8)
        return bytes.span.duration(in: 0..<bytes.count, signed: signed)
    }
}
