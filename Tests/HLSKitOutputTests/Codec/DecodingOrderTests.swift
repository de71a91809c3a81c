import HLSKitMedia
import Testing

@testable import HLSKitCodec

@Suite struct DecodingOrderTests {
    struct Stream: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Presentation and decoding times, in decoding order.
        var samples: [(Int64, Int64)]
        var mayReorder = true
        var expected: [Int64]
        /// The number of samples that are written before the end.
        var early: Int
    }

    private static let streams = [
        Stream(
            testDescription: "pictures in the order of display wait for one other",
            samples: [(0, 0), (10, 10), (20, 20)],
            expected: [0, 10, 20], early: 3),
        Stream(
            testDescription: "delayed pictures do not wait", samples: [(10, 0), (40, 10), (20, 20), (30, 30)],
            expected: [0, 10, 20, 30], early: 4),
        Stream(
            testDescription: "pictures shown before they are decoded are decoded earlier",
            samples: [(0, 0), (30, 10), (10, 20), (20, 30)], expected: [-10, 0, 10, 20], early: 0),
        Stream(
            testDescription: "a pyramid", samples: [(0, 0), (40, 10), (20, 20), (10, 30), (30, 40)],
            expected: [-20, -10, 0, 10, 20], early: 0),
        Stream(
            testDescription: "a pyramid whose decoding times do not rise",
            samples: [(0, 0), (40, 10), (20, 20), (10, 10), (30, 20)], expected: [-11, -1, 9, 10, 11], early: 0),
        Stream(
            testDescription: "pictures that are all at one time", samples: [(0, 0), (0, 0), (0, 0)],
            expected: [-2, -1, 0], early: 0),
        Stream(
            testDescription: "sound does not wait", samples: [(0, 0), (10, 10), (10, 10)], mayReorder: false,
            expected: [0, 10, 11], early: 3),
        Stream(
            testDescription: "a damaged time moves nothing but itself",
            samples: [(0, 0), (10, 10), (-90_000_000, 20), (30, 30)],
            expected: [0, 10, 20, 30], early: 4),
    ]

    private func times(_ stream: Stream) -> (early: [DecodingOrder.Entry], all: [DecodingOrder.Entry]) {
        var order = DecodingOrder(mayReorder: stream.mayReorder, unitsPerSecond: 1000)
        var written: [DecodingOrder.Entry] = []
        for (pts, dts) in stream.samples {
            let sample = MediaSample(trackID: 1, pts: pts, dts: dts, isSync: true, data: SampleData([1]))
            order.add(.init(sample: sample, presentation: pts, decoding: dts, duration: 10)) { written.append($0) }
        }
        let early = written
        order.finish { written.append($0) }
        return (early, written)
    }

    @Test("decoding times increase, never exceed presentation times, and leave those unchanged", arguments: streams)
    func written(_ stream: Stream) {
        let (early, all) = times(stream)
        #expect(early.count == stream.early)
        #expect(all.map(\.decoding) == stream.expected)
        for (entry, sample) in zip(all, stream.samples) where sample.0 >= 0 && stream.mayReorder {
            #expect(entry.presentation == sample.0)
        }
    }

    @Test("samples of an earlier time after a splice are written late, and later ones keep their times")
    func splice() {
        var order = DecodingOrder(mayReorder: true, unitsPerSecond: 1000)
        var written: [DecodingOrder.Entry] = []
        let samples: [(Int64, Int64)] = [
            (110, 100), (120, 110), (130, 120), (40, 30), (60, 40), (50, 50), (140, 130), (160, 140), (150, 150),
        ]
        for (pts, dts) in samples {
            let sample = MediaSample(trackID: 1, pts: pts, dts: dts, isSync: true, data: SampleData([1]))
            order.add(.init(sample: sample, presentation: pts, decoding: dts, duration: 10)) { written.append($0) }
        }
        #expect(written.map(\.decoding) == [100, 110, 120, 121, 122, 123, 130, 140, 150])
        #expect(written.map(\.presentation) == [110, 120, 130, 121, 122, 123, 140, 160, 150])
    }

    @Test("at most 17 frames, or two seconds, are held back")
    func bounds() {
        func count(_ step: Int64) -> Int {
            let samples = (0..<40 as Range<Int64>).map { (pts: $0 == 0 ? 0 : ($0 + 1) * step, dts: $0 * step) }
            var order = DecodingOrder(mayReorder: true, unitsPerSecond: 1000)
            for (index, (pts, dts)) in samples.enumerated() {
                let sample = MediaSample(trackID: 1, pts: pts, dts: dts, isSync: true, data: SampleData([1]))
                var isWritten = false
                order.add(.init(sample: sample, presentation: pts, decoding: dts, duration: step)) { _ in
                    isWritten = true
                }
                if isWritten { return index + 1 }
            }
            return .max
        }
        #expect(count(40) == 17)
        #expect(count(1000) == 3)
    }

    @Test("a stream that continues another one has later decoding times")
    func continues() {
        var order = DecodingOrder(mayReorder: false, unitsPerSecond: 1000)
        order.resume(after: 50)
        var written: [Int64] = []
        for time in [40, 60] as [Int64] {
            let sample = MediaSample(trackID: 1, pts: time, dts: time, isSync: true, data: SampleData([1]))
            order.add(.init(sample: sample, presentation: time, decoding: time, duration: 10)) {
                written.append($0.decoding)
            }
        }
        #expect(written == [51, 60])
    }
}
