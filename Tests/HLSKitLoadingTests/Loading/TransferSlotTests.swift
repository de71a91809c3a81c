import Synchronization
import Testing

@testable import HLSKitLoading

@Suite("Transfer slot")
struct TransferSlotTests {
    private final class Running: TransportTask {
        private let calls = Mutex<[String]>([])
        private let onPause: @Sendable () -> Void

        /// - Parameter onPause: A closure that runs during a call to `pause()`, before the call is recorded.
        init(onPause: @escaping @Sendable () -> Void = {}) { self.onPause = onPause }

        var reported: [String] { calls.withLock { $0 } }
        func cancel() { calls.withLock { $0.append("cancel") } }
        func pause() {
            onPause()
            calls.withLock { $0.append("pause") }
        }
        func resume() { calls.withLock { $0.append("resume") } }
    }

    private enum Step {
        case start, pause, resume, cancel, endCurrent, hold, release
        /// The newest transfer ends; the first transfer ends, even if another one runs by then.
        case end, endFirst
        /// The next transfer starts, and the steps are taken during its start.
        indirect case startDuring([Step])
    }

    private final class Run {
        let slot = TransferSlot()
        var tasks: [Running] = []
        var numbers: [Int] = []

        func take(_ step: Step) {
            switch step {
            case .start: take(.startDuring([]))
            case .startDuring(let steps):
                slot.start { number in
                    let task = Running()
                    tasks.append(task)
                    numbers.append(number)
                    for step in steps { take(step) }
                    return task
                }
            case .end: numbers.last.map { slot.end($0) }
            case .endFirst: numbers.first.map { slot.end($0) }
            case .pause: slot.pause()
            case .resume: slot.resume()
            case .cancel: slot.cancel()
            case .hold: slot.hold(true)
            case .release: slot.hold(false)
            case .endCurrent: slot.endCurrent()
            }
        }
    }

    @Test(
        "calls apply to the transfer in flight",
        arguments: [
            ("nothing", [.start], [[]]),
            ("paused while under way", [.start, .pause, .resume], [["pause", "resume"]]),
            ("paused twice", [.start, .pause, .pause, .resume, .resume], [["pause", "resume"]]),
            ("paused before", [.pause, .start, .resume], [["pause", "resume"]]),
            ("paused and resumed before", [.pause, .resume, .start], [[]]),
            ("paused while it is started", [.startDuring([.pause])], [["pause"]]),
            ("paused and resumed while it is started", [.startDuring([.pause, .resume])], [[]]),
            ("paused between two", [.start, .end, .pause, .start], [[], ["pause"]]),
            ("a pause holds for the next", [.start, .pause, .end, .start], [["pause"], ["pause"]]),
            ("paused when it is over", [.start, .end, .pause], [[]]),
            (
                "held back and paused: both have to let it go", [.start, .hold, .pause, .release, .resume],
                [["pause", "resume"]]
            ),
            ("paused, and held back meanwhile", [.start, .pause, .hold, .resume, .release], [["pause", "resume"]]),
            ("held back before", [.hold, .start, .resume], [["pause"]]),
            ("cancelled", [.start, .cancel, .cancel], [["cancel"]]),
            ("cancelled while it is started", [.startDuring([.cancel])], [["cancel"]]),
            ("cancelled when it is over", [.start, .end, .cancel], [[]]),
            ("cancelled before", [.cancel, .start], []),
            ("cancelled between two", [.start, .end, .cancel, .start], [[]]),
            ("cancelled while the next is started", [.start, .end, .startDuring([.cancel])], [[], ["cancel"]]),
            ("nothing is told once cancelled", [.start, .cancel, .pause, .resume], [["cancel"]]),
            ("ended, and followed by another", [.start, .endCurrent, .start, .pause], [["cancel"], ["pause"]]),
            ("it ends while it is started", [.startDuring([.end]), .pause], [["cancel"]]),
            (
                "it ends while it is started, and the next begins", [.startDuring([.end, .start]), .pause],
                [["cancel"], ["pause"]]
            ),
            (
                "the end of one that was left is not that of the next", [.start, .start, .endFirst, .pause],
                [[], ["pause"]]
            ),
        ] as [(String, [Step], [[String]])])
    private func reported(_ name: String, _ steps: [Step], _ reported: [[String]]) {
        let run = Run()
        for step in steps { run.take(step) }
        #expect(run.tasks.map(\.reported) == reported, "\(name)")
    }

    @Test("a call made during another one is forwarded after it")
    func order() {
        let slot = TransferSlot()
        // Resumes during the call, as another thread could.
        let task = Running { slot.resume() }
        slot.start { _ in task }
        slot.pause()
        #expect(task.reported == ["pause", "resume"])
        #expect(!slot.isPaused)
    }

    @Test("a transfer replaced during a call does not affect the next one")
    func replacedDuringDelivery() {
        let slot = TransferSlot()
        let next = Running()
        let first = Running { slot.start { _ in next } }
        slot.start { _ in first }
        slot.pause()
        #expect(next.reported == ["pause"])
        slot.resume()
        #expect(next.reported == ["pause", "resume"] && first.reported == ["pause"])
    }

    @Test("an ended transfer is released")
    func release() {
        let slot = TransferSlot()
        weak var held: Running?
        do {
            let task = Running()
            held = task
            slot.start { _ in task }
        }
        #expect(held != nil)
        slot.end()
        #expect(held == nil)
    }
}
