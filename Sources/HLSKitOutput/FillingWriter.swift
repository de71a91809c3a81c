package import HLSKitCodec
package import HLSKitLoading
package import HLSKitMedia
import HLSKitTime
import Synchronization

/// Fills gaps in decoded media with the last frame and with silence, so that formats without timestamps remain in sync.
package final class FillingWriter: FrameWriter, AudioWriter {
    private struct State {
        var frame: VideoFrame?
        var interval: MediaTime?
        var audioEnd: MediaTime?
    }

    /// Shorter gaps come from cuts and inexact timestamps.
    private static let shortestVideoGap = MediaTime(value: 1, timescale: 2)
    private static let shortestAudioGap = MediaTime(value: 1, timescale: 10)
    /// A longer gap is a new timeline.
    private static let longestGap = MediaTime(value: 3600, timescale: 1)
    private static let usualInterval = MediaTime(value: 1, timescale: 25)

    private let base: any MediaWriter
    private let capabilities: WriterCapabilities
    private let state = Mutex(State())

    package init(_ base: any MediaWriter) {
        self.base = base
        capabilities = WriterCapabilities(base)
    }

    package var takesSamples: Bool { false }
    package var mediaTypes: Set<MediaKind> { base.mediaTypes }
    package var isEmpty: Bool { base.isEmpty }
    package var holdsTrackChanges: Bool { base.holdsTrackChanges }
    package var isReadAsWritten: Bool { base.isReadAsWritten }

    package func begin(_ tracks: [MediaTrack]) throws(HLSError) { try base.begin(tracks) }
    package func flush() throws(HLSError) { try base.flush() }
    package func finish() throws(HLSError) { try base.finish() }

    package func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        guard let time = frame.itemTime else { return try capabilities.write(frame, ofTrackAt: index) }
        let (last, interval) = state.withLock { state in
            let last = state.frame
            let usual = state.interval ?? Self.usualInterval
            if let lastTime = last?.itemTime, time > lastTime, time - lastTime <= Self.shortestVideoGap {
                state.interval = time - lastTime
            }
            state.frame = frame
            return (last, usual)
        }
        if let last, let lastTime = last.itemTime, Self.isGap(time - lastTime, Self.shortestVideoGap) {
            var next = lastTime + interval
            // Leave half an interval to the next frame.
            let end = time - MediaTime(value: interval.value / 2, timescale: interval.timescale)
            while next < end {
                try capabilities.write(last.placed(at: next), ofTrackAt: index)
                next = next + interval
            }
        }
        try capabilities.write(frame, ofTrackAt: index)
    }

    package func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) {
        guard let time = buffer.itemTime, buffer.sampleRate > 0, let rate = Int32(exactly: buffer.sampleRate) else {
            return try capabilities.write(buffer, ofTrackAt: index)
        }
        let length = MediaTime(value: Int64(buffer.frameCount), timescale: rate)
        let end = state.withLock { state in
            defer { state.audioEnd = time + length }
            return state.audioEnd
        }
        if let end, Self.isGap(time - end, Self.shortestAudioGap), let gap = (time - end).duration {
            var rest = Int((gap / .seconds(1) * Double(rate)).rounded())
            var place = end
            while rest > 0 {
                let count = min(rest, buffer.sampleRate)
                let silence = try HLSError.converting { () throws(CodecError) in
                    try buffer.silence(frameCount: count, at: place)
                }
                try capabilities.write(silence, ofTrackAt: index)
                place = place + MediaTime(value: Int64(count), timescale: rate)
                rest -= count
            }
        }
        try capabilities.write(buffer, ofTrackAt: index)
    }

    private static func isGap(_ time: MediaTime, _ shortest: MediaTime) -> Bool {
        time.isNumeric && time > shortest && time < longestGap
    }
}
