public import HLSKitTime

/// Takes what an item presents, at any time of its life: ``VideoOutput``, ``AudioOutput``, ``SampleOutput``,
/// ``LegibleOutput``, ``MetadataOutput``, ``MetadataCollector``, or a type of your own.
///
/// Outputs come and go with `PlayerItem.add(_:)` and `remove(_:)`, also while the item plays: neither its status nor its
/// timebase changes, and no other output loses anything. An output belongs to one item at a time. All of those above hold
/// a bounded amount, whoever reads slowly or not at all; what is dropped then is reported with each.
///
/// An output says what it takes by the protocols that it conforms to besides this one: ``FrameReceiver``,
/// ``AudioReceiver``, ``SampleReceiver``, ``CueReceiver``, ``ClosedCaptionReceiver``, ``MetadataReceiver``,
/// ``DateRangeReceiver``. Media that no output takes is neither decoded nor kept. ``TimedOutput`` and ``LimitedOutput`` ask
/// for more. The notices of ``OutputReceiver`` reach every output.
///
/// ## Calls
///
/// - Frames, audio and samples come from a decoding thread, one for each kind of media, in the order of presentation
///   (samples: of decoding). Everything else comes from the player's own task. So several threads call at once, and an
///   output protects its state.
/// - A call must not wait for the player: that includes its `close()` and its seeks.
/// - Decoding threads may be held up, which is back pressure: the player decodes nothing more of this kind of media
///   until the call returns, and without pacing plays only as fast as its outputs take media. With pacing, what
///   comes late for that reason is dropped by the player or shown late. The player's task must not be held up: it loads
///   media and keeps time.
/// - Media may still be on its way on a decoding thread when ``OutputReceiver/flush(generation:)`` comes: its clock has a lower
///   ``OutputClock/generation``. Drop it.
public protocol PlayerItemOutput: AnyObject, Sendable {
    /// What ties the output to its item. Make one with the output, and keep it.
    var binding: OutputBinding { get }
}

extension PlayerItemOutput {
    /// The output is there in place of the item's writers: they get nothing of the kinds of media that it takes, nor does
    /// the player report cues. Default: false.
    public var suppressesPlayerRendering: Bool {
        get { binding.suppressesPlayerRendering }
        set { binding.suppressesPlayerRendering = newValue }
    }

    /// The item time at a host time of the player's ``Player/sourceClock``, should the rate stay what it is. `.invalid`
    /// while the output belongs to no item that is played.
    public func itemTime(forHostTime hostTime: HostTime) -> MediaTime {
        guard let clock = binding.clock else { return .invalid }
        return clock.itemTime(atHostTime: hostTime)
    }
}
