import HLSCaptions
import HLSMedia
import HLSTime
import Synchronization

/// Stands between the renderers and the outputs of an item: makes sure that each writer is told all its tracks before
/// anything of them, and gives each track its index.
final class WriterHub: Sendable {
    private struct State {
        /// Kinds of media that the item has; nil until every lane has told its tracks.
        var known: Set<MediaType>?
        var tracks: [MediaType: MediaTrack] = [:]
        /// The list that each writer knows, in the order of ``MediaType``, and whether it is being told it.
        var announced: [Int: (tracks: [MediaTrack], isTold: Bool)] = [:]
        var isClosed = false
        /// The item is not the current one: writers hear nothing of it.
        var isHeld = false
    }

    private let board: OutputBoard
    private let moment: @Sendable () -> OutputMoment
    private let state: Gate<State>
    /// Where no clock does that.
    let lockstep: Lockstep?
    /// The picture that was presented last, for outputs that come while time stands still.
    private let shown = Mutex<(frame: VideoFrame, generation: Int)?>(nil)
    /// By writer, the second of media in which it was flushed last.
    private let flushed = Mutex<[Int: Int64]>([:])

    /// - Parameters:
    ///   - isHeld: nothing is written before ``release()``.
    ///   - isPaced: a clock keeps the kinds of media side by side.
    init(
        board: OutputBoard, moment: @escaping @Sendable () -> OutputMoment, isHeld: Bool = false, isPaced: Bool = true
    ) {
        self.board = board
        lockstep = isPaced ? nil : Lockstep()
        self.moment = moment
        state = Gate(State(isHeld: isHeld))
    }

    // MARK: Wishes

    /// Somebody wants samples, or frames, of this kind.
    func wantsSamples(of type: MediaType) -> Bool {
        writersWantSamples(of: type) || board.receivers.contains { $0.sampleTypes.contains(type) }
    }

    func wantsFrames(of type: MediaType) -> Bool {
        board.slots.contains { !$0.writer.takesSamples && $0.writer.mediaTypes.contains(type) }
            || board.receivers.contains { $0.frameTypes.contains(type) }
    }

    /// Some writer takes samples: they have to join at sync samples.
    func writersWantSamples(of type: MediaType) -> Bool {
        board.slots.contains { $0.writer.takesSamples && $0.writer.mediaTypes.contains(type) }
    }

    var wantsMetadata: Bool { board.receivers.contains(where: \.takesMetadata) }
    var wantsCues: Bool { board.receivers.contains(where: \.takesCues) }
    var wantsDateRanges: Bool { board.receivers.contains(where: \.takesDateRanges) }
    /// The player tells no cues, because an output shows them in its place.
    var suppressesCues: Bool {
        board.receivers.contains { $0.takesCues && $0.tie.suppressesPlayerRendering }
    }

    // MARK: The driver's side

    /// Tells which kinds of media there are; until then writers get nothing.
    func expect(_ types: Set<MediaType>) {
        state.signal { $0.known = types }
    }

    /// The item is the current one from now on.
    func release() {
        state.signal { $0.isHeld = false }
    }

    /// The item has failed.
    func end() { board.end() }

    /// Nobody waits any more for tracks that will not come.
    func close() {
        state.signal { $0.isClosed = true }
    }

    /// Time has jumped: media of an earlier generation is of the past.
    func flush(generation: Int) {
        shown.withLock { $0 = nil }
        for receiver in board.receivers { receiver.flush(generation: generation) }
    }

    /// Shows an output that comes while time stands still the picture of now.
    func welcome(_ receiver: any OutputReceiving) {
        guard receiver.frameTypes.contains(.video), let shown = shown.withLock(\.self) else { return }
        let moment = moment(of: shown.generation)
        if moment.rate == 0, moment.isPaced { receiver.present(shown.frame, moment) }
    }

    func add(_ cues: [LegibleCue]) {
        guard !cues.isEmpty else { return }
        for receiver in board.receivers where receiver.takesCues { receiver.add(cues) }
    }

    func replace(_ changes: [CueChange]) {
        guard !changes.isEmpty else { return }
        for receiver in board.receivers where receiver.takesCues { receiver.replace(changes) }
    }

    func add(_ captions: [ClosedCaption]) {
        guard !captions.isEmpty else { return }
        for receiver in board.receivers where receiver.takesCues { receiver.add(captions) }
    }

    func add(_ group: TimedMetadataGroup) {
        for receiver in board.receivers where receiver.takesMetadata { receiver.add(group) }
    }

    func update(_ dateRanges: [DateRangeMetadataGroup]) {
        for receiver in board.receivers where receiver.takesDateRanges { receiver.update(dateRanges) }
    }

    func removeCues() {
        for receiver in board.receivers { receiver.removeCues() }
    }

    /// The first item time at which an output waits for something besides pictures and sound.
    var nextDelivery: Duration? {
        state.withLock(\.isHeld) ? nil : board.receivers.compactMap(\.nextDelivery).min()
    }

    func deliver(upTo time: Duration) {
        guard !state.withLock(\.isHeld) else { return }
        for receiver in board.receivers where receiver.nextDelivery.map({ $0 <= time }) == true {
            receiver.deliver(upTo: time, moment())
        }
    }

    // MARK: The renderers' side

