import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitPlayback

@Suite("Passing timed points")
struct PassedPointsTests {
    private static func points(_ times: Double...) -> PassedPoints<Int> {
        var points = PassedPoints<Int>()
        for (index, time) in times.enumerated() { points.insert(index, at: .seconds(time)) }
        return points
    }

    private static func reported(_ points: inout PassedPoints<Int>, at time: Double, from start: Double = 0) -> [Int] {
        points.advance(to: .seconds(time), from: .seconds(start)).map(\.content)
    }

    @Test(
        "K12: each point is reported once as it is passed, by time, then by arrival"
    )
    func forwards() {
        var points = Self.points(5, 3, 5, 9)
        for (time, expected) in [(0, []), (2.9, []), (3, [1]), (8, [0, 2]), (8.5, []), (20, [3])] as [(Double, [Int])] {
            #expect(Self.reported(&points, at: time) == expected, "at \(time)")
        }
    }

    @Test("K12: points before the start position are not reported; points discovered late are")
    func late() {
        var points = Self.points(1)
        #expect(Self.reported(&points, at: 4, from: 4) == [])
        #expect(Self.reported(&points, at: 6, from: 4) == [])
        points.insert(7, at: .seconds(5))
        points.insert(8, at: .seconds(2))
        #expect(points.isDue(at: .seconds(6)))
        #expect(Self.reported(&points, at: 6, from: 4) == [7])
    }

    @Test("K12: a seek skips points, and they are reported when time reaches them again")
    func jumps() {
        var points = Self.points(2, 4, 6)
        #expect(Self.reported(&points, at: 3) == [0])
        points.jump(to: .seconds(5))
        #expect(Self.reported(&points, at: 5) == [])
        #expect(Self.reported(&points, at: 7) == [2])
        points.jump(to: .seconds(2))
        #expect(Self.reported(&points, at: 2) == [0])
        #expect(Self.reported(&points, at: 9) == [1, 2])
    }

    @Test("K12: in reverse, points are reported in the order of passing")
    func backwards() {
        var points = Self.points(2, 4, 6)
        points.jump(to: .seconds(7))
        #expect(Self.reported(&points, at: 7) == [])
        #expect(points.next(from: .seconds(7), isReverse: true) == .seconds(6))
        #expect(Self.reported(&points, at: 3) == [2, 1])
        #expect(Self.reported(&points, at: 0) == [0])
        #expect(points.next(from: .zero, isReverse: true) == nil)
    }

    @Test("K12: between two points nothing is due, and the next one is known")
    func quiet() {
        #expect(!PassedPoints<Int>().isDue(at: .zero))
        #expect(PassedPoints<Int>().next(from: .zero, isReverse: false) == nil)
        var points = Self.points(2, 4)
        #expect(points.isDue(at: .zero))
        #expect(Self.reported(&points, at: 0) == [])
        #expect(!points.isDue(at: .seconds(1)))
        #expect(points.next(from: .zero, isReverse: false) == .seconds(2))
        #expect(points.isDue(at: .seconds(2)))
        #expect(Self.reported(&points, at: 2) == [0])
        #expect(points.next(from: .seconds(2), isReverse: false) == .seconds(4))
        #expect(Self.reported(&points, at: 5) == [1])
        #expect(points.next(from: .seconds(5), isReverse: false) == nil)
        #expect(!points.isDue(at: .seconds(1000)))
    }
}

@Suite("Passing timed metadata")
struct TimedMetadataPassageTests {
    private static func group(
        _ time: Double, _ bytes: [UInt8], id: UInt32 = 0, timing: EventMessage.Timing = .presentationTime(0),
        isOfTransportStream: Bool = false, clock: Double = 0
    ) throws -> TimedMetadataGroup {
        let message = EventMessage(
            schemeIDURI: "urn:scte:scte35:2013:bin", id: id, timescale: 90_000, timing: timing, messageData: bytes,
            wrapsAt33Bits: isOfTransportStream)
        var found = TimedMetadata(time: .seconds(clock), wraps: isOfTransportStream, content: .event(message))
        if case .afterSegmentStart = timing { found.isFromSegmentStart = true }
        var reader = MetadataReader()
        let group = reader.group(of: found, at: .seconds(time))
        return try #require(group)
    }

