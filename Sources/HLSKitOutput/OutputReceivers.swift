public import HLSKitCaptions
public import HLSKitCodec
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime

// The protocols for media that outputs of an item can receive. ``PlayerItemOutput`` describes the threads, the order of
// calls and the back pressure. An error that a call throws is final: the item fails with it.

/// The notices that every receiver gets, regardless of its media.
public protocol OutputReceiver: PlayerItemOutput {
    /// Notifies the receiver that time has jumped.
    ///
    /// Discard all media that you have received but not used. Cues and metadata after the new position are delivered
    /// again.
    ///
    /// - Parameter generation: The number of this flush. Media after the flush has at least this number.
    func flush(generation: Int)
    /// Notifies the receiver that all media of a kind was delivered. A seek may deliver more, after a flush.
    func finish(_ type: MediaKind, at clock: OutputClock)
    /// Notifies the receiver that no more media follows.
    ///
    /// The item has failed, is no longer played or no longer has the output. If the output is added to an item again,
    /// or its item to a player, media follows and generations begin at 0 again.
    func end()
}

/// A receiver of decoded frames.
public protocol FrameReceiver: OutputReceiver {
    /// Receives a frame that is due. ``VideoFrame/itemTime`` is on the item's timeline.
    ///
    /// An output that is added while time does not advance receives the current frame once, from the player's task.
    func receive(_ frame: VideoFrame, at clock: OutputClock) throws(HLSError)
}

/// A receiver that also receives frames before they are due.
public protocol EarlyFrameReceiver: FrameReceiver {
    /// Receives a decoded frame that is not due yet.
    ///
    /// The frame is delivered again with ``FrameReceiver/receive(_:at:)``, unless a flush comes first.
    func prepare(_ frame: VideoFrame, at clock: OutputClock)
}

/// A receiver of decoded audio, before volume (``OutputClock/gain``) and ``OutputClock/rate`` are applied.
public protocol AudioReceiver: OutputReceiver {
    /// Receives a buffer whose first sample is due. ``AudioBuffer/itemTime`` is on the item's timeline.
    func receive(_ buffer: AudioBuffer, at clock: OutputClock) throws(HLSError)
}

/// A receiver that also receives audio before it is due.
public protocol EarlyAudioReceiver: AudioReceiver {
    /// Receives a decoded buffer that is not due yet.
    ///
    /// The buffer is delivered again with ``AudioReceiver/receive(_:at:)``, unless a flush comes first.
    func prepare(_ buffer: AudioBuffer, at clock: OutputClock)
}

/// A receiver of compressed samples.
public protocol SampleReceiver: OutputReceiver {
    /// The kinds of media whose samples it receives. The value must not change.
    var sampleTypes: Set<MediaKind> { get }

    /// Receives a sample whose decoding time is due. It is presented at `itemTime`.
    func receive(
        _ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, clock: OutputClock
    ) throws(HLSError)
}

/// A receiver of the cues of the selected subtitles.
///
/// Cues are delivered as soon as their position on the timeline is known, mostly before their time.
public protocol CueReceiver: OutputReceiver {
    /// Receives new cues.
    func receive(_ cues: [LegibleCue])
    /// Receives changes to earlier cues.
    func replace(_ changes: [CueChange])
    /// Notifies the receiver that earlier cues are invalid, because other subtitles were selected.
    func removeCues()
}

/// A receiver of the closed captions of all services in the video, selected or not.
public protocol ClosedCaptionReceiver: OutputReceiver {
    /// Receives captions that are complete, because they have left the screen.
    func receive(_ captions: [ClosedCaption])
}

/// A receiver of the timed metadata in the media.
///
/// Metadata is delivered as soon as its position on the timeline is known, mostly before its time.
public protocol MetadataReceiver: OutputReceiver {
    /// Receives a tag or event.
    func receive(_ group: TimedMetadataGroup)
}

/// A receiver of the `EXT-X-DATERANGE`s of the current playlist.
public protocol DateRangeReceiver: OutputReceiver {
    /// Receives all date ranges in the order of the playlist, when they change and when the output is added.
    func receive(_ dateRanges: [DateRangeMetadataGroup])
}

/// An output that is called at item times of its choice, for example when a cue begins.
public protocol TimedOutput: PlayerItemOutput {
    /// The item time of the next call, or `nil` for no call. Read after every event.
    var nextDelivery: Duration? { get }
    /// Notifies the output that the item time has reached ``nextDelivery`` and is now `time`.
    func deliver(upTo time: Duration, at clock: OutputClock)
}

package protocol ReadOutput: OutputReceiver {
    var lostCount: Int { get }
    /// Waits until readers have space. Called before media is delivered without pacing.
    func waitForRoom(generation: Int) async
}

/// An output that cannot show everything.
///
/// Variants that exceed the largest output of an item are loaded only if there are no others.
public protocol LimitedOutput: PlayerItemOutput {
    /// The limits of the output. When they change, call ``OutputBinding/noteChange()``.
    var limits: OutputLimits { get }
}

/// An output whose configuration excludes some of the media that its type can receive.
protocol SelectiveOutput: PlayerItemOutput {
    var takesCues: Bool { get }
    var takesMetadata: Bool { get }
}

/// An output of the library, whose receiver methods are hidden from apps.
protocol IntakeOutput: PlayerItemOutput {
    var intake: any OutputReceiver { get }
}
