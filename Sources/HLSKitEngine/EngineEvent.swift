package import HLSKitCaptions
package import HLSKitLoading
package import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Identifies one request of an engine. IDs are never reused.
package struct RequestID: Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }
}

/// A sequence of media with its own playlist and cursor, loaded in parallel with others.
package enum LaneID: Int, Hashable, Sendable, CaseIterable {
    /// The variant: video with its muxed media, or audio if there is no video.
    case main
    case audio
    /// A subtitle rendition, which is never required for playback.
    case subtitles
}

/// Identifies one segment on its way through a lane. IDs increase.
package struct SegmentID: Hashable, Sendable, Comparable {
    package let lane: LaneID
    package let rawValue: Int

    package init(lane: LaneID, rawValue: Int) {
        self.lane = lane
        self.rawValue = rawValue
    }
    package static func < (one: SegmentID, other: SegmentID) -> Bool { one.rawValue < other.rawValue }
}

package enum EngineEvent: Sendable {
    case control(EngineControl)
    /// Body bytes of a request arrived and were passed to their consumer.
    case progress(RequestID, byteCount: Int)
    case responded(RequestID, TransportResponse)
    case playlist(RequestID, Result<LoadedPlaylist, PlaylistFailure>, TransferMetrics)
    /// The steering server responded from this URL.
    case steering(RequestID, Result<SteeringManifest, SteeringManifest.Invalid>, url: String, TransferMetrics)
    /// The assets of an interstitial arrived. `url`: the URL that responded.
    case assetList(
        RequestID, Result<InterstitialAssetList, InterstitialAssetList.Invalid>, url: String, TransferMetrics)
    /// A segment, map or key was loaded completely.
    case finished(RequestID, TransferMetrics)
    case failed(RequestID, LoadingError, TransferMetrics?)
    case media(MediaFact)
    case output(OutputFact)
    case timer(EngineTimer)
    /// The app responded to ``EngineEffect/ask(_:)``.
    case answer(AppAnswer)
    /// The app responded to ``EngineEffect/refreshURL(_:)``.
    case freshURL(Result<String, LoadingError>)
}

package enum EngineControl: Sendable {
    case setItem(EngineItem?)
    case play
    case pause
    case setRate(Float)
    case playImmediately(Float)
    /// Plays with an anchor of item time to host time. Ignored while the player waits automatically.
    case setRateAtHostTime(Float, TimeControlMachine.TimebaseAnchor)
    /// Moves the playhead and ends with ``EngineEffect/seekEnded(finished:)`` or ``EngineEffect/seekRefused``.
    ///
    /// A newer seek ends it at once unless the newer one is refused.
    case seek(SeekRequest)
    /// Moves the playhead by a number of frames, which results in a seek.
    case step(Int)
    /// Waits until media at the playhead is decoded. Ends with ``EngineEffect/prerollEnded(finished:)``.
    case preroll
    case cancelPreroll
    /// Cancels the current seek and leaves the playhead at the position it reached.
    case cancelSeek
    /// Changes the rate without a request from the app.
    case giveRate(Float, RateChangeReason)
    /// Notes whether another player plays an interstitial instead of this item.
    case setInterstitialRunning(Bool)
    /// Leaves the item at this point for a break, or cancels the break if nil.
    case setBreakPoint(BreakPoint.Place?)
    /// Notes that the playlist was checked for ranges to skip.
    case noteSchedule
    /// During a break, prepares the item to resume at this item time.
    ///
    /// `next`: the point at which the item is left for the break after that.
    case prepareToResume(at: Duration, next: BreakPoint.Place?)
    /// Requests assets of interstitials. Each request results in ``EngineEffect/assetList(_:_:)``.
    case askForAssets([AssetLists.Request])
    case setDefaultRate(Float)
    case setAutomaticallyWaits(Bool)
    case setActionAtItemEnd(ActionAtItemEnd)
    case setPreferences(PlayerItemPreferences)
    case setNetworkConditions(NetworkConditions)
    case setOutputLimits(OutputLimits)
    /// Takes previously unused kinds of media of a lane. `keepsOthers`: other kinds of it are already in use.
    case takeLate(Set<MediaKind>, of: LaneID, keepsOthers: Bool)
    /// Sets the resources that other players leave for this one.
    case setAllowance(LoadAllowance)
    /// Sets the end time of forward playback. nil removes it.
    case setForwardPlaybackEndTime(Duration?)
    /// Sets the end time of reverse playback. nil is the start.
    case setReversePlaybackEndTime(Duration?)
    /// Notes that the asset properties that the item waits for were loaded or that one failed.
    case assetKeysEnded(HLSError?)
    case select(MediaCharacteristic, MediaSelectionChoice)
    /// Sets whether a kind of media is decoded and, if it has its own playlist, loaded.
    case setTrackEnabled(MediaKind, Bool)
    case setSidecarCaptions([SidecarCaptions])
    case setMediaSelectionCriteria(MediaCharacteristic, MediaSelectionCriteria?)
    case setAppliesMediaSelectionCriteria(Bool)
    /// Reports app-defined data to the event receivers.
    case report(ClientDataNotice)
}

