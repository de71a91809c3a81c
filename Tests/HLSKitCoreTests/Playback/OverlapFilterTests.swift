import HLSKitMedia
import Testing

@testable import HLSKitPlayback

/// Tests frames of 40 ms in groups of eight, decoded as I P B B P B B P and shown two frames later.
@Suite("Overlap of remuxed samples")
struct OverlapFilterTests {
    private static let shown = [0, 3, 1, 2, 6, 4, 5, 7]

    private static func track(_ type: MediaKind = .video, width: Int = 640) -> MediaTrack {
        var track = MediaTrack(id: 1, mediaType: type, codec: type == .video ? .h264 : .aac, timescale: 1000)
        track.configuration = [UInt8(truncatingIfNeeded: width)]
        return track
    }

    /// Returns the frames of one group, which are shown `delay` frames after they are decoded.
    private static func group(_ number: Int, delay: Int = 2, taste: UInt8 = 0) -> [MediaSample] {
        shown.enumerated().map { index, place in
            MediaSample(
                trackID: 1, pts: Int64(40 * (8 * number + place)), dts: Int64(40 * (8 * number + index - delay)),
                duration: 40, isSync: index == 0,
                data: SampleData([UInt8(truncatingIfNeeded: 8 * number + index), taste]))
        }
    }

    private static func pass(_ samples: [MediaSample], through filter: inout OverlapFilter) -> [Int64] {
        samples.filter { sample in
            let times = (Duration.milliseconds(sample.dts), Duration.milliseconds(sample.pts))
            guard filter.admits(sample, decodingTime: times.0, time: times.1, length: .milliseconds(40)) else {
                return false
            }
            filter.note(sample, decodingTime: times.0, time: times.1)
            return true
        }.map(\.dts)
    }

    @Test("a group after a segment boundary is complete, although its key frame is decoded early")
    func atBorder() {
        var filter = OverlapFilter()
        filter.begin(Self.track(), dropsOverlap: false)
        _ = Self.pass(Self.group(0), through: &filter)
        filter.begin(Self.track(), dropsOverlap: true)
        #expect(Self.pass(Self.group(1), through: &filter) == Self.group(1).map(\.dts))
    }

    @Test("a segment loaded again continues after its last sample", arguments: 1..<8)
    func sameSegment(count: Int) {
        var filter = OverlapFilter()
        filter.begin(Self.track(), dropsOverlap: false)
        _ = Self.pass(Self.group(0) + Self.group(1).prefix(count), through: &filter)
        filter.begin(Self.track(), dropsOverlap: true)
        let rest = Self.group(1).dropFirst(count) + Self.group(2)
        #expect(Self.pass(Self.group(1) + Self.group(2), through: &filter) == rest.map(\.dts))
    }

    @Test("another encoding continues with a key frame", arguments: [0, 2, 4])
    func otherEncoding(delay: Int) {
        var filter = OverlapFilter()
        filter.begin(Self.track(), dropsOverlap: false)
        _ = Self.pass(Self.group(0) + Self.group(1).prefix(3), through: &filter)
        filter.begin(Self.track(width: 320), dropsOverlap: true)
        let others = (1..<4).flatMap { Self.group($0, delay: delay, taste: 9) }
        #expect(Self.pass(others, through: &filter) == others.dropFirst(8).map(\.dts))
    }

    @Test("at a boundary another encoding begins at once, however early it is decoded", arguments: [0, 2, 4, 8])
    func otherEncodingAtBorder(delay: Int) {
        var filter = OverlapFilter()
        filter.begin(Self.track(), dropsOverlap: false)
        _ = Self.pass(Self.group(0), through: &filter)
        filter.begin(Self.track(width: 320), dropsOverlap: true)
        let others = Self.group(1, delay: delay, taste: 9)
        #expect(Self.pass(others, through: &filter) == others.map(\.dts))
    }

    @Test("a run of another encoding that begins without a key frame waits for one")
    func headless() {
        var filter = OverlapFilter()
        filter.begin(Self.track(), dropsOverlap: false)
        _ = Self.pass(Self.group(0), through: &filter)
        filter.begin(Self.track(width: 320), dropsOverlap: true)
        let others = Self.group(1, taste: 9).dropFirst(2) + Self.group(2, taste: 9)
        #expect(Self.pass(Array(others), through: &filter) == Self.group(2).map(\.dts))
    }

    @Test("audio continues with the first new packet, without repetitions")
    func audio() {
        func packets(_ range: Range<Int>) -> [MediaSample] {
            range.map { index in
                MediaSample(
                    trackID: 1, pts: Int64(40 * index), dts: Int64(40 * index), duration: 40, isSync: true,
                    data: SampleData([UInt8(index)]))
            }
        }
        var filter = OverlapFilter()
        filter.begin(Self.track(.audio), dropsOverlap: false)
        _ = Self.pass(packets(0..<5), through: &filter)
        filter.begin(Self.track(.audio), dropsOverlap: true)
        #expect(Self.pass(packets(2..<9), through: &filter) == packets(5..<9).map(\.dts))
    }

    @Test("without earlier samples nothing overlaps")
    func first() {
        var filter = OverlapFilter()
        filter.begin(Self.track(), dropsOverlap: true)
        #expect(Self.pass(Self.group(0), through: &filter).count == 8)
    }
}
