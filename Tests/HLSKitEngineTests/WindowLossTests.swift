import Testing

@testable import HLSKitEngine

@Suite("Losses of the live window")
struct WindowLossTests {
    private static func missed(_ range: ClosedRange<Int>, url: String = "a") -> SkippedSegments {
        SkippedSegments(
            first: range.lowerBound, last: range.upperBound, mediaDuration: .seconds(4 * range.count), url: url,
            cause: "the live window moved on")
    }

    @Test("adjacent losses are merged into one report; a gap or another URL starts a new one")
    func holding() {
        var loss = WindowLoss()
        #expect(loss.hold(Self.missed(1...2)) == nil)
        #expect(loss.hold(Self.missed(3...3)) == nil)
        #expect(loss.hold(Self.missed(5...5)) == Self.missed(1...3))
        #expect(loss.hold(Self.missed(6...6, url: "b")) == Self.missed(5...5))
        #expect(loss.take() == Self.missed(6...6, url: "b"))
        #expect(loss.take() == nil)
    }

    @Test("only a paused player is left behind, until it plays or is moved")
    func leftBehind() {
        var loss = WindowLoss()
        loss.leaveBehind(isPaused: false)
        #expect(!loss.isLeftBehind)
        loss.rest()
        loss.leaveBehind(isPaused: false)
        #expect(loss.isLeftBehind)
        loss.moveOn()
        loss.endRest()
        loss.leaveBehind(isPaused: false)
        #expect(!loss.isLeftBehind)
        loss.leaveBehind(isPaused: true)
        #expect(loss.isLeftBehind)
    }

    @Test("after a jump to the edge, a lane is late until it has media")
    func late() {
        var loss = WindowLoss()
        loss.jumpToEdge()
        #expect(loss.isLate)
        loss.noteMedia()
        #expect(!loss.isLate)
    }
}