    /// A time_signal at 100 s and an immediate splice_insert.
    private static let signal = "0xFC301600000000000000FFF00506FE00895440000000000000"
    private static let immediate = "0xFC301B00000000000000FFF00A05000000017FDF00000000000000000000"

    private static func section(_ text: String) throws -> [UInt8] { try SpliceInformation(text: text).bytes }

    private static func taken(_ groups: [(Double, TimedMetadataGroup)], by passage: inout TimedMetadataPassage) {
        for (time, group) in groups { passage.take(group, at: .seconds(time), playhead: .zero) }
    }

    private static func reported(_ passage: inout TimedMetadataPassage, at time: Double) -> [Double] {
        passage.advance(to: .seconds(time), from: .zero).map(\.timeRange.start.seconds)
    }

    @Test("K12: metadata repeated in segments, variants and renditions is one event")
    func repetitions() throws {
        var passage = TimedMetadataPassage()
        Self.taken(try [4, 4.05, 6].map { ($0, try Self.group($0, [1], id: 7)) }, by: &passage)
        #expect(Self.reported(&passage, at: 10) == [4, 6])
        // Numbered groups relative to their segment's start may recur in the following segments.
        let relative = try [14, 16, 18].map { ($0, try Self.group($0, [2], id: 7, timing: .afterSegmentStart(0))) }
        Self.taken(relative, by: &passage)
        Self.taken([(16, try Self.group(16, [2], id: 8, timing: .afterSegmentStart(0)))], by: &passage)
        #expect(Self.reported(&passage, at: 20) == [14, 16])
        let plain = try [24, 26].map { ($0, try Self.group($0, [2], timing: .afterSegmentStart(0))) }
        Self.taken(plain, by: &passage)
        #expect(Self.reported(&passage, at: 30) == [24, 26])
    }

    @Test("K12: a section with a time is one event while it is known, one without a time for two seconds")
    func sections() throws {
        var passage = TimedMetadataPassage()
        let timed = try Self.section(Self.signal)
        let groups = try [2, 4, 30].map { ($0, try Self.group($0, timed, isOfTransportStream: true, clock: 90 + $0)) }
        Self.taken(groups, by: &passage)
        #expect(Self.reported(&passage, at: 40) == [2])
        // 92 s on the media's clock is 2 s of the item.
        #expect(groups[0].1.spliceTime?.seconds == 10)
        #expect(groups[0].1.spliceInformation?.commandType == .timeSignal)
        let immediate = try Self.section(Self.immediate)
        Self.taken(
            try [42, 43.5, 50].map { ($0, try Self.group($0, immediate, isOfTransportStream: true)) }, by: &passage)
        #expect(Self.reported(&passage, at: 60) == [42, 50])
        #expect(try Self.group(1, immediate, isOfTransportStream: true).spliceTime == nil)
    }

    @Test("K12: reloaded metadata is not reported again, except after a seek back")
    func again() throws {
        var passage = TimedMetadataPassage()
        let groups = try [2, 4, 6].map { ($0, try Self.group($0, [UInt8($0)])) }
        Self.taken(groups, by: &passage)
        #expect(Self.reported(&passage, at: 5) == [2, 4])
        passage.flush()
        #expect(Self.reported(&passage, at: 7) == [])
        Self.taken(groups, by: &passage)
        #expect(Self.reported(&passage, at: 7) == [6])
        passage.jump(to: .seconds(3))
        #expect(Self.reported(&passage, at: 8) == [4, 6])
    }

    @Test("K12: memory is bounded to 512 groups before the playhead, 4096 groups in all and 4 MiB")
    func bounds() throws {
        var passage = TimedMetadataPassage()
        func add(_ range: Range<Int>, _ count: Int = 4, playhead: Double) throws {
            for index in range {
                let bytes = [UInt8](repeating: UInt8(index & 255), count: count) + [UInt8(index >> 8)]
                passage.take(try Self.group(Double(index), bytes), at: .seconds(index), playhead: .seconds(playhead))
            }
        }
        try add(0..<2000, playhead: 0)
        #expect(Self.reported(&passage, at: 2000).count == 2000)
        try add(2000..<2001, playhead: 2000)
        passage.jump(to: .zero)
        #expect(Self.reported(&passage, at: 3000).count == 513)
        passage = TimedMetadataPassage()
        try add(0..<5000, playhead: 0)
        #expect(Self.reported(&passage, at: 6000).count == 4096)
        passage = TimedMetadataPassage()
        try add(0..<10, 1 << 20, playhead: 0)
        #expect(Self.reported(&passage, at: 20).count == 3)
    }
}

