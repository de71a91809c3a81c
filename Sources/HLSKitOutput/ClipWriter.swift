package import HLSKitCodec
package import HLSKitLoading
package import HLSKitMedia
package import HLSKitTime
import Synchronization

/// Writes a part of an item as a clip that begins at 0.
///
/// The same time is subtracted from all media, so that video and audio remain in sync. Decoded media begins where the
/// clip does. Samples begin somewhat earlier, with those that decoding the first frame needs. The earliest one is at 0,
/// as in files from ``DownloadTask`` without an edit list. Edit lists of fragmented MP4 cut nothing.
package final class ClipWriter: FrameWriter, AudioWriter, LeadInWriter, TrackAwaitingWriter {
    private enum Step: Sendable {
        case tracks([MediaTrack])
        case sample(MediaSample, index: Int, time: MediaTime, decoding: MediaTime)

        var decodingTime: MediaTime? { if case .sample(_, _, _, let time) = self { time } else { nil } }
    }

    private struct State {
        /// The time to subtract, or `nil` until it is known.
        var origin: MediaTime?
        /// The start of the presentation, if it is known.
        var start: MediaTime?
        var tracks: [MediaTrack] = []
        var held: [Step] = []
        var heldTypes: Set<MediaKind> = []
        /// The earliest time that the clip must contain.
        var first: MediaTime?
    }

    /// The time after which a kind of media that has not begun is no longer waited for.
    private static let patience = MediaTime(value: 2, timescale: 1)

    private let base: any MediaWriter
    private let capabilities: WriterCapabilities
    private let start: MediaTime?
    private let keptStart: MediaTime?
    private let metadata: FileMetadata
    private let note: WriterNote
    private let state: Mutex<State>

    /// - Parameters:
    ///   - start: The item time at which the clip begins, or `nil` to begin with the first media.
    ///   - keptStart: Media that begins before this item time keeps its times, because it is the item from its start,
    ///     not a clip. If `nil`, the output is always a clip.
    ///   - note: Receives a text if the file begins before `start`.
    package init(
        _ base: any MediaWriter, startingAt start: MediaTime? = nil, unlessBefore keptStart: MediaTime? = nil,
        metadata: FileMetadata = FileMetadata(), note: @escaping WriterNote = { _ in }
    ) {
        self.base = base
        self.note = note
        self.metadata = metadata
        capabilities = WriterCapabilities(base)
        self.start = start
        self.keptStart = keptStart
        state = Mutex(State(start: start))
    }

    package func beginLeadIn(before start: MediaTime) {
        state.withLock { if $0.origin == nil { $0.start = $0.start ?? start } }
    }

    package var takesSamples: Bool { base.takesSamples }
    package var mediaTypes: Set<MediaKind> { base.mediaTypes }
    package var isEmpty: Bool { state.withLock { $0.held.isEmpty } && base.isEmpty }
    package var holdsTrackChanges: Bool { base.holdsTrackChanges }
    package var isReadAsWritten: Bool { base.isReadAsWritten }
    package func awaitTracks(of types: Set<MediaKind>) {
        (base as? any TrackAwaitingWriter)?.awaitTracks(of: types)
    }

    package func begin(_ tracks: [MediaTrack]) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            state.tracks = tracks
            guard !state.held.isEmpty else { return try base.begin(tracks) }
            state.held.append(.tracks(tracks))
        }
    }

    package func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        guard let time = frame.itemTime else { return try capabilities.write(frame, ofTrackAt: index) }
        try capabilities.write(frame.placed(at: time - origin(by: time)), ofTrackAt: index)
    }

    package func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) {
        guard let time = buffer.itemTime else { return try capabilities.write(buffer, ofTrackAt: index) }
        try capabilities.write(buffer.placed(at: time - origin(by: time)), ofTrackAt: index)
    }

    package func write(
        _ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime
    ) throws(HLSError) {
        if let origin = try origin(by: sample, ofTrackAt: index, at: itemTime) {
            try capabilities.write(sample, ofTrackAt: index, at: itemTime - origin)
        }
    }

    package func flush() throws(HLSError) { try base.flush() }

    package func finish() throws(HLSError) {
        try state.withLock { state throws(HLSError) in try release(&state) }
        try base.finish()
    }

    // MARK: The origin

    private func isFromStart(_ time: MediaTime) -> Bool { keptStart.map { time < $0 } ?? false }

    private func origin(by time: MediaTime) -> MediaTime {
        state.withLock { state in
            let origin = state.origin ?? start ?? (isFromStart(time) ? .zero : time)
            state.origin = origin
            return origin
        }
    }

    /// Returns the time to subtract from samples, or `nil` if the sample was held back or already written.
    ///
    /// The held samples are written under the lock, before the origin becomes visible. Later samples are written
    /// without it.
    private func origin(
        by sample: MediaSample, ofTrackAt index: Int, at time: MediaTime
    ) throws(HLSError) -> MediaTime? {
        try state.withLock { state throws(HLSError) in
            if state.origin == nil, state.held.isEmpty, isFromStart(time) {
                state.origin = .zero
                describe(from: .zero)
            }
            let track = state.tracks.indices.contains(index) ? state.tracks[index] : nil
            let isEarly = isBeforeStart(state.start, sample, of: track, at: time)
            let isLeadInOfAudio = isEarly && track?.mediaType == .audio
            if let origin = state.origin { return isLeadInOfAudio && time < origin ? nil : origin }
            let delay = MediaTime(value: sample.pts &- sample.dts, timescale: track?.timescale ?? 1)
            state.held.append(.sample(sample, index: index, time: time, decoding: time - delay))
            if !isEarly, let track { state.heldTypes.insert(track.mediaType) }
            if !isLeadInOfAudio { state.first = min(state.first ?? time, time) }
            let isComplete = state.heldTypes.isSuperset(of: base.mediaTypes)
            let begin = max(state.first ?? time, state.start ?? .negativeInfinity)
            if isComplete || !isEarly && time - begin > Self.patience { try release(&state) }
            return nil
        }
    }

    private func isBeforeStart(
        _ start: MediaTime?, _ sample: MediaSample, of track: MediaTrack?, at time: MediaTime
    ) -> Bool {
        guard let start, let track, time < start else { return false }
        return time + MediaTime(value: sample.duration, timescale: track.timescale) <= start
    }

    private func release(_ state: inout State) throws(HLSError) {
        guard !state.held.isEmpty, let origin = state.first else { return }
        if let start, let leadIn = (start - origin).duration, let text = LeadIn.note(leadIn, isHideable: false) {
            note(text)
        }
        state.origin = origin
        describe(from: origin)
        let held = state.start == nil ? state.held : inOrder(state.held)
        state.held = []
        for step in held {
            switch step {
            case .tracks(let tracks): try base.begin(tracks)
            case .sample(_, _, let time, _) where time < origin: break
            case .sample(let sample, let index, let time, _):
                try capabilities.write(sample, ofTrackAt: index, at: time - origin)
            }
        }
    }

    /// Puts the samples between changes of tracks into decoding order, because those before the start arrive at once.
    private func inOrder(_ steps: [Step]) -> [Step] {
        let runs = steps.split(omittingEmptySubsequences: false) { $0.decodingTime == nil }
        let changes = steps.filter { $0.decodingTime == nil }
        return runs.enumerated().flatMap { number, run in
            let sorted = run.enumerated().sorted {
                ($0.element.decodingTime ?? .zero, $0.offset) < ($1.element.decodingTime ?? .zero, $1.offset)
            }
            return sorted.map(\.element) + changes.dropFirst(number).prefix(1)
        }
    }

    private func describe(from origin: MediaTime) {
        guard !metadata.isEmpty, let remuxer = base as? Remuxer else { return }
        remuxer.describe(metadata.part(from: origin.duration ?? .zero))
    }
}
