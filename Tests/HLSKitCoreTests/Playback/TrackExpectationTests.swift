import HLSKitEngine
import HLSKitMedia
import Testing

@testable import HLSKitPlayback

@Suite("Expected kinds of media")
struct TrackExpectationTests {
    private func settle(
        _ expectation: inout RendererSet.TrackExpectation, _ needed: [LaneID] = [.main], ended: Set<LaneID> = []
    ) -> Set<MediaKind>? {
        expectation.settle(needed: needed, ended: ended)
    }

    @Test("every required lane reports first, or has ended")
    func lanes() {
        var expectation = RendererSet.TrackExpectation()
        #expect(settle(&expectation, []) == nil)
        expectation.report([.video], of: .main)
        #expect(settle(&expectation, [.main, .audio]) == nil)
        expectation.report([.audio], of: .audio)
        #expect(settle(&expectation, [.main, .audio]) == [.video, .audio])
        #expect(settle(&expectation, [.main, .audio]) == nil)
        var other = RendererSet.TrackExpectation()
        other.report([.video], of: .main)
        #expect(settle(&other, [.main, .audio], ended: [.audio]) == [.video])
    }

    @Test("kinds missing in a segment are no longer waited for")
    func absent() {
        var expectation = RendererSet.TrackExpectation()
        expectation.report([.video, .audio], of: .main)
        #expect(settle(&expectation) == [.video, .audio])
        expectation.finish(.main, isLaneOver: false)
        #expect(settle(&expectation) == nil)
        expectation.give(.video, of: .main)
        expectation.finish(.main, isLaneOver: false)
        #expect(settle(&expectation) == [.video])
        expectation.finish(.main, isLaneOver: false)
        #expect(settle(&expectation) == nil)
    }

    @Test("kinds may come until every lane's first segment has ended, and announced ones later too")
    func possible() {
        var expectation = RendererSet.TrackExpectation()
        expectation.report([.video], of: .main, mayGrow: true)
        #expect(expectation.takePossible() == [.video, .audio])
        #expect(expectation.takePossible() == nil)
        expectation.give(.video, of: .main)
        expectation.finish(.main, isLaneOver: false)
        #expect(expectation.takePossible() == [.video])
        expectation.report([.video, .audio], of: .main, mayGrow: true)
        #expect(expectation.takePossible() == [.video, .audio])
        expectation.finish(.main, isLaneOver: false)
        #expect(expectation.takePossible() == nil)
        var other = RendererSet.TrackExpectation()
        other.report([.video], of: .main)
        #expect(other.takePossible() == [.video])
    }

    @Test("a lane that ends without media is not waited for")
    func empty() {
        var expectation = RendererSet.TrackExpectation()
        expectation.report([.video], of: .main)
        expectation.report([.audio], of: .audio)
        #expect(settle(&expectation, [.main, .audio]) == [.video, .audio])
        expectation.finish(.audio, isLaneOver: true)
        #expect(settle(&expectation, [.main, .audio]) == [.video])
    }
}
