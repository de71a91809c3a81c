/// Calculates the times of pictures without a declared time from the frame duration and the display order.
///
/// A packet may contain several pictures but declares only the time of the first one.
struct PictureClock {
    typealias Time = (pts: Int64, dts: Int64)

    /// The last times declared by a packet, and the number of pictures without a time since then.
    private var lastSignaled: Time?
    private var untimedCount: Int64 = 0
    private var lastStep: Int64 = 0
    private var anchor: (pts: Int64, count: Int)?
    private var latest: Int64?
    /// The difference in picture order count between two consecutive frames.
    private var orderStep: Int

    /// Larger distances in display order are ignored because no stream reorders this many pictures.
    private static let maxReorderedCount = 64
    /// Times that go back this far (10 s) start again.
    private static let jump: Int64 = 900_000

    init(isHEVC: Bool) { orderStep = isHEVC ? 1 : 2 }

    /// - Parameters:
    ///   - told: The time that the packet declares for this picture.
    ///   - frame: The duration of a frame, or nil if the stream does not declare it.
    /// - Returns: The time, or nil before the first declared time.
    mutating func time(
        signaled: (pts: Int64, dts: Int64?)?, order: PictureOrder?, frame: VideoUsabilityInfo.FrameDuration?
    ) -> Time? {
        if let signaled {
            let time = (pts: signaled.pts, dts: signaled.dts ?? signaled.pts)
            if let lastSignaled { lastStep = (time.dts &- lastSignaled.dts) / (untimedCount + 1) }
            learnStep(from: order, at: time.pts, frame)
            lastSignaled = time
            untimedCount = 0
            anchor = order.map { (time.pts, $0.count) }
            if let latest, abs(time.pts &- latest) < Self.jump {
                self.latest = max(latest, time.pts)
            } else {
                latest = time.pts
            }
            return time
        }
        guard let lastSignaled else { return nil }
        untimedCount += 1
        let distance = distance(untimedCount, frame)
        let dts = lastSignaled.dts &+ distance
        guard let order, let pts = displayTime(order, frame) else { return (lastSignaled.pts &+ distance, dts) }
        latest = max(latest ?? pts, pts)
        return (max(pts, dts), dts)
    }

    mutating func move(by distance: Int64) {
        lastSignaled = lastSignaled.map { ($0.pts &+ distance, $0.dts &+ distance) }
        anchor = anchor.map { ($0.pts &+ distance, $0.count) }
        latest = latest.map { $0 &+ distance }
    }

    private mutating func displayTime(_ order: PictureOrder, _ frame: VideoUsabilityInfo.FrameDuration?) -> Int64? {
        guard let anchor else { return nil }
        if order.restarts {
            let pts = (latest ?? anchor.pts) &+ distance(1, frame)
            self.anchor = (pts, order.count)
            return pts
        }
        let difference = Self.difference(order, from: anchor.count)
        if !difference.isMultiple(of: orderStep) { orderStep = 1 }
        guard abs(difference / orderStep) <= Self.maxReorderedCount else { return nil }
        return anchor.pts &+ distance(Int64(difference / orderStep), frame)
    }

    private mutating func learnStep(
        from order: PictureOrder?, at pts: Int64, _ frame: VideoUsabilityInfo.FrameDuration?
    ) {
        let unit = distance(1, frame)
        guard let order, !order.restarts, let anchor, unit > 0 else { return }
        let (frameCount, rest) = (pts &- anchor.pts &+ unit / 2).quotientAndRemainder(dividingBy: unit)
        let difference = Self.difference(order, from: anchor.count)
        guard frameCount != 0, rest >= 0, abs(frameCount) <= Self.maxReorderedCount,
            difference.isMultiple(of: Int(frameCount)), difference / Int(frameCount) > 0
        else { return }
        orderStep = difference / Int(frameCount)
    }

    /// Only the lower bits of counts are known.
    private static func difference(_ order: PictureOrder, from count: Int) -> Int {
        let period = 1 << order.bitCount
        let difference = (order.count - count) & (period - 1)
        return difference >= period / 2 ? difference - period : difference
    }

    private func distance(_ count: Int64, _ frame: VideoUsabilityInfo.FrameDuration?) -> Int64 {
        guard let frame, frame.value <= frame.timescale else { return count &* lastStep }
        let exact = Int128(count) * 90_000 * Int128(frame.value)
        let half = Int128(frame.timescale / 2)
        return Int64(clamping: (exact + (count < 0 ? -half : half)) / Int128(frame.timescale))
    }
}
