import HLSMedia
import Synchronization

/// Adds up what the renderers of a player have counted.
final class RendererCounters: Sendable {
    private struct Bytes {
        var now = 0
        var peak = 0
    }

    private let renderers = Mutex<[TrackRenderer]>([])
    private let queued = Mutex(Bytes())

    /// Notes that compressed media was queued, or (negative) taken out of a queue.
    func noteQueued(_ byteCount: Int) {
        queued.withLock { bytes in
            bytes.now += byteCount
            bytes.peak = max(bytes.peak, bytes.now)
        }
    }

    func add(_ renderer: TrackRenderer) {
        renderers.withLock { $0.append(renderer) }
    }

    /// Puts the counts into `statistics`.
    func fill(_ statistics: inout PlaybackStatistics) {
        var latenesses: [MediaType: Duration] = [:]
        for renderer in renderers.withLock({ $0 }) {
            let counters = renderer.counters
            switch renderer.mediaType {
            case .video:
                statistics.numberOfDecodedVideoFrames += counters.decodedFrames
                statistics.numberOfDroppedVideoFrames += counters.droppedFrames
            case .audio: statistics.numberOfDecodedAudioFrames += counters.decodedFrames
            case .text, .metadata: break
            }
            statistics.numberOfDamagedSamples += counters.damagedSamples
            latenesses[renderer.mediaType] = counters.lateness
        }
        let bytes = queued.withLock { $0 }
        statistics.bufferedByteCount = bytes.now
        statistics.peakBufferedByteCount = bytes.peak
        if let video = latenesses[.video], let audio = latenesses[.audio] {
            statistics.audioVideoSkew = (video - audio).seconds
        }
    }
}
