import HLSMedia
import Synchronization

/// Adds up what the renderers of a player have counted.
final class RendererCounters: Sendable {
    private struct Bytes {
        var now = 0
        var peak = 0
    }

    private let renderers = Mutex<[TrackRenderer]>([])
    private let held = Mutex(Bytes())

    /// Notes that compressed media was put into a store, or (negative) left it.
    func noteHeld(_ byteCount: Int) {
        held.withLock { bytes in
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
        let bytes = held.withLock { $0 }
        statistics.bufferedByteCount = bytes.now
        statistics.peakBufferedByteCount = bytes.peak
        if let video = latenesses[.video], let audio = latenesses[.audio] {
            statistics.audioVideoSkew = (video - audio).seconds
        }
    }
}
