/// Other content that a date range schedules, such as an advertisement.
///
/// It is a ``DateRange`` of the class `com.apple.hls.interstitial`, including the defaults of the specification.
///
/// Source: rfc8216bis, appendix D.
public struct Interstitial: Sendable, Hashable {
    /// The space that the interstitial occupies on a displayed timeline.
    public enum TimelineOccupies: String, Sendable, Hashable, CaseIterable {
        case point = "POINT"
        case range = "RANGE"
    }

    /// The appearance of the interstitial on a displayed timeline.
    public enum TimelineStyle: String, Sendable, Hashable, CaseIterable {
        case highlight = "HIGHLIGHT"
        case primary = "PRIMARY"
    }

    /// The URI of the asset, as written.
    ///
    /// A playlist contains either this URI or ``assetList``.
    public var assetURI: String?
    /// The URI of a JSON list of assets, as written.
    public var assetList: String?
    /// The offset at which the primary content resumes, from the start of the interstitial.
    ///
    /// `nil` means after the interstitial's duration.
    public var resumeOffset: Duration?
    /// The maximum duration to play.
    public var playoutLimit: Duration?
    /// A Boolean value that indicates whether to align the start with a segment boundary.
    public var snapsOut: Bool
    /// A Boolean value that indicates whether to align the return with a segment boundary.
    public var snapsIn: Bool
    /// A Boolean value that indicates whether skipping ahead inside the interstitial is forbidden.
    public var restrictsSkip: Bool
    /// A Boolean value that indicates whether jumping over the interstitial is forbidden.
    public var restrictsJump: Bool
    /// A Boolean value that indicates whether the content may differ between clients.
    ///
    /// The default is `true`.
    public var contentMayVary: Bool
    /// The point or range that the interstitial occupies on a timeline (`X-TIMELINE-OCCUPIES`).
    public var timelineOccupies: TimelineOccupies
    /// The appearance of the interstitial on a timeline, distinct from the content or not (`X-TIMELINE-STYLE`).
    public var timelineStyle: TimelineStyle
    /// The offset at which a skip button appears.
    public var skipControlOffset: Duration?
    /// The duration for which the skip button is shown.
    public var skipControlDuration: Duration?
    /// The identifier of the skip button's label.
    public var skipControlLabelID: String?
}

extension DateRange {
    /// The value of `CLASS` that makes a date range an interstitial.
    public static let interstitialClass = "com.apple.hls.interstitial"

    /// The interstitial that the range schedules, or `nil` if the range has another class.
    ///
    /// Unreadable values are treated as absent.
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

    func duration(ofAttribute name: String, signed: Bool = false) -> Duration? {
        guard let text = self[attribute: name] else { return nil }
        let bytes = Array(text.utf8)
        return bytes.span.duration(in: 0..<bytes.count, signed: signed)
    }
}
