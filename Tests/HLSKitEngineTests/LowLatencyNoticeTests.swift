import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Low-latency notices")
struct LowLatencyNoticeTests {
    @Test("the reason for missing low latency is reported once, and again after it has worked")
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
