import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("What is told of low latency")
struct LowLatencyNoticeTests {
    @Test("why there is none is told once, and again after there was")
    func once() {
        var notice = LowLatencyNotice()
        #expect(notice.news(.ordinary) == nil)
        #expect(notice.news(.declined(.noPartHoldBack)) == .noPartHoldBack)
        #expect(notice.news(.declined(.holdsNoRequests)) == nil)
        #expect(notice.news(.ordinary) == nil)
        #expect(notice.news(.declined(.holdsNoRequests)) == nil)
        #expect(notice.news(.lowLatency) == nil)
        #expect(notice.news(.declined(.doesNotHold)) == .doesNotHold)
    }
}
