import HLSKitLoading
import Testing

@testable import HLSKitEngine

@Suite("End of an item")
struct EndOfItemTests {
    enum Step: Hashable { case fail(String), failAtLast(String), cut, wait(Duration), end }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var steps: [Step]
        var facts: EndOfItem.Facts

        init(_ text: String, _ steps: [Step], _ change: (inout EndOfItem.Facts) -> Void) {
            testDescription = text
            self.steps = steps
            facts = EndOfItemTests.played
            change(&facts)
        }
    }

    private static var played: EndOfItem.Facts {
        var facts = EndOfItem.Facts()
        facts.isComplete = true
        facts.isDrained = true
        facts.hasPresentable = true
        facts.isAtEnd = true
        facts.mayEnd = true
        facts.awaitsOutputs = true
        return facts
    }

    private static func error(_ cause: String) -> HLSError { HLSError(code: .badMedia, cause: cause) }

    private static func steps(_ end: EndOfItem, _ facts: EndOfItem.Facts, at now: Duration = .seconds(9)) -> [Step] {
        end.check(facts, at: now).map { action in
            switch action {
            case .fail(let error): .fail(error.cause)
            case .failAtLast(let error): .failAtLast(error.cause)
            case .cut: .cut
            case .wait(let time): .wait(time)
            case .end: .end
            }
        }
    }

    static let cases: [Case] = [
        Case("all was played", [.end]) { _ in },
        Case("time is not there yet", []) { $0.isAtEnd = false },
        Case("a seek is under way", []) { $0.mayEnd = false },
        Case("outputs have not presented all", []) { $0.isDrained = false },
        Case("every segment is missing", [.fail("missing")]) { $0.missing = error("missing") },
        Case("what is missing may still come", [.end]) {
            $0.isComplete = false
            $0.missing = error("missing")
        },
        Case("loading could not go on, and what was loaded is played", [.failAtLast("network")]) {
            $0.pendingFailure = error("network")
        },
        Case("loading could not go on, and there is more to play", []) {
            $0.pendingFailure = error("network")
            $0.isDrained = false
        },
        Case("time has come to what could not be loaded", [.failAtLast("network")]) {
            $0.pendingFailure = error("network")
            $0.isDrained = false
            $0.isAtFailure = true
        },
        Case("nothing was loaded before it failed", [.failAtLast("network")]) {
            $0.pendingFailure = error("network")
            $0.isDrained = false
            $0.hasPresentable = false
        },
        Case("the last segments were lost", [.fail("lost")]) { $0.loss = error("lost") },
        Case("an end time, all loaded: outputs are waited for", [.wait(.seconds(10))]) {
            $0.isAtEndTime = true
            $0.isDrained = false
        },
        Case("an end time within a segment that is on its way", [.cut, .wait(.seconds(10))]) {
            $0.isAtEndTime = true
            $0.isDrained = false
            $0.isComplete = false
        },
        Case("an end time without outputs", [.cut, .end]) {
            $0.isAtEndTime = true
            $0.isDrained = false
            $0.isComplete = false
            $0.awaitsOutputs = false
        },
    ]

    @Test("steps at the end of an item", arguments: cases)
    func check(_ test: Case) { #expect(Self.steps(EndOfItem(), test.facts) == test.steps) }

    @Test("the end waits for outputs once, and at most for a second")
    func waits() {
        var end = EndOfItem()
        var facts = Self.played
        facts.isAtEndTime = true
        facts.isDrained = false
        end.wait(until: .seconds(10))
        #expect(Self.steps(end, facts, at: .seconds(9)) == [])
        #expect(Self.steps(end, facts, at: .seconds(10)) == [.end])
        end.move()
        #expect(Self.steps(end, facts, at: .seconds(10)) == [.wait(.seconds(11))])
    }

    @Test("if no media could be decoded, the end is a failure unless the playhead has moved since")
    func undecodable() {
        var end = EndOfItem()
        end.noteUndecodable(Self.error("undecodable"))
        #expect(Self.steps(end, Self.played) == [.fail("undecodable")])
        end.jump()
        #expect(Self.steps(end, Self.played) == [.end])
    }
}

@Suite("Extent of an item")
struct ItemExtentTests {
    @Test("media presented to its end determines the duration if nothing was missing")
    func duration() {
        func duration(_ extent: ItemState.ItemExtent, forwardEnd: Duration? = nil, hasFailed: Bool = false) -> Duration
        {
            extent.duration(listedEnd: .seconds(20), forwardEnd: forwardEnd, hasFailed: hasFailed)
        }
        var extent = ItemState.ItemExtent()
        #expect(duration(extent) == .seconds(20))
        extent.close(at: .seconds(19))
        #expect(duration(extent) == .seconds(19))
        #expect(duration(extent, hasFailed: true) == .seconds(20))
        #expect(duration(extent, forwardEnd: .seconds(12)) == .seconds(20))
        #expect(duration(extent, forwardEnd: .seconds(30)) == .seconds(19))
        extent.reopen()
        #expect(duration(extent) == .seconds(20))
    }

    @Test("more media moves the end and keeps the start")
    func reopens() {
        var extent = ItemState.ItemExtent()
        #expect(extent.start == nil)
        extent.begin(at: .seconds(4))
        extent.close(at: .seconds(19))
        extent.reopen()
        #expect((extent.start, extent.mediaEnd) == (.seconds(4), nil))
    }
}
