import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitTime
import Synchronization

/// Hands media to the writers of an item: tells each all its tracks before anything of them, names each track by its
/// place among those, and has what was written flushed once a second, or at once for whoever reads along.
final class WriterFeed: Sendable {
    private struct Announcement {
        /// In the order of ``MediaKind``.
        var tracks: [MediaTrack]
        /// The state of what the item has for which that is so.
        var version: Int

        /// The place of the item's track of this kind, where nothing has changed since it was told.
        func index(of type: MediaKind, at version: Int) -> Int? {
            guard isTold, version == self.version else { return nil }
            return tracks.firstIndex { $0.mediaType == type }
        }

        /// The writer knows them; until then it is being told.
        var isTold: Bool
    }

    private struct State {
        /// Kinds of media that the item has; nil until every lane has told its tracks.
        var known: Set<MediaKind>? { didSet { version += 1 } }
        var tracks: [MediaKind: MediaTrack] = [:] { didSet { version += 1 } }
        /// Of what there is to be told.
        private(set) var version = 0
        /// By writer.
        var announced: [Int: Announcement] = [:]
        var isClosed = false
        /// The item is not the current one: writers hear nothing of it.
        var isHeld = false
        /// What is written is so much later than in the item.
        var shift = Duration.zero
        /// Where the media of each kind begins, in item time.
        var starts: [MediaKind: Duration] = [:]
        /// Something of the item was written, or is about to be.
        var isOpen = false
    }

    private let registry: OutputRegistry
    private let isPaced: Bool
    private let state: Gate<State>
    /// By writer, the second of media in which it was flushed last.
    private let flushed = Mutex<[Int: Int64]>([:])

    /// - Parameters:
    ///   - isHeld: nothing is told before ``release()``.
    ///   - isPaced: media comes at its time, and not as fast as it can.
    init(_ registry: OutputRegistry, isHeld: Bool, isPaced: Bool = true) {
        self.registry = registry
        self.isPaced = isPaced
        state = Gate(State(isHeld: isHeld))
    }

    /// Tells which kinds of media there are; until then writers get nothing.
    func expect(_ types: Set<MediaKind>) {
        state.signal { $0.known = types }
    }

    /// The item is the current one from now on.
    func release() {
        state.signal { $0.isHeld = false }
    }

    /// Others are played in its place, until it is released again.
    func hold() {
        state.signal { state in
            state.isHeld = true
            // They are told of the tracks of others meanwhile.
            state.announced = [:]
        }
    }

    /// What is written from now on is so much later in the time of writers than in the item.
    ///
    /// - Parameter time: as that of ``WriterCursor/place(_:after:)``.
    func place(_ shift: Duration, after time: Duration?) {
        let shift = registry.cursor.place(shift, after: time)
        state.signal { $0.shift = shift }
    }

    private var isOpen: Bool { state.withLock(\.isOpen) }

    /// Makes room for what the item has before its beginning: the sound of transport streams often begins a frame before
    /// the pictures do. Where others were written before, it would lie over the end of those.
    private func open() async {
        let isFirst = registry.cursor.isAtStart
        // Those that come late do not wait.
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

    /// The time for writers of an item time, of media of this length.
    ///
    /// - Parameter length: from the timescale of the track.
    private func place(_ time: MediaTime, _ type: MediaKind, _ length: (Int32) -> Duration) -> MediaTime {
        guard let itemTime = time.duration else { return time }
        let (shift, timescale) = state.withLock { ($0.shift, $0.tracks[type]?.timescale ?? 0) }
        registry.cursor.note(itemTime + shift + max(.zero, length(timescale)), of: type)
        return shift == .zero ? time : MediaTime(itemTime + shift)
    }

    var isHeld: Bool { state.withLock(\.isHeld) }

    /// Nobody waits any more for tracks that will not come.
    func close() {
        state.signal { $0.isClosed = true }
    }

    // MARK: Media

    /// This track is of the item from now on, whose media begins there in item time.
    func begin(_ track: MediaTrack, at time: Duration) async throws(HLSError) {
        state.signal { state in
            state.tracks[track.mediaType] = track
            // Padding is not presented.
            if state.starts[track.mediaType] == nil {
                state.starts[track.mediaType] = track.gapless == nil ? time : max(.zero, time)
            }
        }
        // While the item waits for its turn, writers are told with the first media.
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

    func write(_ sample: MediaSample, of type: MediaKind, at itemTime: MediaTime) async throws(HLSError) {
        let writers = registry.writers
        if writers.isEmpty { return }
        if !isOpen { await open() }
        let itemTime = place(itemTime, type) { ItemTimeline.duration(sample.duration, $0) }
        for entry in writers where entry.takesSamples(of: type) {
            guard let writer = entry.capabilities.samples, let index = try await index(of: type, for: entry) else {
                continue
            }
            try writer.write(sample, ofTrackAt: index, at: itemTime)
            try flush(entry, at: itemTime)
        }
    }

    /// Once a second of media what was written has to be there for whoever reads it, or finds it after a crash.
    private func flush(_ entry: OutputRegistry.WriterEntry, at itemTime: MediaTime?) throws(HLSError) {
        if isPaced, entry.isReadAsWritten { return try entry.writer.flush() }
        guard let time = itemTime?.duration else { return }
        let second = time.components.seconds
        let isDue = flushed.withLock { flushed in
            // Audio and frames are not in step, and time may have jumped back.
            guard let last = flushed[entry.id], (last - 2...last).contains(second) else {
                return flushed.updateValue(second, forKey: entry.id) != nil
            }
            return false
        }
        if isDue { try entry.writer.flush() }
    }

    /// The place of a track among those that a writer knows, which is told first when they changed. nil when the player
    /// is closing, and for media that the writer does not take.
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
            let tracks = MediaKind.allCases.compactMap { types.contains($0) ? state.tracks[$0] : nil }
            guard let index = tracks.firstIndex(where: { $0.mediaType == type }) else { return .some(nil) }
            if let announced = state.announced[id] {
                if !announced.isTold { return nil }
                if announced.tracks == tracks {
                    state.announced[id]?.version = state.version
                    return .some((index, nil))
                }
            }
            state.announced[id] = Announcement(tracks: tracks, version: state.version, isTold: false)
            return .some((index, tracks))
        }
        guard let result else { return nil }
        if let tracks = result.change {
            defer { state.signal { $0.announced[id]?.isTold = true } }
            if entry.told.isNews(tracks) { try entry.writer.begin(tracks) }
        }
        return result.index
    }
}
