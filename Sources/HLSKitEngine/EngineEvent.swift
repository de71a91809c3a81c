package import HLSKitCaptions
package import HLSKitLoading
package import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Names one request of an engine; never used twice.
package struct RequestID: Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }
}

/// The media that is loaded side by side: each lane has a media playlist and a cursor of its own.
package enum LaneID: Int, Hashable, Sendable, CaseIterable {
    /// The variant itself: video, or audio where there is no video, and whatever is muxed with it.
    case main
    /// A separate audio rendition.
    case audio
    /// A subtitle rendition. Never required for playing.
    case subtitles
}

/// Names one segment on its way through a lane; counts up.
package struct SegmentID: Hashable, Sendable, Comparable {
    package let lane: LaneID
    package let rawValue: Int

    package init(lane: LaneID, rawValue: Int) {
        self.lane = lane
        self.rawValue = rawValue
    }
    package static func < (one: SegmentID, other: SegmentID) -> Bool { one.rawValue < other.rawValue }
}

/// What goes into a ``PlaybackEngine``.
package enum EngineEvent: Sendable {
    case control(EngineControl)
    /// Body bytes of a request arrived (already handed to whoever consumes them).
    case progress(RequestID, byteCount: Int)
    /// The response header of a request arrived.
    case responded(RequestID, TransportResponse)
    /// A playlist was loaded and parsed.
    case playlist(RequestID, Result<LoadedPlaylist, PlaylistFailure>, TransferMetrics)
    /// The steering server answered, from this URL.
    case steering(RequestID, Result<SteeringManifest, SteeringManifest.Invalid>, url: String, TransferMetrics)
    /// What an interstitial plays. `url`: where the answer came from.
    case assetList(
        RequestID, Result<InterstitialAssetList, InterstitialAssetList.Invalid>, url: String, TransferMetrics)
    /// A segment, map or key was loaded whole.
    case finished(RequestID, TransferMetrics)
    case failed(RequestID, LoadingError, TransferMetrics?)
    case media(MediaFact)
    case output(OutputFact)
    case timer(EngineTimer)
    /// What the program has answered to ``EngineEffect/ask(_:)``.
    case answer(ProgramAnswer)
    /// What the program has answered to ``EngineEffect/refreshURL(_:)``.
    case freshURL(Result<String, LoadingError>)
}

/// What a person or program told the player to do.
package enum EngineControl: Sendable {
    case setItem(EngineItem?)
    case play
    case pause
    case setRate(Float)
    case playImmediately(Float)
    /// Plays with a point where item time and host time meet. Ignored while the player waits automatically.
    case setRateAtHostTime(Float, TimeControlMachine.TimebaseAnchor)
    /// Moves the playhead. Ends with ``EngineEffect/seekEnded(finished:)`` or ``EngineEffect/seekRefused``; a newer one
    /// that is not refused ends it at once.
    case seek(SeekRequest)
    /// Moves the playhead by so many pictures. What comes of it is a seek.
    case step(Int)
    /// Waits until media at the playhead is decoded. Ends with ``EngineEffect/prerollEnded(finished:)``.
    case preroll
    case cancelPreroll
    /// Lets the playhead stay where the seek that is under way has brought it.
    case cancelSeek
    /// The player has another rate, though the program has not asked for it now.
    case giveRate(Float, RateChangeReason)
    /// Another player shows something in the place of this one's item.
    case setInterstitialRunning(Bool)
    /// Leaves the item there for a break; nil where none is to come.
    case setBreakPoint(BreakPoint.Place?)
    /// Its list was looked at for parts that are left out.
    case noteSchedule
    /// While others are played in the item's place: makes it ready to resume at this item time.
    /// `next`: where it is left for the break after that.
    case prepareToResume(at: Duration, next: BreakPoint.Place?)
    /// Asks for what interstitials play; each is answered by ``EngineEffect/assetList(_:_:)``.
    case askForAssets([AssetLists.Request])
    case setDefaultRate(Float)
    case setAutomaticallyWaits(Bool)
    case setActionAtItemEnd(ActionAtItemEnd)
    case setPreferences(PlayerItemPreferences)
    case setNetworkConditions(NetworkConditions)
    /// What the item's outputs can show.
    case setOutputLimits(OutputLimits)
    /// Outputs want kinds of media of a lane that nobody took until now. `besideOthers`: others of it are taken already.
    case takeLate(Set<MediaKind>, of: LaneID, besideOthers: Bool)
    /// What other players leave.
    case setAllowance(LoadAllowance)
    /// Ends the item at this item time; nil takes the end time back.
    case setForwardPlaybackEndTime(Duration?)
    /// Ends reverse playing at this item time; nil is the start.
    case setReversePlaybackEndTime(Duration?)
    /// The properties of the asset that the item waits for are there, or one has failed.
    case assetKeysEnded(HLSError?)
    case select(MediaCharacteristic, MediaSelectionChoice)
    /// Whether a kind of media of the item is decoded and, where it has a playlist of its own, loaded.
    case setTrackEnabled(MediaKind, Bool)
    case setSidecarCaptions([SidecarCaptions])
    case setMediaSelectionCriteria(MediaCharacteristic, MediaSelectionCriteria?)
    case setAppliesMediaSelectionCriteria(Bool)
    /// The program tells what those who are told of events do not know.
    case report(ClientDataNotice)
    /// Stops loading; discards buffered and in-decoder media.
    case close
}

