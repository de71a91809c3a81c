import HLSKitCore
import Testing

@testable import HLSGetWatch

@Suite("Queued frames")
struct PictureQueueTests {
    private func queue(_ dues: Int...) -> FrameQueue<Int> {
        var queue = FrameQueue<Int>()
        for due in dues { queue.add(entry(due)) }
        return queue
    }

    private func entry(_ due: Int, source: Int = 1) -> FrameQueue<Int>.Entry {
        FrameQueue.Entry(
            frame: due, itemTime: .milliseconds(Int64(due)), due: HostTime(offset: .milliseconds(due)), source: source
        )
    }

    private func time(_ milliseconds: Int) -> HostTime { HostTime(offset: .milliseconds(milliseconds)) }

    @Test("each frame is shown once, when it is due")
    func order() {
        var queue = queue(40, 80, 120)
        #expect(queue.take(at: time(39)) == nil)
        #expect(queue.nextDue == time(40))
        #expect(queue.take(at: time(40))?.frame == 40)
        #expect(queue.take(at: time(79)) == nil)
        #expect(queue.take(at: time(85))?.frame == 80)
        #expect(queue.take(at: time(500))?.frame == 120)
        #expect(queue.take(at: time(501)) == nil && queue.nextDue == nil && queue.skippedCount == 0)
    }

    @Test("the newest of several due frames is shown, and the others are counted")
    func late() {
        var queue = queue(40, 80, 120, 160)
        #expect(queue.take(at: time(130))?.frame == 120)
        #expect(queue.skippedCount == 2 && queue.nextDue == time(160))
    }

    @Test("a frame for now is shown at once, before queued frames")
    func still() {
        var queue = queue(400, 440)
        queue.add(
            FrameQueue.Entry(frame: 7, itemTime: .zero, due: .zero, source: 1))
        #expect(queue.take(at: time(10))?.frame == 7)
        #expect(queue.take(at: time(1000)) == nil)
    }

    @Test("a jump in one item drops that item's frames only")
    func flush() {
        var queue = queue(40)
        queue.add(entry(80, source: 2))
        queue.removeAll(of: 1)
        #expect(queue.take(at: time(100))?.frame == 80)
    }

    @Test("the number of frames that are not taken is bounded")
    func bound() {
        var queue = FrameQueue<Int>()
        for due in 0..<100 { queue.add(entry(due)) }
        #expect(queue.skippedCount == 68 && queue.nextDue == time(68))
    }
}

@Suite("Drawing time")
struct DrawingTimeTests {
    @Test("the drawing time is learned from drawn frames; a single slow frame has little effect")
    func learned() {
        var time = DrawingTime()
        for _ in 0..<60 { time.note(.milliseconds(16)) }
        #expect(abs(time.lead / .milliseconds(1) - 16) < 0.1)
        time.note(.seconds(5))
        #expect(time.lead < .milliseconds(35))
        for _ in 0..<200 { time.note(.seconds(1)) }
        #expect(time.lead == DrawingTime.longest)
        for _ in 0..<200 { time.note(.milliseconds(-5)) }
        #expect(time.lead == .milliseconds(1))
    }
}
