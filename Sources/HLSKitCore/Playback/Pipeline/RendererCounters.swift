import HLSMedia
import Synchronization

/// Adds up what the renderers of a player have counted.
final class RendererCounters: Sendable {
    private let renderers = Mutex<[TrackRenderer]>([])

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
            statistics.bufferedByteCount += counters.queuedByteCount
            latenesses[renderer.mediaType] = counters.lateness
        }
        if let video = latenesses[.video], let audio = latenesses[.audio] {
            statistics.audioVideoSkew = (video - audio).seconds
        }
    }
}
