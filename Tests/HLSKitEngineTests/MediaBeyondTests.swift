import Testing

@testable import HLSKitEngine

@Suite("media beyond the listed end of its segment")
struct MediaBeyondTests {
    /// After a segment that is listed from 4 to 8 s.
    private func beyond(_ end: Duration) -> MediaBeyond {
        var beyond = MediaBeyond()
        beyond.noteRead(upTo: end, listedEnd: .seconds(8))
        return beyond
    }

    @Test("the segment before has what is played just behind a boundary, as far as its media hangs over")
    func hangsOver() {
        let beyond = beyond(.milliseconds(8080))
        #expect(beyond.reaches(.seconds(12), beyond: .seconds(12)))
        #expect(beyond.reaches(.milliseconds(12_060), beyond: .seconds(12)))
        #expect(!beyond.reaches(.milliseconds(12_080), beyond: .seconds(12)))
    }

    @Test("where media ends as listed, or before, the segment before has nothing")
    func asListed() {
        for end in [7900, 8000, 8001] {
            #expect(!beyond(.milliseconds(end)).reaches(.seconds(12), beyond: .seconds(12)), "\(end)")
        }
        #expect(!MediaBeyond().reaches(.zero, beyond: .zero))
    }

    @Test("what is longer than a second comes of a list that is wrong: nothing is learnt from it")
    func wrongLists() {
        #expect(beyond(.seconds(9)).reaches(.milliseconds(12_500), beyond: .seconds(12)))
        #expect(!beyond(.milliseconds(9001)).reaches(.milliseconds(12_500), beyond: .seconds(12)))
    }

    @Test("the segment that was read last counts")
    func last() {
        var beyond = beyond(.milliseconds(8080))
        beyond.noteRead(upTo: .seconds(12), listedEnd: .seconds(12))
        #expect(beyond == MediaBeyond())
    }
}
