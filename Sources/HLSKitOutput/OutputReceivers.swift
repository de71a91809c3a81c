public import HLSKitCaptions
public import HLSKitCodec
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime

// What outputs of an item can take. ``PlayerItemOutput`` says which thread calls, in which order, and who waits for whom.
// An error that a call throws is final: the item fails with it.

/// The notices that reach every receiver, whatever it takes.
public protocol OutputReceiver: PlayerItemOutput {
    /// Time has jumped: what was taken and not used is of the past. Cues and metadata that lie behind the place to which
    /// it jumped come again.
    ///
    /// - Parameter generation: the number of this flush; that of media which comes after it is not lower.
    func flush(generation: Int)
    /// All media of a kind was handed over, up to the end of the item. A seek may bring more, after a flush.
    func finish(_ type: MediaKind, at clock: OutputClock)
    /// The item failed, is no longer played, or no longer has the output. Nothing more comes, unless the output is added
    /// to an item, or its item to a player, again; generations then begin at 0 again.
    func end()
}

/// Takes decoded frames.
public protocol FrameReceiver: OutputReceiver {
    /// The time of a frame has come; ``VideoFrame/itemTime`` is on the item's timeline.
    ///
    /// An output that is added while time stands still gets the frame of now, once, from the player's own task.
    func receive(_ frame: VideoFrame, at clock: OutputClock) throws(HLSError)
}

/// Takes frames ahead of their time, too.
public protocol EarlyFrameReceiver: FrameReceiver {
    /// A frame was decoded and waits for its time. It comes again with ``FrameReceiver/receive(_:at:)``, unless a flush
    /// comes first.
    func prepare(_ frame: VideoFrame, at clock: OutputClock)
}

/// Takes decoded audio, before volume and rate are applied: ``OutputClock/gain``, ``OutputClock/rate``.
public protocol AudioReceiver: OutputReceiver {
    /// The time of a buffer's first sample has come; ``AudioBuffer/itemTime`` is on the item's timeline.
    func receive(_ buffer: AudioBuffer, at clock: OutputClock) throws(HLSError)
}

/// Takes audio ahead of its time, too.
public protocol EarlyAudioReceiver: AudioReceiver {
    /// A buffer was decoded and waits for its time. It comes again with ``AudioReceiver/receive(_:at:)``, unless a flush
    /// comes first.
    func prepare(_ buffer: AudioBuffer, at clock: OutputClock)
}

/// Takes compressed samples.
public protocol SampleReceiver: OutputReceiver {
    /// The kinds of media whose samples it takes. Does not change.
    var sampleTypes: Set<MediaKind> { get }

    /// The decoding time of a sample has come; it is presented at `itemTime`.
    func receive(
        _ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, clock: OutputClock
    ) throws(HLSError)
}

/// Takes the cues of the selected subtitles, as soon as their place on the timeline is known: mostly ahead of their time.
public protocol CueReceiver: OutputReceiver {
    /// These cues are known now.
    func receive(_ cues: [LegibleCue])
    /// Cues that came before have changed.
    func replace(_ changes: [CueChange])
    /// Cues that came before are no longer valid: other subtitles were selected.
    func removeCues()
}

/// Takes the closed captions in the video, of all services, selected or not.
public protocol ClosedCaptionReceiver: OutputReceiver {
    /// These captions are complete: they have left the screen.
    func receive(_ captions: [ClosedCaption])
}

/// Takes the timed metadata in the media, as soon as its place on the timeline is known: mostly ahead of its time.
public protocol MetadataReceiver: OutputReceiver {
    /// A tag or event.
    func receive(_ group: TimedMetadataGroup)
}

/// Takes the `EXT-X-DATERANGE`s of the playlist that is played.
public protocol DateRangeReceiver: OutputReceiver {
    /// A playlist was loaded that changed them, or the output has just come: all of them, in the order of the playlist.
    func receive(_ dateRanges: [DateRangeMetadataGroup])
}

/// Wants to be called at item times of its own choice: when a cue begins, say.
public protocol TimedOutput: PlayerItemOutput {
    /// The item time at which it wants to be called next; nil for never. Asked after everything that happens.
    var nextDelivery: Duration? { get }
    /// The item time has reached ``nextDelivery``, and is `time` now.
    func deliver(upTo time: Duration, at clock: OutputClock)
}

/// Gives media to readers of sequences, who read at a pace of their own.
package protocol ReadOutput: OutputReceiver {
    /// How much readers have lost so far: frames, buffers or samples.
    var lostCount: Int { get }
    /// Returns when readers have room for more. Called before media comes, where no clock says when that has to be.
    func waitForRoom(generation: Int) async
}

/// Cannot show everything that there is. Variants that go beyond the largest output of an item are not loaded while there
/// are others.
public protocol LimitedOutput: PlayerItemOutput {
    /// Call ``OutputBinding/noteChange()`` when they change.
    var limits: OutputLimits { get }
}

/// An output that, by how it was made, takes less than its type does.
protocol SelectiveOutput: PlayerItemOutput {
    var takesCues: Bool { get }
    var takesMetadata: Bool { get }
}

/// An output of the library's own: what the player calls is not its users' business.
protocol IntakeOutput: PlayerItemOutput {
    /// What takes the media, in the output's place.
    var intake: any OutputReceiver { get }
}
