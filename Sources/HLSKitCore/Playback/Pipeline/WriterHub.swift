import HLSMedia
import HLSTime

/// Stands between the renderers and the writers of a player: makes sure that each writer is told all tracks before
/// anything of them, and gives each track its index.
final class WriterHub: Sendable {
    private struct State {
        /// Kinds of media that will come; nil until every lane has told its tracks.
        var expected: Set<MediaType>?
        var tracks: [MediaType: MediaTrack] = [:]
        /// The list that writers know, in the order of ``MediaType``.
        var announced: [MediaTrack] = []
        var isClosed = false
        /// The item is not the current one: writers hear nothing of it.
        var isHeld = false
    }

    private let writers: [any MediaWriter]
    private let state: Gate<State>

    /// - Parameter isHeld: nothing is written before ``release()``.
    init(writers: [any MediaWriter], isHeld: Bool = false) {
        self.writers = writers
        state = Gate(State(isHeld: isHeld))
    }

    var isEmpty: Bool { writers.isEmpty }

    /// Some writer wants samples, or frames, of this kind.
    func wantsSamples(of type: MediaType) -> Bool {
        writers.contains { $0.takesSamples && $0.mediaTypes.contains(type) }
    }

    func wantsFrames(of type: MediaType) -> Bool {
        writers.contains { !$0.takesSamples && $0.mediaTypes.contains(type) }
    }

    /// Tells which kinds of media there are; until then nothing is written.
    func expect(_ types: Set<MediaType>) {
        state.signal { $0.expected = types }
    }

    /// The item is the current one from now on.
    func release() {
        state.signal { $0.isHeld = false }
    }

    /// Nobody waits any more for tracks that will not come.
    func close() {
        state.signal { $0.isClosed = true }
    }

    /// A renderer has this track from now on.
    func begin(_ track: MediaTrack) async throws(OutputError) {
        guard !writers.isEmpty else { return }
        state.signal { $0.tracks[track.mediaType] = track }
        // While the item waits for its turn, writers are told with the first media.
        if state.withLock({ $0.isHeld }) { return }
        _ = try await index(of: track.mediaType)
    }

    func write(_ frame: VideoFrame) async throws(OutputError) {
        guard wantsFrames(of: .video), let index = try await index(of: .video) else { return }
        for writer in writers where !writer.takesSamples && writer.mediaTypes.contains(.video) {
            try writer.write(frame, ofTrackAt: index)
        }
    }

    func write(_ buffer: AudioBuffer) async throws(OutputError) {
        guard wantsFrames(of: .audio), let index = try await index(of: .audio) else { return }
        for writer in writers where !writer.takesSamples && writer.mediaTypes.contains(.audio) {
            try writer.write(buffer, ofTrackAt: index)
        }
    }

    func write(_ sample: MediaSample, of type: MediaType, at itemTime: MediaTime) async throws(OutputError) {
        guard let index = try await index(of: type) else { return }
        for writer in writers where writer.takesSamples && writer.mediaTypes.contains(type) {
            try writer.write(sample, ofTrackAt: index, at: itemTime)
        }
    }

    /// The place of a track among those that writers know, who are told first when it changed. nil when the player is
    /// closing.
    private func index(of type: MediaType) async throws(OutputError) -> Int? {
        let result = await state.wait { state -> (index: Int, change: [MediaTrack]?)?? in
            if state.isClosed { return .some(nil) }
            guard let expected = state.expected, expected.isSubset(of: state.tracks.keys) else { return nil }
            let tracks = MediaType.allCases.compactMap { state.tracks[$0] }
            guard let index = tracks.firstIndex(where: { $0.mediaType == type }) else { return .some(nil) }
            if tracks == state.announced { return .some((index, nil)) }
            state.announced = tracks
            return .some((index, tracks))
        }
        guard let result else { return nil }
        if let tracks = result.change {
            for writer in writers { try writer.begin(tracks) }
        }
        return result.index
    }
}
