import HLSKitTime
import Testing

@testable import HLSKitDownload

@Suite("Audio that is missing in loaded segments")
struct AudioHolesTests {
    private static func segment(_ number: Int, discontinuity: Int = 0, isCut: Bool = false) -> DownloadJournal.Segment {
        var segment = DownloadJournal.Segment(
            lane: "main", sequence: number, name: "", start: Int64(number) * 4_000_000, duration: 4_000_000,
            discontinuity: discontinuity)
        if isCut { segment.limits = TimeWindow(until: .seconds(2)) }
        return segment
    }

    /// Audio frames of 25 ms, except in these ranges.
    private static func holes(_ missing: Range<Int>..., in segments: [DownloadJournal.Segment]) -> [Range<Duration>] {
        var holes = AudioHoles()
        for time in stride(from: 0, to: 16_000, by: 25) where !missing.contains(where: { $0.contains(time) }) {
            holes.note(from: .milliseconds(time), to: .milliseconds(time + 25))
        }
        return holes.ranges(in: segments)
    }

    @Test("audio missing within a segment or between segments is a hole, a few frames are not")
    func hole() {
        let holes = Self.holes(1000..<1100, 3900..<4200, 9000..<9075, in: (0..<4).map { Self.segment($0) })
        #expect(
            holes == [.milliseconds(1000)..<(.milliseconds(1100)), .milliseconds(3900)..<(.milliseconds(4200))])
    }

    @Test("the number of holes is limited")
    func many() {
        var holes = AudioHoles()
        for second in 0..<1000 { holes.note(from: .seconds(second), to: .seconds(second) + .milliseconds(25)) }
        #expect(holes.ranges(in: (0..<250).map { Self.segment($0) }).count == 100)
    }

    @Test("a missing segment, a cut and the end before a discontinuity are not holes")
    func intended() {
        let (first, others) = (Self.segment(0), (2..<4).map { Self.segment($0) })
        #expect(Self.holes(4000..<8000, in: [first] + others).isEmpty)
        #expect(Self.holes(3700..<8000, in: [first] + others).isEmpty)
        #expect(Self.holes(3000..<4000, in: [Self.segment(0, isCut: true), Self.segment(1)] + others).isEmpty)
        #expect(Self.holes(3700..<4000, in: [first] + (1..<4).map { Self.segment($0, discontinuity: 1) }).isEmpty)
    }
}
