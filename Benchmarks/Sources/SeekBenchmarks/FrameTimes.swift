import HLSKitCore
import Synchronization

final class FrameTimes: FrameWriter {
    struct PresentedFrame: Sendable {
        var itemTime: Double
        var arrival: ContinuousClock.Instant
    }

    private struct State {
        var presentedFrames: [PresentedFrame] = []
        var waiter:
            (isWanted: @Sendable (PresentedFrame) -> Bool, continuation: CheckedContinuation<PresentedFrame, Never>)?
    }

    let mediaTypes: Set<MediaKind> = [.video]
    private let state = Mutex(State())

    var count: Int { state.withLock(\.presentedFrames.count) }

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        let presented = PresentedFrame(itemTime: frame.itemTime?.seconds ?? -1, arrival: .now)
        let waiter = state.withLock { state -> CheckedContinuation<PresentedFrame, Never>? in
            state.presentedFrames.append(presented)
            guard let waiter = state.waiter, waiter.isWanted(presented) else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume(returning: presented)
    }

    func begin(_ tracks: [MediaTrack]) {}
    func flush() {}
    func finish() {}

    /// Returns the first wanted frame after the first `count` frames, and waits for it if necessary.
    func next(after count: Int, where isWanted: @escaping @Sendable (PresentedFrame) -> Bool) async -> PresentedFrame {
        await withCheckedContinuation { continuation in
            let found = state.withLock { state -> PresentedFrame? in
                if let found = state.presentedFrames.dropFirst(count).first(where: isWanted) { return found }
                state.waiter = (isWanted, continuation)
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }
}
