package import HLSKitCodec
package import HLSKitLoading
package import HLSKitMedia
package import HLSKitTime
import Synchronization

/// Lets an output begin at 0 though what it gets is from the middle of an item: a clip.
///
/// One time is taken off all that is written, so that video and audio stay as they are to each other. Decoded media
/// begin where the clip does. Samples begin somewhat earlier, with what the first frame needs to be decoded: the
/// earliest of them is at 0, as in what ``DownloadTask`` writes.
package final class ClipWriter: FrameWriter, AudioWriter, SampleWriter {
    private enum Step: Sendable {
        case tracks([MediaTrack])
        case sample(MediaSample, index: Int, time: MediaTime)
    }

    private struct State {
        /// What is taken off; nil until it is known.
        var origin: MediaTime?
        var tracks: [MediaTrack] = []
        /// What has come before the origin was known.
        var held: [Step] = []
        var heldTypes: Set<MediaKind> = []
        var first: MediaTime?
    }

    /// A kind of media that has not begun by then does not begin before what there is.
    private static let patience = MediaTime(value: 2, timescale: 1)

    private let base: any MediaWriter
    private let capabilities: WriterCapabilities
    private let start: MediaTime?
    private let keptStart: MediaTime?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - base: writes the clip.
    ///   - start: the item time at which the clip begins; nil if it begins with the first media.
    ///   - keptStart: what begins before this item time keeps its times, because it is not a clip but the item from its
    ///     start. nil if it is a clip in any case.
    package init(_ base: any MediaWriter, startingAt start: MediaTime? = nil, unlessBefore keptStart: MediaTime? = nil)
    {
        self.base = base
        capabilities = WriterCapabilities(base)
        self.start = start
        self.keptStart = keptStart
    }

    package var takesSamples: Bool { base.takesSamples }
    package var mediaTypes: Set<MediaKind> { base.mediaTypes }
    package var isEmpty: Bool { state.withLock { $0.held.isEmpty } && base.isEmpty }
    package var holdsTrackChanges: Bool { base.holdsTrackChanges }
    package var isReadAsWritten: Bool { base.isReadAsWritten }

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

    /// What is taken off the times of decoded media.
    private func origin(by time: MediaTime) -> MediaTime {
        state.withLock { state in
            let origin = state.origin ?? start ?? (isFromStart(time) ? .zero : time)
            state.origin = origin
            return origin
        }
    }

    /// What is taken off the times of samples; nil where the sample is held back or was written with those that were.
    ///
    /// Nobody sees the origin before what was held back is written; from then on samples are written beside the lock.
    private func origin(
        by sample: MediaSample, ofTrackAt index: Int, at time: MediaTime
    ) throws(HLSError) -> MediaTime? {
        try state.withLock { state throws(HLSError) in
            if state.origin == nil, state.held.isEmpty, isFromStart(time) { state.origin = .zero }
            if let origin = state.origin { return origin }
            state.held.append(.sample(sample, index: index, time: time))
            if state.tracks.indices.contains(index) { state.heldTypes.insert(state.tracks[index].mediaType) }
            let first = min(state.first ?? time, time)
            state.first = first
            let isComplete = state.heldTypes.isSuperset(of: base.mediaTypes)
            if isComplete || time - first > Self.patience { try release(&state) }
            return nil
        }
    }

    /// Writes what was held back.
    private func release(_ state: inout State) throws(HLSError) {
        guard !state.held.isEmpty, let origin = state.first else { return }
        state.origin = origin
        let held = state.held
        state.held = []
        for step in held {
            switch step {
            case .tracks(let tracks): try base.begin(tracks)
            case .sample(let sample, let index, let time):
                try capabilities.write(sample, ofTrackAt: index, at: time - origin)
            }
        }
    }
}
