import Testing

@testable import HLSKitMedia

private typealias Writer = BoxWriter

@Suite struct DecodingShiftTests {
    struct Offsets: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var offsets: [Int]
        /// The expected times for samples that are 10 units long.
        var decodingTimes: [Int64]
    }

    private static let cases = [
        Offsets(testDescription: "none", offsets: [0, 0, 0, 0], decodingTimes: [0, 10, 20, 30]),
        Offsets(testDescription: "above zero", offsets: [10, 30, 0, 0], decodingTimes: [0, 10, 20, 30]),
        Offsets(
            testDescription: "below zero by one picture", offsets: [0, 20, -10, -10], decodingTimes: [-10, 0, 10, 20]),
        Offsets(
            testDescription: "by two, a pyramid", offsets: [0, 30, 0, -20, 0], decodingTimes: [-20, -10, 0, 10, 20]),
        Offsets(testDescription: "below all sense", offsets: [0, Int(Int32.min)], decodingTimes: [0, 10]),
    ]

    private func expect(_ samples: [(pts: Int64, dts: Int64)], _ test: Offsets) {
        #expect(samples.map(\.dts) == test.decodingTimes)
        #expect(samples.map(\.pts) == test.offsets.enumerated().map { Int64($0 * 10 + $1) })
    }

    @Test(
        "in fragments no frame is shown before it is decoded, and all are shown on time",
        arguments: cases)
    func fragment(_ test: Offsets) throws {
        func fragment(_ offset: Int) -> [UInt8] {
            let entries = test.offsets.flatMap { Writer.be32(10) + Writer.be32(1) + Writer.be32($0) }
            let run = Writer.trun(version: 1, flags: 0xB01, count: test.offsets.count, Writer.be32(offset), entries)
            return Writer.moof(Writer.traf(Writer.tfhd(), Writer.tfdt(0), run))
        }
        let bytes = fragment(fragment(0).count + 8) + Writer.box("mdat", Writer.zeros(test.offsets.count))
        let demuxed = try Demuxed(fragments: bytes)
        #expect(demuxed.error == nil)
        expect(demuxed.samples.map { ($0.pts, $0.dts) }, test)
    }

    private func header(_ test: Offsets) -> [UInt8] {
        let count = test.offsets.count
        let tables =
            Writer.fullBox("stsz", Writer.be32(1), Writer.be32(count))
            + Writer.fullBox("stts", [1, count, 10].flatMap { Writer.be32($0) })
            + Writer.fullBox("stsc", [1, 1, count, 1].flatMap { Writer.be32($0) })
            + Writer.fullBox("stco", [1, 1000].flatMap { Writer.be32($0) })
            + Writer.fullBox(
                "ctts", version: 1, Writer.be32(count), test.offsets.flatMap { Writer.be32(1) + Writer.be32($0) })
        return Writer.header([Writer.Track(tables: tables)], defaults: nil)
    }

    @Test("in a file's sample tables no frame is shown before it is decoded", arguments: cases)
    func tables(_ test: Offsets) throws {
        let header = self.header(test)
        let table = MP4SampleTable(try MP4InitializationSection(parsing: header[...]))
        expect(table.tracks.flatMap { Array($0.samples) }.map { ($0.pts, $0.dts) }, test)
    }

    @Test("in fragments made from a file no frame is shown before it is decoded", arguments: cases)
    func segments(_ test: Offsets) throws {
        let bytes = header(test)
        let segments = try #require(
            MP4FileSegments(try MP4InitializationSection(parsing: bytes[...]), target: .seconds(60)))
        let fragment = try #require(segments.fragment(0, of: [1], maximumGap: 0))
        let rewritten = try MP4InitializationSection.fragmented(bytes, keeping: [1])
        let demuxer = FragmentedMP4Demuxer(initialization: try MP4InitializationSection(parsing: rewritten[...]))
        let demuxed = Demuxed(fragment.head + Writer.zeros(test.offsets.count), by: demuxer)
        #expect(demuxed.error == nil)
        expect(demuxed.samples.map { ($0.pts, $0.dts) }, test)
    }
}
