import HLSKitCore
import Testing

@testable import HLSGetWatch

@Suite("Thumbnails for the seek bar")
struct ThumbnailSourceTests {
    @Test("a piece of the timeline has one image for all its columns")
    func places() {
        let hour = 0.0..<3600
        #expect(ThumbnailSource.Place(0, of: hour) == ThumbnailSource.Place(14.9, of: hour))
        #expect(ThumbnailSource.Place(15, of: hour).number == 1)
        #expect(ThumbnailSource.Place(15, of: hour).time == 22.5)
        #expect(ThumbnailSource.Place(5, of: 0..<10).number == 2)
        #expect(ThumbnailSource.Place(-3, of: 0..<10).number == -2)
        #expect(ThumbnailSource.Place(.infinity, of: 0..<10).number == 1_000_000_000)
    }
}
