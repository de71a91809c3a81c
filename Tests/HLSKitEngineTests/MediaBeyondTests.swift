import Testing

@testable import HLSKitEngine

@Suite("Media past the listed end of its segment")
struct MediaBeyondTests {
    /// After a segment that is listed from 4 to 8 s.
    private func beyond(_ end: Duration) -> MediaBeyond {
        var beyond = MediaBeyond()
        beyond.noteRead(upTo: end, listedEnd: .seconds(8))
        return beyond
    }

    @Test("media just past a boundary belongs to the previous segment, as far as that extends")
    func hangsOver() {
        let beyond = beyond(.milliseconds(8080))
        #expect(beyond.reaches(.seconds(12), beyond: .seconds(12)))
        #expect(beyond.reaches(.milliseconds(12_060), beyond: .seconds(12)))
        #expect(!beyond.reaches(.milliseconds(12_080), beyond: .seconds(12)))
    }

    @Test("a segment that ends as listed, or earlier, has no media past its boundary")
    func asListed() {
        for end in [7900, 8000, 8001] {
            #expect(!beyond(.milliseconds(end)).reaches(.seconds(12), beyond: .seconds(12)), "\(end)")
        }
        #expect(!MediaBeyond().reaches(.zero, beyond: .zero))
    }

    @Test("an excess of more than a second means a wrong playlist and is ignored")
    func wrongLists() {
        #expect(beyond(.seconds(9)).reaches(.milliseconds(12_500), beyond: .seconds(12)))
        #expect(!beyond(.milliseconds(9001)).reaches(.milliseconds(12_500), beyond: .seconds(12)))
    }

    @Test("only the last segment that was read applies")
    func last() {
        var beyond = beyond(.milliseconds(8080))
        beyond.noteRead(upTo: .seconds(12), listedEnd: .seconds(12))
        #expect(beyond == MediaBeyond())
    }
}
