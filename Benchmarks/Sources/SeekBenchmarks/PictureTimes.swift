import HLSKitCore
import Synchronization

final class PictureTimes: FrameWriter {
    struct Picture: Sendable {
        var itemTime: Double
        var arrival: ContinuousClock.Instant
    }

    private struct State {
        var pictures: [Picture] = []
        var waiter: (isWanted: @Sendable (Picture) -> Bool, continuation: CheckedContinuation<Picture, Never>)?
    }

    let mediaTypes: Set<MediaKind> = [.video]
    private let state = Mutex(State())

    var count: Int { state.withLock(\.pictures.count) }

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        let picture = Picture(itemTime: frame.itemTime?.seconds ?? -1, arrival: .now)
        let waiter = state.withLock { state -> CheckedContinuation<Picture, Never>? in
            state.pictures.append(picture)
            guard let waiter = state.waiter, waiter.isWanted(picture) else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume(returning: picture)
    }

    func begin(_ tracks: [MediaTrack]) {}
    func flush() {}
    func finish() {}

    /// The first picture that comes from now on, or came after so many, and that is wanted.
    func next(after count: Int, where isWanted: @escaping @Sendable (Picture) -> Bool) async -> Picture {
        await withCheckedContinuation { continuation in
            let found = state.withLock { state -> Picture? in
                if let found = state.pictures.dropFirst(count).first(where: isWanted) { return found }
                state.waiter = (isWanted, continuation)
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }
}