@Suite("Passing ad markers")
struct SpliceMarkerPassageTests {
    /// Returns a playlist of 4 s segments from number `first` on. Segment 0 starts at item time 0.
    private static func list(_ tags: [Int: [String]], from first: Int = 0, at start: Double? = nil) throws
        -> PlaylistTracker
    {
        var text = PlaylistText.numbered(first, count: 10)
        for (number, tags) in tags where (first..<first + 10).contains(number) {
            text.segments[number - first].tags = tags.map { "#" + $0 }
        }
        return PlaylistTracker(
            try text.parsed(), requestURL: "list", url: "list", start: .seconds(start ?? Double(first * 4)),
            loadBegan: .zero, now: .zero)
    }

    private static let breakTags = [
        2: ["EXT-OATCLS-SCTE35:/DA=", "EXT-X-CUE-OUT:12"], 3: ["EXT-X-CUE-OUT-CONT:4/12"],
        4: ["EXT-X-CUE-OUT-CONT:8/12"], 5: ["EXT-X-CUE-IN"],
    ]

    private static func reported(_ passage: inout SpliceMarkerPassage, at time: Double) -> [String] {
        passage.advance(to: .seconds(time), from: .zero).map { event in
            "\(event.marker.kind) \(Int(event.time / .seconds(1)))"
        }
    }

    @Test("K13: a break is reported at its beginning and its end, without a \"continued\" event")
    func passing() throws {
        var passage = SpliceMarkerPassage()
        passage.read(try Self.list(Self.breakTags))
        #expect(Self.reported(&passage, at: 7.9) == [])
        #expect(Self.reported(&passage, at: 8) == ["message 8", "out 8"])
        #expect(Self.reported(&passage, at: 19.9) == [])
        #expect(Self.reported(&passage, at: 20) == ["in 20"])
    }

    @Test("K13: entering a break in the middle reports \"continued\" once")
    func joining() throws {
        for (time, expected) in [
            (13, ["continued 12"]), (12, ["continued 12"]), (17, ["continued 16"]), (21, []), (9, []),
        ]
            as [(Double, [String])]
        {
            var passage = SpliceMarkerPassage()
            passage.read(try Self.list(Self.breakTags))
            passage.jump(to: .seconds(time))
            #expect(Self.reported(&passage, at: time) == expected)
            let rest = time > 20 ? [] : time == 9 ? ["continued 12", "in 20"] : ["in 20"]
            #expect(Self.reported(&passage, at: 30) == rest)
        }
    }

    @Test("K13: a newer playlist, or one of another variant, repeats no marker")
    func reloads() throws {
        var passage = SpliceMarkerPassage()
        passage.read(try Self.list(Self.breakTags))
        #expect(Self.reported(&passage, at: 9) == ["message 8", "out 8"])
        passage.read(try Self.list(Self.breakTags, from: 1, at: 4.3))
        #expect(Self.reported(&passage, at: 9) == [])
        var more = Self.breakTags
        more[7] = ["EXT-X-CUE-OUT:12"]
        passage.read(try Self.list(more, from: 1))
        #expect(Self.reported(&passage, at: 40) == ["in 20", "out 28"])
    }

    @Test("K13: markers that left the window are reported when played; retracted ones are not")
    func window() throws {
        var passage = SpliceMarkerPassage()
        passage.read(try Self.list([2: ["EXT-X-CUE-OUT"], 8: ["EXT-X-CUE-IN"]]))
        passage.read(try Self.list([:], from: 5))
        #expect(Self.reported(&passage, at: 40) == ["out 8"])
        passage.read(try Self.list([:], from: 300))
        #expect(Self.reported(&passage, at: 41) == [])
    }

    @Test("K13: a playlist without markers causes no events")
    func without() throws {
        let passage = SpliceMarkerPassage()
        #expect(try !passage.isAffected(by: Self.list([:])))
        #expect(try passage.isAffected(by: Self.list(Self.breakTags)))
        #expect(passage.isEmpty)
    }
}
