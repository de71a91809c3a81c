import HLSKitLoading
import Testing

@testable import HLSKitEngine

@Suite("Item failures")
struct ItemFailureTests {
    private static let error = HLSError(code: .network, cause: "gone")

    @Test("the first failure decides, either at once or after the loaded media was played")
    func verdicts() {
        var failure = ItemState.ItemFailure()
        #expect(!failure.isOver)
        #expect(failure.verdict(canPlayOn: false) == .fails)
        #expect(failure.verdict(canPlayOn: true) == .playsOn)
        failure.playOn(until: Self.error)
        failure.end(with: .audio)
        #expect(failure.pending == Self.error)
        #expect(failure.lane == .audio)
        for canPlayOn in [true, false] { #expect(failure.verdict(canPlayOn: canPlayOn) == nil) }
        failure.endPlaying()
        #expect(failure.pending == nil)
        failure.fail(Self.error)
        #expect(failure.error == Self.error)
        #expect(failure.isOver)
        #expect(failure.verdict(canPlayOn: true) == nil)
    }

    @Test("an item continues without a lane that has played, if there is media left to play")
    func playingOn() {
        var item = ItemState(url: "https://host/list", credentialOrigins: [])
        #expect(!item.canPlayOn(without: nil, hasPlayed: false))
        item.contents.notePresentable()
        #expect(item.canPlayOn(without: nil, hasPlayed: false))
        #expect(!item.canPlayOn(without: .main, hasPlayed: false))
        #expect(item.canPlayOn(without: .main, hasPlayed: true))
    }
}
