import HLSKitMedia
import Testing

private let pairs: [ClosedCaptionData.Pair] = [
    ClosedCaptionData.Pair(kind: .field1, first: 0x94, second: 0x20),
    ClosedCaptionData.Pair(kind: .field2, first: 0x15, second: 0x2c),
    ClosedCaptionData.Pair(kind: .packetStart, first: 0, second: 0),
    ClosedCaptionData.Pair(kind: .packetData, first: 0, second: 1),
]

private let message: [UInt8] = {
    var data: [UInt8] = [0xb5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0x40 | 5, 0xff]
    for pair in pairs { data += [0xfc | pair.kind.rawValue, pair.first, pair.second] }
    data += [0xf8, 0x61, 0x61, 0xff]
    return [1, 2, 0, 0, 4, UInt8(data.count)] + data + [0x80]
}()

private func sample(_ units: [[UInt8]], lengthSize: Int?) -> MediaSample {
    var bytes: [UInt8] = []
    for unit in units {
        if let lengthSize {
            for byte in (0..<lengthSize).reversed() {
                bytes.append(UInt8(truncatingIfNeeded: unit.count >> (8 * byte)))
            }
        } else {
            bytes += [0, 0, 0, 1]
        }
        bytes += unit
    }
    return MediaSample(trackID: 1, pts: 0, dts: 0, isSync: true, data: SampleData(bytes))
}

private func escaped(_ header: [UInt8]) -> [UInt8] { header + message.withEmulationPrevention }

@Suite struct ClosedCaptionDataTests {
    struct Form: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var codec: MediaCodec
        var configuration: [UInt8]
        var lengthSize: Int?
        var units: [[UInt8]]
    }

    private static let hvcC: [UInt8] = [1] + [UInt8](repeating: 0, count: 20) + [0x0f, 0]

    @Test(
        "K03: captions are found in the SEI of H.264 and HEVC",
        arguments: [
            Form(
                testDescription: "H.264 in a transport stream", codec: .h264, configuration: [], lengthSize: nil,
                units: [[9, 0xf0], escaped([6]), [0x65, 0x88, 0, 0, 3]]),
            Form(
                testDescription: "H.264 in MP4", codec: .h264, configuration: [1, 66, 0, 30, 0xff, 0xe0, 0],
                lengthSize: 4,
                units: [escaped([6]), [0x65, 0x88]]),
            Form(
                testDescription: "H.264 in MP4, short lengths", codec: .h264,
                configuration: [1, 66, 0, 30, 0xfd, 0xe0, 0],
                lengthSize: 2, units: [escaped([6]), [0x65, 0x88]]),
            Form(
                testDescription: "HEVC in a transport stream", codec: .hevc, configuration: [], lengthSize: nil,
                units: [[0x46, 1, 0x50], escaped([0x4e, 1]), [0x26, 1, 0xaf]]),
            Form(
                testDescription: "HEVC in MP4", codec: .hevc, configuration: hvcC, lengthSize: 4,
                units: [escaped([0x4e, 1]), [0x26, 1, 0xaf]]),
        ])
    func messages(_ form: Form) {
        let track = MediaTrack(
            id: 1, mediaType: .video, codec: form.codec, timescale: 90_000, configuration: form.configuration)
        let whole = sample(form.units, lengthSize: form.lengthSize)
        #expect(ClosedCaptionData(sample: whole, track: track).pairs == pairs)
        let bytes = whole.data.withUnsafeBytes { Array($0) }
        for count in bytes.indices {
            let cut = MediaSample(trackID: 1, pts: 0, dts: 0, isSync: true, data: SampleData(bytes.prefix(count)))
            #expect(pairs.starts(with: ClosedCaptionData(sample: cut, track: track).pairs))
        }
    }

    @Test("K03: caption samples hold byte pairs of two fields, or distribution packets")
    func tracks() {
        let line21: [UInt8] =
            [0, 0, 0, 12] + Array("cdat".utf8) + [0x94, 0x20, 0x94, 0x20] + [0, 0, 0, 10] + Array("cdt2".utf8) + [1, 2]
        #expect(
            ClosedCaptionData(line21Sample: line21[...]).pairs.map { [$0.kind.rawValue, $0.first, $0.second] } == [
                [0, 0x94, 0x20], [0, 0x94, 0x20], [1, 1, 2],
            ])
        let packet: [UInt8] = [
            0x96, 0x69, 20, 0x4f, 0x43, 0, 1, 0x72, 0xe2, 0xfc, 0x94, 0x20, 0xff, 3, 4, 0x74, 0, 1, 0,
        ]
        let digital = [0, 0, 0, UInt8(packet.count + 8)] + Array("ccdp".utf8) + packet
        #expect(
            ClosedCaptionData(distributionSample: digital[...]).pairs.map { [$0.kind.rawValue, $0.first, $0.second] }
                == [[0, 0x94, 0x20], [3, 3, 4]])
        #expect(ClosedCaptionData(line21Sample: line21.prefix(9)).pairs.isEmpty)
    }

    @Test("K03: captions are in presentation order, as soon as no earlier one can follow")
    func reorders() {
        var reorderer = ClosedCaptionReorderer()
        var given: [Int64] = []
        var counts: [Int] = []
        // I P B B P B B, the first presented two frames after it is decoded.
        for (pts, dts) in [(2, 0), (5, 1), (3, 2), (4, 3), (8, 4), (6, 5), (7, 6)] as [(Int64, Int64)] {
            given += reorderer.add(ClosedCaptionData(pairs: pairs), pts: pts, dts: dts).map(\.pts)
            counts.append(given.count)
        }
        #expect(counts == [0, 0, 1, 2, 3, 4, 5])
        given += reorderer.finish().map(\.pts)
        #expect(given == [2, 3, 4, 5, 6, 7, 8])
    }

    struct Order: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var frames: [(pts: Int64, dts: Int64)]
    }

    @Test(
        "K03: captions are in presentation order even with presentation before decoding",
        arguments: [
            Order(
                testDescription: "negative offsets, a pyramid: I P B b P B b",
                frames: [(0, 0), (3, 1), (2, 2), (1, 3), (6, 4), (5, 5), (4, 6)]),
            Order(
                testDescription: "negative offsets, a deep pyramid",
                frames: [(0, 0), (8, 1), (4, 2), (2, 3), (1, 4), (3, 5), (6, 6), (5, 7), (7, 8)]),
            Order(
                testDescription: "no reordering", frames: [(0, 0), (1, 1), (2, 2)]),
            Order(
                testDescription: "times at the ends of their range",
                frames: [(.min, .max), (.max, .min), (0, .min), (0, .max), (1, 1)]),
        ])
    func reordersNegativeOffsets(_ order: Order) {
        var reorderer = ClosedCaptionReorderer()
        var given: [Int64] = []
        for (pts, dts) in order.frames {
            given += reorderer.add(
                ClosedCaptionData(pairs: [.init(kind: .field1, first: 1, second: 2)]), pts: pts, dts: dts
            ).map(\.pts)
        }
        given += reorderer.finish().map(\.pts)
        #expect(given.count == order.frames.count)
        if order.frames.allSatisfy({ $0.dts.magnitude < 100 }) { #expect(given == given.sorted()) }
    }
}
