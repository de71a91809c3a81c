import HLSKitEngine
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection

/// Gives timed metadata and date ranges to the outputs that take them.
struct MetadataPresenter {
    private let dispatcher: OutputDispatcher
    private var metadata = MetadataReader()
    private var dateRanges = DateRangeReader()

    init(dispatcher: OutputDispatcher) { self.dispatcher = dispatcher }

    /// Takes metadata that was found in the media; gives what is news.
    mutating func add(_ found: TimedMetadata, at time: Duration, _ view: EngineView) -> TimedMetadataGroup? {
        guard !view.disabledTracks.contains(.metadata), view.start.map({ time >= $0 }) ?? true,
            view.forwardEnd.map({ time < $0 }) ?? true,
            let group = metadata.group(of: found, at: time)
        else { return nil }
        dispatcher.add(group)
        return group
    }

    /// Gives an output that has just come what lies ahead in what was loaded.
    func welcome(_ receiver: any MetadataReceiver, from time: Duration) {
        for group in metadata.groups(from: time) { receiver.receive(group) }
    }

    /// All media is forgotten.
    mutating func flush() { metadata.removeAll() }

    /// Time has jumped to where media is held: what is presented from there on is given once more.
    func rewind(to time: Duration) {
        for group in metadata.groups(from: time) { dispatcher.add(group) }
    }

    /// A playlist was loaded, or an output has come. `tracker` gives the playlist of the variant.
    mutating func readDateRanges(_ tracker: () -> PlaylistTracker?) {
        guard dispatcher.registry.wantsDateRanges, let tracker = tracker() else { return }
        if dateRanges.read(tracker) { dispatcher.update(dateRanges.groups) }
    }

    /// Tells an output that has just come of the date ranges.
    mutating func welcome(_ receiver: any DateRangeReceiver, _ tracker: () -> PlaylistTracker?) {
        readDateRanges(tracker)
        receiver.receive(dateRanges.groups)
    }
}
