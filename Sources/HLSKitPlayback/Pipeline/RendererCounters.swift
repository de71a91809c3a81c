import HLSKitEngine
import HLSKitMedia
import Synchronization

final class RendererCounters: Sendable {
    private struct Bytes {
        var now = 0
        var peak = 0
    }

    struct Media: Sendable {
        var decodedFrames = 0
        var droppedFrames = 0
        var damagedSamples = 0
        var lostByReaders = 0
        var lateness = Duration.zero
    }

    private let media = Mutex<[MediaKind: Media]>([:])
    private let held = Mutex(Bytes())

    func count(_ type: MediaKind, _ body: (inout Media) -> Void) {
        media.withLock { body(&$0[type, default: Media()]) }
    }

    /// Counts compressed media that enters a store or, with a negative count, leaves it.
    func noteHeld(_ byteCount: Int) {
        held.withLock { bytes in
            bytes.now += byteCount
            bytes.peak = max(bytes.peak, bytes.now)
        }
    }

    var droppedVideoFrameCount: Int { media.withLock { $0[.video]?.droppedFrames ?? 0 } }

    func fill(_ statistics: inout PlaybackStatistics) {
        let media = media.withLock { $0 }
        let (video, audio) = (media[.video], media[.audio])
        statistics.numberOfDecodedVideoFrames += video?.decodedFrames ?? 0
        statistics.numberOfDroppedVideoFrames += video?.droppedFrames ?? 0
        statistics.numberOfDecodedAudioFrames += audio?.decodedFrames ?? 0
        statistics.numberOfDamagedSamples += media.values.reduce(0) { $0 + $1.damagedSamples }
        statistics.numberOfUnreadVideoFrames += video?.lostByReaders ?? 0
        statistics.numberOfUnreadAudioBuffers += audio?.lostByReaders ?? 0
        let bytes = held.withLock { $0 }
        statistics.bufferedByteCount = bytes.now
        statistics.peakBufferedByteCount = bytes.peak
        if let video, let audio {
            statistics.audioVideoSkew = video.lateness - audio.lateness
        }
    }
}
