import HLSKitPlaylist
import HLSKitTime

extension InterstitialEvent {
    private static let ownAttributes: Set<String> = [
        "X-ASSET-URI", "X-ASSET-LIST", "X-RESUME-OFFSET", "X-PLAYOUT-LIMIT", "X-SNAP", "X-RESTRICT",
        "X-CONTENT-MAY-VARY",
        "X-TIMELINE-OCCUPIES", "X-TIMELINE-STYLE", "X-SKIP-CONTROL-OFFSET", "X-SKIP-CONTROL-DURATION",
        "X-SKIP-CONTROL-LABEL-ID",
    ]

    /// Creates the event that a date range of a playlist schedules.
    ///
    /// The result is nil for a date range of another class, without a start or without content. If it has two kinds of
    /// content, the asset list takes precedence.
    ///
    /// - Parameter base: The URL of the playlist.
    init?(_ group: DateRangeMetadataGroup, base: String) {
        let range = group.dateRange
        guard let interstitial = range.interstitial, let date = range.startDate,
            let content = Content(interstitial, base: base)
        else { return nil }
        self.init(id: range.id, date: date, content: content)
        cue = range.cue.contains(.pre) ? .joinCue : range.cue.contains(.post) ? .leaveCue : .noCue
        willPlayOnce = range.cue.contains(.once)
        resumptionOffset = interstitial.resumeOffset.map { MediaTime($0) } ?? .indefinite
        playoutLimit = interstitial.playoutLimit.map { MediaTime($0) }
        if interstitial.restrictsJump { restrictions.insert(.constrainsSeekingForwardInPrimaryContent) }
        if interstitial.restrictsSkip { restrictions.insert(.requiresPlaybackAtPreferredRateForAdvancement) }
        alignsStartWithPrimarySegmentBoundary = interstitial.snapsOut
        alignsResumptionWithPrimarySegmentBoundary = interstitial.snapsIn
        timelineOccupancy = interstitial.timelineOccupies == .range ? .fill : .singlePoint
        supplementsPrimaryContent = interstitial.timelineStyle == .primary
        contentMayVary = interstitial.contentMayVary
        plannedDuration = group.endDate.map { max(.zero, $0 - date) } ?? range.plannedDuration
        if interstitial.skipControlOffset != nil || interstitial.skipControlDuration != nil {
            skipControl = InterstitialSkipControl(
                offset: interstitial.skipControlOffset, duration: interstitial.skipControlDuration,
                labelID: interstitial.skipControlLabelID)
        }
        userDefinedAttributes = range.clientAttributes.filter { !Self.ownAttributes.contains($0.name) }
    }
}

extension InterstitialEvent.Content {
    fileprivate init?(_ interstitial: Interstitial, base: String) {
        guard let uri = interstitial.assetList ?? interstitial.assetURI,
            let url = URIReference.resolve(uri, against: base), !uri.isEmpty
        else { return nil }
        self = interstitial.assetList != nil ? .assetList(url) : .assets([InterstitialAsset(urlString: url)])
    }
}