package struct LoadedPlaylist: Sendable {
    package var playlist: Playlist
    package var url: String
    package var byteCount: Int
    package var warnings: [String]
    /// Whether the playlist was a delta update, which was merged into the known playlist.
    package var isDelta = false

    package init(playlist: Playlist, url: String, byteCount: Int, warnings: [String], isDelta: Bool = false) {
        self.playlist = playlist
        self.url = url
        self.byteCount = byteCount
        self.warnings = warnings
        self.isDelta = isDelta
    }
}

package struct PlaylistFailure: Error, Sendable {
    /// The kind of failure. `misfit`: a delta update that does not match the known playlist.
    package enum Kind: Sendable { case notAPlaylist, malformed, limitExceeded, misfit }
    package var kind: Kind
    package var url: String
    package var text: String
    var detail: String?

    package init(kind: Kind, url: String, text: String, detail: String? = nil) {
        self.kind = kind
        self.url = url
        self.text = text
        self.detail = detail
    }
}

package enum MediaFact: Sendable {
    /// The lane's first tracks in this segment are known.
    case tracks(SegmentID, [MediaTrack])
    /// Media of the segment up to this item time can be decoded.
    case demuxed(SegmentID, upTo: Duration)
    /// The whole segment was demuxed and has this range on the item's timeline.
    case segmentEnded(SegmentID, start: Duration, end: Duration)
    case segmentFailed(SegmentID, SegmentFailure)
    /// The first replacement media of a lane is available and plays from this item time.
    case replaced(LaneID, number: Int, from: Duration)
    /// The item times of sync samples in this lane.
    case syncSamples(LaneID, [Duration])
    /// The video of a segment cannot be decoded without parameters from the head of its stream.
    case headNeeded(SegmentID)
    /// The head was read as far as it is useful.
    case headRead(SegmentID)
    /// The first sync frame of a segment follows the start of its window, so the segment before it is needed.
    case earlierSegmentNeeded(SegmentID)
    /// The audio of a segment ends before the segment's end in the playlist.
    case audioEnded(SegmentID, at: Duration)
    /// The closed caption services that have had content in the video so far.
    case closedCaptions(Set<ClosedCaptionService>)
    /// The segment contains a metadata tag or event, with its time range on the item's timeline.
    case metadata(SegmentID, TimedMetadataGroup)
}

package enum SegmentFailure: Error, Sendable {
    case media(MediaError)
    /// The length is invalid for ciphertext because the body was truncated.
    case truncatedCiphertext
    /// The padding is invalid because the key is wrong.
    case wrongKey
    /// The samples are encrypted, and no key is declared for them.
    case noKey
    case badKey(byteCount: Int)
    case badInitializationSection(MediaError)
}

package enum OutputFact: Sendable {
    /// All required media was presented up to this item time, in players without a clock.
    case presented(upTo: Duration)
    /// All media of a lane was presented or dropped. `end` is nil if no output uses the lane.
    case drained(LaneID, end: Duration?)
    /// The number of dropped frames since the item was set, reported at the end of an access log period.
    case droppedFrames(Int)
    /// Media requested with ``EngineEffect/prime(_:)`` is decoded.
    ///
    /// `first`: the item time of the first frame or, without video, of the first audio.
    case primed(Int, first: Duration?)
    /// The decoder returns nothing for this media. `isAll`: this applies to all of it, from its start to its end.
    case undecodable(LaneID, HLSError, isAll: Bool)
    case failed(HLSError)
}

/// A timer of an engine. Arming it again replaces its time.
package enum EngineTimer: Hashable, Sendable {
    /// Checks everything that depends on time alone: an empty buffer, the end, the reason for waiting.
    case resolve
    /// Ends "evaluating" as the reason for waiting.
    case evaluation
    case reload(LaneID)
    case retry(RequestRole)
    /// Requests the steering manifest again.
    case steering
    /// Marks the live edge as stale.
    case stale
    /// Checks the download of the current segment.
    case judge
    /// Ends the wait for the first frame.
    case firstFrame
    /// Ends the wait for the body of a preload hint.
    case hint(LaneID)
    /// Ends the wait for outputs that have not reached the end.
    case lastFrame
    /// Sends a periodic report to the event receivers.
    case report
    /// Ends a wait during or before a break.
    case interstitial
    /// Updates whether the current break content can be skipped.
    case skipControl
}
