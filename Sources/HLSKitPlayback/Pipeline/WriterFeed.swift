import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitTime
import Synchronization

/// Delivers media to the writers of an item.
///
/// Each writer receives all its tracks before any media, and media refers to a track by its index among them. Output is
/// flushed once per second of media, or at once if it is read while it is written.
final class WriterFeed: Sendable {
    private struct Announcement {
        /// The tracks in the order in which they began, and then of ``MediaKind``.
        var tracks: [MediaTrack]
        /// The version of the item's tracks for which the announcement is valid.
        var version: Int

        /// The index of the item's track of a kind, if the tracks have not changed since the announcement.
        func index(of type: MediaKind, at version: Int) -> Int? {
            guard isReported, version == self.version else { return nil }
            return tracks.firstIndex { $0.mediaType == type }
        }

        var isReported: Bool
    }

    private struct State {
        /// The kinds of media in the item, or `nil` until every lane has reported its tracks.
        var known: Set<MediaKind>? { didSet { version += 1 } }
        var tracks: [MediaKind: MediaTrack] = [:] { didSet { version += 1 } }
        private(set) var version = 0
        var announced: [Int: Announcement] = [:]
        /// The kinds of media in the order of each writer's tracks, so that a late track leaves the others in place.
        var order: [Int: [MediaKind]] = [:]
        var isClosed = false
        var isHeld = false
        var shift = Duration.zero
        /// The start of each kind of media, in item time.
        var starts: [MediaKind: Duration] = [:]
        var isOpen = false
    }

    private let registry: OutputRegistry
    private let isPaced: Bool
    private let state: Gate<State>
    /// The second of media in which each writer was last flushed.
    private let flushed = Mutex<[Int: Int64]>([:])

    init(_ registry: OutputRegistry, isHeld: Bool, isPaced: Bool = true) {
        self.registry = registry
        self.isPaced = isPaced
        state = Gate(State(isHeld: isHeld))
    }

    /// Sets the kinds of media in the item. Writers receive nothing before this call.
    func expect(_ types: Set<MediaKind>) {
        state.signal { $0.known = types }
    }

    /// Sets the kinds of media that the item has or may have. Writers do not need all of them to begin.
    func announce(_ types: Set<MediaKind>) {
        guard !isHeld else { return }
        for entry in registry.writers where !entry.isLate {
            (entry.writer as? any TrackAwaitingWriter)?.awaitTracks(of: types)
        }
    }

    func release() {
        state.signal { $0.isHeld = false }
    }

    func hold() {
        state.signal { state in
            state.isHeld = true
            // The interstitials announce their own tracks to the writers in the meantime.
            state.announced = [:]
        }
    }

    /// Sets the shift from item time to writer time.
    ///
    /// - Parameter time: See ``WriterCursor/place(_:after:)``.
    func place(_ shift: Duration, after time: Duration?) {
        let shift = registry.cursor.place(shift, after: time)
        state.signal { $0.shift = shift }
    }

    private var isOpen: Bool { state.withLock(\.isOpen) }

    /// Shifts the item so that media before its start does not overlap earlier items.
    ///
    /// Audio in transport streams often starts a frame before the video.
    private func open() async {
        let isFirst = registry.cursor.isAtStart
        // Late writers are not waited for.
        let types = Set(registry.writers.lazy.filter { !$0.isLate }.flatMap(\.writer.mediaTypes))
        await state.wait { state -> Void? in
            if state.isOpen || state.isClosed { return () }
            if !isFirst {
                guard let known = state.known, known.intersection(types).isSubset(of: state.starts.keys) else {
                    return nil
                }
                let start = state.starts.filter { types.contains($0.key) }.values.min() ?? .zero
                state.shift += registry.cursor.makeRoom(for: .zero - start)
            }
            state.isOpen = true
            return ()
        }
    }

    /// Returns the writer time of an item time, and records the end of the media.
    ///
    /// - Parameter length: Returns the media's duration for the timescale of its track.
    private func place(_ time: MediaTime, _ type: MediaKind, _ length: (Int32) -> Duration) -> MediaTime {
        guard let itemTime = time.duration else { return time }
        let (shift, timescale) = state.withLock { ($0.shift, $0.tracks[type]?.timescale ?? 0) }
        registry.cursor.note(itemTime + shift + max(.zero, length(timescale)), of: type)
        return shift == .zero ? time : MediaTime(itemTime + shift)
    }

    var isHeld: Bool { state.withLock(\.isHeld) }

    /// Stops waiting for further tracks.
    func close() {
        state.signal { $0.isClosed = true }
    }

    // MARK: Media

    /// Called when a track of the item starts. `time` is the item time of its first media.
    func begin(_ track: MediaTrack, at time: Duration) async throws(HLSError) {
        state.signal { state in
            state.tracks[track.mediaType] = track
            // Padding is not presented.
            if state.starts[track.mediaType] == nil {
                state.starts[track.mediaType] = track.gapless == nil ? time : max(.zero, time)
            }
        }
        // While the item is held, writers learn of tracks with the first media.
        if isHeld { return }
        for entry in registry.writers { _ = try await index(of: track.mediaType, for: entry) }
    }

