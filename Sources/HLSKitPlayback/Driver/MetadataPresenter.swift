import HLSKitEngine
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection

/// Passes timed metadata and date ranges to the outputs that take them.
struct MetadataPresenter {
    private let dispatcher: OutputDispatcher
    private var metadata = MetadataReader()
    private var dateRanges = DateRangeReader()

    init(dispatcher: OutputDispatcher) { self.dispatcher = dispatcher }

    /// Handles metadata from the media. Returns it as a group if it is new.
    mutating func add(_ found: TimedMetadata, at time: Duration, _ view: EngineView) -> TimedMetadataGroup? {
        guard !view.disabledTracks.contains(.metadata), view.start.map({ time >= $0 }) ?? true,
            view.forwardEnd.map({ time < $0 }) ?? true,
            let group = metadata.group(of: found, at: time)
        else { return nil }
        dispatcher.add(group)
        return group
    }

    func welcome(_ receiver: any MetadataReceiver, from time: Duration) {
        for group in metadata.groups(from: time) { receiver.receive(group) }
    }

    mutating func flush() { metadata.removeAll() }

    func rewind(to time: Duration) {
        for group in metadata.groups(from: time) { dispatcher.add(group) }
    }

    /// Called when a playlist was loaded or an output was added. `tracker` returns the variant's playlist.
    mutating func readDateRanges(_ tracker: () -> PlaylistTracker?) {
        guard dispatcher.registry.wantsDateRanges, let tracker = tracker() else { return }
        if dateRanges.read(tracker) { dispatcher.update(dateRanges.groups) }
    }

    mutating func welcome(_ receiver: any DateRangeReceiver, _ tracker: () -> PlaylistTracker?) {
        readDateRanges(tracker)
        receiver.receive(dateRanges.groups)
    }
}
