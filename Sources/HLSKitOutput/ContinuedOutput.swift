import HLSKitAsset
import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
package import HLSKitTime
import Synchronization

/// Writes several consecutive items to the same outputs. The times of each item continue where the previous one ended.
///
/// Get the writers of each item from ``nextWriters(startingAt:)``, in the order of playback. The owner of the outputs
/// finishes them.
package final class ContinuedOutput: Sendable {
    private struct State {
        var passCount = 0
        /// The number of the current item, and the offset that is added to its times.
        var pass = -1
        var offset = Duration.zero
        var end: Duration?
    }

    private let writers: [any MediaWriter]
    private let state = Mutex(State())
    private let tracks = Mutex<[Int: [MediaTrack]]>([:])

    package init(_ writers: [any MediaWriter]) {
        self.writers = writers
    }

    /// Returns the writers for the next item.
    ///
    /// - Parameter start: The item time at which the item starts, or `nil` to start at its first media.
    package func nextWriters(startingAt start: MediaTime? = .zero) -> [any MediaWriter] {
        let pass = state.withLock { state in
            defer { state.passCount += 1 }
            return state.passCount
        }
        return writers.enumerated().map { index, writer in
            Pass(
                output: self, index: index, number: pass, start: start?.duration, base: writer,
                capabilities: WriterCapabilities(writer))
        }
    }

    /// Converts an item time to an output time and notes how far the output has come.
    ///
    /// - Parameter start: The start of the item, or `nil` if this time is the start when it is the item's first.
    private func place(_ time: MediaTime, length: Duration, pass: Int, start: Duration?) -> MediaTime {
        guard let itemTime = time.duration else { return time }
        return state.withLock { state in
            if pass > state.pass {
                state.pass = pass
                state.offset = state.end.map { $0 - (start ?? itemTime) } ?? .zero
            }
            let placed = itemTime + state.offset
            state.end = max(state.end ?? placed, placed + length)
            return state.offset == .zero ? time : MediaTime(placed)
        }
    }

    private func isNew(_ new: [MediaTrack], for index: Int) -> Bool {
        tracks.withLock { tracks in
            if tracks[index] == new { return false }
            tracks[index] = new
            return true
        }
    }

    private func timescale(of track: Int, in index: Int) -> Int32 {
        tracks.withLock { $0[index]?[safe: track]?.timescale ?? 0 }
    }

    private struct Pass: FrameWriter, AudioWriter, SampleWriter, TrackAwaitingWriter {
        let output: ContinuedOutput
        let index: Int
        let number: Int
        let start: Duration?

        let base: any MediaWriter
        let capabilities: WriterCapabilities

        var takesSamples: Bool { base.takesSamples }
        var mediaTypes: Set<MediaKind> { base.mediaTypes }
        var isEmpty: Bool { base.isEmpty }
        var holdsTrackChanges: Bool { base.holdsTrackChanges }
        var isReadAsWritten: Bool { base.isReadAsWritten }

        func awaitTracks(of types: Set<MediaKind>) {
            guard number == 0 else { return }
            (base as? any TrackAwaitingWriter)?.awaitTracks(of: types)
        }

        func begin(_ tracks: [MediaTrack]) throws(HLSError) {
            if output.isNew(tracks, for: index) { try base.begin(tracks) }
        }

        func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
            guard let time = frame.itemTime else { return try capabilities.write(frame, ofTrackAt: index) }
            let length = MediaTime(value: frame.duration, timescale: frame.timescale).duration ?? .zero
            let placed = output.place(time, length: length, pass: number, start: start)
            try capabilities.write(frame.placed(at: placed), ofTrackAt: index)
        }

        func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) {
            guard let time = buffer.itemTime else { return try capabilities.write(buffer, ofTrackAt: index) }
            let length = MediaTime(value: Int64(buffer.frameCount), timescale: Int32(clamping: buffer.sampleRate))
            let placed = output.place(time, length: length.duration ?? .zero, pass: number, start: start)
            try capabilities.write(buffer.placed(at: placed), ofTrackAt: index)
        }

        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(HLSError) {
            let length = MediaTime(value: sample.duration, timescale: output.timescale(of: index, in: self.index))
            let placed = output.place(itemTime, length: length.duration ?? .zero, pass: number, start: start)
            try capabilities.write(sample, ofTrackAt: index, at: placed)
        }

        func flush() throws(HLSError) { try base.flush() }

        func finish() throws(HLSError) {}
    }
}
