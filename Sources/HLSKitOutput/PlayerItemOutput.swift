public import HLSKitTime

/// A type that receives the media of an item while the item is played.
///
/// Use ``VideoOutput``, ``AudioOutput``, ``SampleOutput``, ``LegibleOutput``, ``MetadataOutput`` or
/// ``MetadataCollector``, or write your own type.
///
/// You can add and remove outputs at any time with `PlayerItem.add(_:)` and `remove(_:)`. The item's status, its
/// timebase and its other outputs are not affected. An output belongs to one item at a time. The library's outputs have
/// limited queues, so a slow reader loses media. The documentation of each output describes how it reports the loss.
///
/// An output conforms to further protocols to declare the media that it receives: ``FrameReceiver``, ``AudioReceiver``,
/// ``SampleReceiver``, ``CueReceiver``, ``ClosedCaptionReceiver``, ``MetadataReceiver`` or ``DateRangeReceiver``. Media
/// without an output is neither decoded nor kept. ``TimedOutput`` and ``LimitedOutput`` add other features. All outputs
/// receive the notices of ``OutputReceiver``.
///
/// ## Calls
///
/// - Frames, audio and samples come from decoding threads, one for each kind of media. Frames and audio arrive in
///   presentation order, samples in decoding order. All other calls come from the player's task. Several threads may
///   call at once, so an output must protect its state.
/// - A call must not wait for the player, including its `close()` and seeks.
/// - An output may block a decoding thread to create back pressure. The player then decodes no more media of that kind
///   until the call returns. Without pacing, playback is as fast as the outputs accept media. With pacing, late media
///   is dropped or shown late. An output must not block the player's task, which loads media and keeps time.
/// - A decoding thread may still deliver earlier media after ``OutputReceiver/flush(generation:)``. The clock of such
///   media has a lower ``OutputClock/generation``. Drop the media.
public protocol PlayerItemOutput: AnyObject, Sendable {
    /// The connection of the output to its item. Create one with the output, and keep it.
    var binding: OutputBinding { get }
}

extension PlayerItemOutput {
    /// A Boolean value that indicates whether the output replaces the item's writers.
    ///
    /// If the value is `true`, the writers receive none of the kinds of media that the output receives, and the player
    /// reports no cues. The default is `false`.
    public var suppressesPlayerRendering: Bool {
        get { binding.suppressesPlayerRendering }
        set { binding.suppressesPlayerRendering = newValue }
    }

    /// Returns the item time at a host time of ``Player/sourceClock``, if the rate does not change.
    ///
    /// The result is `.invalid` if the output has no item or the item is not played.
    public func itemTime(forHostTime hostTime: HostTime) -> MediaTime {
        guard let clock = binding.clock else { return .invalid }
        return clock.itemTime(atHostTime: hostTime)
    }
}