    /// A renderer has this track from now on.
    func begin(_ track: MediaTrack) async throws(OutputError) {
        state.signal { $0.tracks[track.mediaType] = track }
        // While the item waits for its turn, writers are told with the first media.
        if state.withLock({ $0.isHeld }) { return }
        for slot in board.slots { _ = try await index(of: track.mediaType, for: slot) }
    }

    /// Lets outputs see a frame ahead of its time.
    func prepare(_ frame: VideoFrame, generation: Int) {
        let receivers = board.receivers
        guard !receivers.isEmpty else { return }
        let moment = moment(of: generation)
        for receiver in receivers where receiver.frameTypes.contains(.video) { receiver.prepare(frame, moment) }
    }

    func prepare(_ buffer: AudioBuffer, generation: Int) {
        let receivers = board.receivers
        guard !receivers.isEmpty else { return }
        let moment = moment(of: generation)
        for receiver in receivers where receiver.frameTypes.contains(.audio) { receiver.prepare(buffer, moment) }
    }

    func write(_ frame: VideoFrame, generation: Int) async throws(OutputError) {
        let receivers = board.receivers
        shown.withLock { $0 = (frame, generation) }
        if !receivers.isEmpty {
            let moment = moment(of: generation)
            for receiver in receivers where receiver.frameTypes.contains(.video) { receiver.present(frame, moment) }
            if receivers.contains(where: { $0.suppresses(.video) }) { return }
        }
        for slot in board.slots where !slot.writer.takesSamples && slot.writer.mediaTypes.contains(.video) {
            guard let index = try await index(of: .video, for: slot) else { continue }
            try slot.writer.write(frame, ofTrackAt: index)
            try flush(slot, at: frame.itemTime)
        }
    }

    func write(_ buffer: AudioBuffer, generation: Int) async throws(OutputError) {
        let receivers = board.receivers
        if !receivers.isEmpty {
            let moment = moment(of: generation)
            for receiver in receivers where receiver.frameTypes.contains(.audio) { receiver.present(buffer, moment) }
            if receivers.contains(where: { $0.suppresses(.audio) }) { return }
        }
        for slot in board.slots where !slot.writer.takesSamples && slot.writer.mediaTypes.contains(.audio) {
            guard let index = try await index(of: .audio, for: slot) else { continue }
            try slot.writer.write(buffer, ofTrackAt: index)
            try flush(slot, at: buffer.itemTime)
        }
    }

    func write(
        _ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, generation: Int
    ) async throws(OutputError) {
        let type = track.mediaType
        let receivers = board.receivers
        if !receivers.isEmpty {
            let moment = moment(of: generation)
            for receiver in receivers where receiver.sampleTypes.contains(type) {
                receiver.take(sample, of: track, at: itemTime, moment)
            }
            if receivers.contains(where: { $0.suppresses(type) }) { return }
        }
        for slot in board.slots where slot.writer.takesSamples && slot.writer.mediaTypes.contains(type) {
            guard let index = try await index(of: type, for: slot) else { continue }
            try slot.writer.write(sample, ofTrackAt: index, at: itemTime)
            try flush(slot, at: itemTime)
        }
    }

    /// Once a second of media what was written is to be there for whoever reads it, or finds it after a crash.
    private func flush(_ slot: OutputBoard.WriterSlot, at itemTime: MediaTime?) throws(OutputError) {
        guard let time = itemTime?.duration else { return }
        let second = time.components.seconds
        let isDue = flushed.withLock { flushed in
            // Sound and pictures are not in step, and time may have jumped back.
            guard let last = flushed[slot.id], (last - 2...last).contains(second) else {
                return flushed.updateValue(second, forKey: slot.id) != nil
            }
            return false
        }
        if isDue { try slot.writer.flush() }
    }

    /// All media of this kind was handed over.
    func finish(_ type: MediaType, generation: Int) {
        let receivers = board.receivers
        guard !receivers.isEmpty else { return }
        let moment = moment(of: generation)
        for receiver in receivers where receiver.frameTypes.contains(type) { receiver.finish(type, moment) }
    }

    private func moment(of generation: Int) -> OutputMoment {
        var moment = moment()
        moment.generation = generation
        return moment
    }

    /// The place of a track among those that a writer knows, which is told first when they changed. nil when the player
    /// is closing, and for media that the writer does not take.
    private func index(
        of type: MediaType, for slot: OutputBoard.WriterSlot
    ) async throws(OutputError) -> Int? {
        let (id, types) = (slot.id, slot.writer.mediaTypes)
        guard types.contains(type) else { return nil }
        let result = await state.wait { state -> (index: Int, change: [MediaTrack]?)?? in
            if state.isClosed { return .some(nil) }
            guard let known = state.known else { return nil }
            let expected = slot.isLate ? [type] : known.intersection(types)
            guard expected.isSubset(of: state.tracks.keys) else { return nil }
            let tracks = MediaType.allCases.compactMap { types.contains($0) ? state.tracks[$0] : nil }
            guard let index = tracks.firstIndex(where: { $0.mediaType == type }) else { return .some(nil) }
            if let announced = state.announced[id] {
                if !announced.isTold { return nil }
                if announced.tracks == tracks { return .some((index, nil)) }
            }
            state.announced[id] = (tracks, isTold: false)
            return .some((index, tracks))
        }
        guard let result else { return nil }
        if let tracks = result.change {
            defer { state.signal { $0.announced[id]?.isTold = true } }
            try slot.writer.begin(tracks)
        }
        return result.index
    }
}