/// A parsed playlist with where it really came from.
package struct LoadedPlaylist: Sendable {
    package var playlist: Playlist
    package var url: String
    package var byteCount: Int
    package var warnings: [String]
    /// It came without what was known, over which it was laid.
    package var isDelta = false

    package init(playlist: Playlist, url: String, byteCount: Int, warnings: [String], isDelta: Bool = false) {
        self.playlist = playlist
        self.url = url
        self.byteCount = byteCount
        self.warnings = warnings
        self.isDelta = isDelta
    }
}

/// Why a body is not a playlist that can be used.
package struct PlaylistFailure: Error, Sendable {
    /// `misfit`: a delta update of another list than is known.
    package enum Kind: Sendable { case notAPlaylist, malformed, limitExceeded, misfit }
    package var kind: Kind
    package var url: String
    package var text: String
    /// Where, and all that is known of it.
    var detail: String?

    package init(kind: Kind, url: String, text: String, detail: String? = nil) {
        self.kind = kind
        self.url = url
        self.text = text
        self.detail = detail
    }
}

/// What demuxing found.
package enum MediaFact: Sendable {
    /// The lane's first tracks of this segment are known.
    case tracks(SegmentID, [MediaTrack])
    /// Media of the segment up to this item time can be decoded.
    case demuxed(SegmentID, upTo: Duration)
    /// The whole segment was demuxed: its real range on the item's timeline.
    case segmentEnded(SegmentID, start: Duration, end: Duration)
    /// The bytes of a segment cannot be used.
    case segmentFailed(SegmentID, SegmentFailure)
    /// The first media that replaces what was loaded in a lane is there: from this item time on it plays.
    case replaced(LaneID, number: Int, from: Duration)
    /// Pictures at which decoding can start, in this lane, by their item times.
    case syncSamples(LaneID, [Duration])
    /// The pictures of a segment cannot be decoded without what the head of its stream tells.
    case headNeeded(SegmentID)
    /// All that is of use in that head was read.
    case headRead(SegmentID)
    /// The sound of a segment ends before the segment does, by its playlist.
    case soundEnded(SegmentID, at: Duration)
    /// Services of closed captions that have said something in the video so far.
    case closedCaptions(Set<ClosedCaptionService>)
    /// A tag or an event lies in media of the segment; its time range is on the item's timeline.
    case metadata(SegmentID, TimedMetadataGroup)
}

/// Why a segment that arrived cannot be used.
package enum SegmentFailure: Error, Sendable {
    case media(MediaError)
    /// The length is not one of a whole ciphertext: the body was cut short.
    case truncatedCiphertext
    /// The padding is wrong: the key is.
    case wrongKey
    /// Its samples are encrypted, and nothing names a key for them.
    case noKey
    /// The key that arrived has a length other than 16 bytes.
    case badKey(byteCount: Int)
    case badInitializationSection(MediaError)
}

/// What outputs report.
package enum OutputFact: Sendable {
    /// Everything required has been presented up to this item time (players that are not paced by a clock).
    case presented(upTo: Duration)
    /// All media of a lane was presented or dropped; nil where nobody wants its media.
    case drained(LaneID, end: Duration?)
    /// Video frames that were dropped since the item was set, told when a period of the access log has ended.
    case droppedFrames(Int)
    /// The media at the playhead that ``EngineEffect/prime(_:)`` has asked for is decoded; the item time of the first
    /// picture, or of the first sound where there is none.
    case primed(Int, first: Duration?)
    /// Nothing of this media comes out of its decoder. `isAll`: from where it began to its end.
    case undecodable(LaneID, HLSError, isAll: Bool)
    /// An output cannot go on.
    case failed(HLSError)
}

/// The timers of an engine; arming one again replaces its time.
package enum EngineTimer: Hashable, Sendable {
    /// Look again at everything that depends on time alone (buffer running empty, end reached, reason for waiting).
    case resolve
    /// The reason for waiting is not "evaluating" any more.
    case evaluation
    case reload(LaneID)
    case retry(RequestRole)
    /// The steering server is asked again.
    case steering
    /// The live edge is stale at this time.
    case stale
    /// The download of the running segment is worth a look.
    case judge
    /// The first picture is waited for no longer.
    case firstPicture
    /// What is read from the body of a preload hint has to be here.
    case hint(LaneID)
    /// Outputs that have not come to the end are waited for no longer.
    case lastPicture
    /// Those who are told of events hear how it is.
    case report
    /// Something in a break, or before it, is waited for no longer.
    case interstitial
    /// What plays in a break may be skipped from now on, or no longer.
    case skipControl
}
