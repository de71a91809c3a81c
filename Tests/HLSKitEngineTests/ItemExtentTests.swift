import Testing

@testable import HLSKitEngine

@Suite("Extent of an item")
struct ItemExtentTests {
    @Test("media presented to its end determines the duration if nothing was missing")
    func duration() {
        func duration(_ extent: ItemExtent, forwardEnd: Duration? = nil, hasFailed: Bool = false) -> Duration {
            extent.duration(listedEnd: .seconds(20), forwardEnd: forwardEnd, hasFailed: hasFailed)
        }
        var extent = ItemExtent()
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
        var extent = ItemExtent()
        #expect(extent.start == nil)
        extent.begin(at: .seconds(4))
        extent.close(at: .seconds(19))
        extent.reopen()
        #expect((extent.start, extent.mediaEnd) == (.seconds(4), nil))
    }
}