    func write(_ frame: VideoFrame) async throws(HLSError) {
        let writers = registry.writers
        if writers.isEmpty { return }
        if !isOpen { await open() }
        var placed: VideoFrame?
        if let time = frame.itemTime {
            let new = place(time, .video) { _ in ItemTimeline.duration(frame.duration, frame.timescale) }
            if new != time { placed = frame.placed(at: new) }
        }
        for entry in writers {
            guard let writer = entry.capabilities.frames, let index = try await index(of: .video, for: entry) else {
                continue
            }
            try writer.write(placed ?? frame, ofTrackAt: index)
            try flush(entry, at: frame.itemTime)
        }
    }

    func write(_ buffer: AudioBuffer) async throws(HLSError) {
        let writers = registry.writers
        if writers.isEmpty { return }
        if !isOpen { await open() }
        var placed: AudioBuffer?
        if let time = buffer.itemTime {
            let new = place(time, .audio) { _ in .seconds(1) * buffer.frameCount / max(1, buffer.sampleRate) }
            if new != time { placed = buffer.placed(at: new) }
        }
        for entry in writers {
            guard let writer = entry.capabilities.audio, let index = try await index(of: .audio, for: entry) else {
                continue
            }
            try writer.write(placed ?? buffer, ofTrackAt: index)
            try flush(entry, at: buffer.itemTime)
        }
    }

    /// Writes a sample before the start of the first item to writers that choose from such samples.
    func write(
        audioLeadIn sample: MediaSample, at itemTime: MediaTime, before start: MediaTime
    ) async throws(HLSError) {
        guard state.withLock(\.shift) == .zero else { return }
        for entry in registry.writers { entry.capabilities.leadIn?.beginLeadIn(before: start) }
        try await write(sample, of: .audio, at: itemTime) { $0.capabilities.leadIn != nil }
    }

    func write(
        _ sample: MediaSample, of type: MediaKind, at itemTime: MediaTime,
        where isMeant: (OutputRegistry.WriterEntry) -> Bool = { _ in true }
    ) async throws(HLSError) {
        let writers = registry.writers
        if writers.isEmpty { return }
        if !isOpen { await open() }
        let itemTime = place(itemTime, type) { ItemTimeline.duration(sample.duration, $0) }
        for entry in writers where entry.takesSamples(of: type) && isMeant(entry) {
            guard let writer = entry.capabilities.samples, let index = try await index(of: type, for: entry) else {
                continue
            }
            try writer.write(sample, ofTrackAt: index, at: itemTime)
            try flush(entry, at: itemTime)
        }
    }

    /// Flushes once per second of media, for readers of the file and for recovery after a crash.
    private func flush(_ entry: OutputRegistry.WriterEntry, at itemTime: MediaTime?) throws(HLSError) {
        if isPaced, entry.isReadAsWritten { return try entry.writer.flush() }
        guard let time = itemTime?.duration else { return }
        let second = time.components.seconds
        let isDue = flushed.withLock { flushed in
            // Audio and video are not in step, and time may have jumped back.
            guard let last = flushed[entry.id], (last - 2...last).contains(second) else {
                return flushed.updateValue(second, forKey: entry.id) != nil
            }
            return false
        }
        if isDue { try entry.writer.flush() }
    }

    /// Returns the index of a track among those that a writer knows, and announces tracks first if they have changed.
    ///
    /// Returns `nil` if the player is closing, or if the writer does not take this kind of media.
    private func index(
        of type: MediaKind, for entry: OutputRegistry.WriterEntry
    ) async throws(HLSError) -> Int? {
        let id = entry.id
        let known = state.withLock { state in
            state.isClosed ? nil : state.announced[id]?.index(of: type, at: state.version)
        }
        if let known { return known }
        let types = entry.writer.mediaTypes
        guard types.contains(type) else { return nil }
        let result = await state.wait { state -> (index: Int, change: [MediaTrack]?)?? in
            if state.isClosed { return .some(nil) }
            guard let known = state.known else { return nil }
            let expected = entry.isLate ? [type] : known.intersection(types)
            guard expected.isSubset(of: state.tracks.keys) else { return nil }
            let earlier = state.order[id] ?? []
            let order = earlier + MediaKind.allCases.filter { !earlier.contains($0) && types.contains($0) }
            let tracks = order.compactMap { state.tracks[$0] }
            guard let index = tracks.firstIndex(where: { $0.mediaType == type }) else { return .some(nil) }
            if let announced = state.announced[id] {
                if !announced.isReported { return nil }
                if announced.tracks == tracks {
                    state.announced[id]?.version = state.version
                    return .some((index, nil))
                }
            }
            state.order[id] = tracks.map(\.mediaType)
            state.announced[id] = Announcement(tracks: tracks, version: state.version, isReported: false)
            return .some((index, tracks))
        }
        guard let result else { return nil }
        if let tracks = result.change {
            defer { state.signal { $0.announced[id]?.isReported = true } }
            if entry.reported.isNews(tracks) { try entry.writer.begin(tracks) }
        }
        return result.index
    }
}
