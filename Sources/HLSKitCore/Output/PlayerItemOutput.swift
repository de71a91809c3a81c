import HLSMedia
public import HLSTime
import Synchronization

/// Takes what an item presents, at any time of its life: ``VideoOutput``, ``AudioOutput``, ``SampleOutput``,
/// ``LegibleOutput``, ``MetadataOutput`` and ``MetadataCollector``.
///
/// Outputs come and go with `PlayerItem.add(_:)` and `remove(_:)`, also while the item plays: neither its status nor its
/// timebase changes, and no other output loses anything. An output belongs to one item at a time. All of them hold a
/// bounded amount, whoever reads slowly or not at all; what is dropped then is told with each.
public protocol PlayerItemOutput: AnyObject, Sendable {
    /// How the item reaches the output. Of no use to programs.
    var connection: OutputConnection { get }
}

extension PlayerItemOutput {
    /// The output is there in place of the item's writers: they get nothing of the kinds of media that it takes, nor does
    /// the player tell cues. Default: false.
    public var suppressesPlayerRendering: Bool {
        get { connection.receiver.tie.suppressesPlayerRendering }
        set { connection.receiver.tie.suppressesPlayerRendering = newValue }
    }

    /// The item time at a host time (seconds since the player was made, as ``PlayerEvent/hostTime``), should the rate stay
    /// what it is. `.invalid` while the output belongs to no item that is played.
    public func itemTime(forHostTime hostTime: Duration) -> MediaTime {
        guard let moment = connection.receiver.tie.moment else { return .invalid }
        return MediaTime(moment.itemTime(at: hostTime))
    }
}

/// How an item reaches an output.
public struct OutputConnection: Sendable {
    let receiver: any OutputReceiving

    init(_ receiver: any OutputReceiving) { self.receiver = receiver }
}

/// An output as its item sees it. Called by several threads, in the order of presentation for each kind of media; calls
/// neither wait nor run code of users.
protocol OutputReceiving: AnyObject, Sendable {
    var tie: OutputTie { get }
    /// Kinds of media that it takes decoded, and as samples.
    var frameTypes: Set<MediaType> { get }
    var sampleTypes: Set<MediaType> { get }
    var takesCues: Bool { get }
    var takesMetadata: Bool { get }
    var takesDateRanges: Bool { get }
    /// Where pictures are shown; nil where they may be of any size.
    var display: SelectionContext.Display? { get }
    /// Pictures of high dynamic range cannot be shown.
    var needsStandardRange: Bool { get }
    /// Channels of the sound that it gives; nil where they are those of the source.
    var channelCount: Int? { get }

    /// A picture that was decoded ahead of its time.
    func prepare(_ frame: VideoFrame, _ moment: OutputMoment)
    /// The time of a picture has come.
    func present(_ frame: VideoFrame, _ moment: OutputMoment)
    func prepare(_ buffer: AudioBuffer, _ moment: OutputMoment)
    func present(_ buffer: AudioBuffer, _ moment: OutputMoment)
    func take(_ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, _ moment: OutputMoment)
    /// Cues whose place on the timeline is known by now.
    func add(_ cues: [LegibleCue])
    /// Cues that were added have become others.
    func replace(_ changes: [CueChange])
    /// Closed captions of all services that are whole, selected or not.
    func add(_ captions: [ClosedCaption])
    /// Metadata whose place on the timeline is known by now.
    func add(_ group: TimedMetadataGroup)
    func update(_ dateRanges: [DateRangeMetadataGroup])
    /// The item time at which it wants to be called next; nil for never.
    var nextDelivery: Duration? { get }
    /// Delivers what is due at an item time.
    func deliver(upTo time: Duration, _ moment: OutputMoment)
    /// All sound or all pictures came.
    func finish(_ type: MediaType, _ moment: OutputMoment)
    /// What was taken and not delivered is of the past: time has jumped. Cues and metadata of where it has jumped to come
    /// again.
    func flush(generation: Int)
    /// Cues that were added are none any more: other subtitles were selected.
    func removeCues()
    /// The item is played no longer, or does not have the output any more.
    func end()
}

extension OutputReceiving {
    var frameTypes: Set<MediaType> { [] }
    var sampleTypes: Set<MediaType> { [] }
    var takesCues: Bool { false }
    var takesMetadata: Bool { false }
    var takesDateRanges: Bool { false }
    var display: SelectionContext.Display? { nil }
    var needsStandardRange: Bool { false }
    var channelCount: Int? { nil }
    func prepare(_ frame: VideoFrame, _ moment: OutputMoment) {}
    func present(_ frame: VideoFrame, _ moment: OutputMoment) {}
    func prepare(_ buffer: AudioBuffer, _ moment: OutputMoment) {}
    func present(_ buffer: AudioBuffer, _ moment: OutputMoment) {}
    func take(_ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, _ moment: OutputMoment) {}
    func add(_ cues: [LegibleCue]) {}
    func replace(_ changes: [CueChange]) {}
    func add(_ captions: [ClosedCaption]) {}
    func add(_ group: TimedMetadataGroup) {}
    func update(_ dateRanges: [DateRangeMetadataGroup]) {}
    var nextDelivery: Duration? { nil }
    func deliver(upTo time: Duration, _ moment: OutputMoment) {}
    func finish(_ type: MediaType, _ moment: OutputMoment) {}
    func flush(generation: Int) {}
    func removeCues() {}
    func end() {}

    /// Whether writers are to get nothing of this kind.
    func suppresses(_ type: MediaType) -> Bool {
        (frameTypes.contains(type) || sampleTypes.contains(type)) && tie.suppressesPlayerRendering
    }
}

/// What ties an output to its item.
final class OutputTie: Sendable {
    private struct State {
        var isTaken = false
        var suppressesPlayerRendering = false
        var noteChange: (@Sendable () -> Void)?
        var moment: (@Sendable () -> OutputMoment)?
        var isOver = false
    }

    private let state = Mutex(State())

    /// False where the output has an item already. `noteChange` is to be called when its wishes change.
    func take(noteChange: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.isTaken = true
            state.isOver = false
            state.noteChange = noteChange
            return true
        }
    }

    func release() {
        state.withLock { state in
            state.isTaken = false
            state.isOver = false
            state.noteChange = nil
            state.moment = nil
        }
    }

    /// The item is played from now on.
    func begin(moment: @escaping @Sendable () -> OutputMoment) {
        state.withLock { state in
            state.isOver = false
            state.moment = moment
        }
    }

    /// Nothing more comes from the item: it has failed, or is played no longer.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.moment = nil
        }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// What is sent from now on; nothing if the item is over.
    func subscribe<Element>(to elements: Broadcast<Element>) -> AsyncStream<Element> {
        elements.subscribe(unless: { isOver })
    }

    /// How times stand now; nil while the item is not played.
    var moment: OutputMoment? {
        let read = state.withLock { $0.moment }
        return read?()
    }

    func noteChange() {
        let note = state.withLock { $0.noteChange }
        note?()
    }

    var suppressesPlayerRendering: Bool {
        get { state.withLock { $0.suppressesPlayerRendering } }
        set {
            state.withLock { $0.suppressesPlayerRendering = newValue }
            noteChange()
        }
    }
}
