import HLSKitMedia
import HLSKitTime
import Testing

@testable import HLSKitImaging

@Suite struct PictureFinderTests {
    /// Samples in decoding order, one second apart.
    struct Order: Sendable, CustomStringConvertible {
        var description: String
        var pts: [Int]
        /// The offset of the decoding times from the decoding order. If it is too small, reordered frames are presented
        /// before their decoding times.
        var dts = 0
        var syncs: Set<Int> = [0]

        var samples: [FrameFinder.Placed] {
            pts.enumerated().map { index, time in
                let (pts, dts) = (Duration.seconds(time), Duration.seconds(index + dts))
                let sample = MediaSample(
                    trackID: 1, pts: Int64(time), dts: Int64(index + self.dts), duration: 1,
                    isSync: syncs.contains(index), data: SampleData([0]))
                return FrameFinder.Placed(sample: sample, pts: pts, dts: dts)
            }
        }
    }

    private static let pyramid = [0, 8, 4, 2, 1, 3, 6, 5, 7, 16, 12, 10, 9, 11, 14, 13, 15]
    private static let long = Array(0..<60)

    static let orders = [
        Order(description: "no reordering", pts: long, syncs: [0, 30]),
        Order(description: "two B-frames, decoding times ahead", pts: [0, 3, 1, 2, 6, 4, 5, 9, 7, 8], dts: -1),
        Order(description: "two B-frames, negative offsets", pts: [0, 3, 1, 2, 6, 4, 5, 9, 7, 8]),
        Order(description: "pyramid, decoding times ahead", pts: pyramid, dts: -3),
        Order(description: "pyramid, negative offsets", pts: pyramid),
        Order(description: "B-frames only later, negative offsets", pts: Array(0..<20) + pyramid.map { $0 + 20 }),
        // The second sync sample is followed by frames that are presented before it.
        Order(
            description: "open groups, decoding times ahead", pts: [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11], dts: -1,
            syncs: [0, 4, 10]),
        Order(
            description: "open groups, negative offsets", pts: [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11],
            syncs: [0, 4, 10]),
    ]

    private func finds(_ order: Order, _ times: [Duration]) throws -> [FrameFinder.Find] {
        let requests = times.enumerated().map { index, time in
            RequestedImage(index: index, requested: MediaTime(time), time: time)
        }
        var finder = FrameFinder(requests)
        var finds: [FrameFinder.Find] = []
        for sample in order.samples where !finder.isDone { try finder.take(sample).map { finds.append($0) } }
        finder.finish().map { finds.append($0) }
        return finds
    }

    @Test("L02: the decoded range contains the frame shown at the time", arguments: orders)
    func holdsThePicture(_ order: Order) throws {
        for time in stride(from: 0.0, to: Double(order.pts.count) + 2, by: 0.5) {
            let finds = try finds(order, [.seconds(time)])
            #expect(finds.count == 1)
            let held = finds.first?.samples.map(\.sample.pts) ?? []
            let shown = order.pts.filter { Double($0) <= time }.max() ?? 0
            #expect(held.contains(Int64(shown)), "at \(time)")
            #expect(finds.first?.samples.first?.sample.isSync == true)
        }
    }

    @Test("L02: each of many times gets its own frame, however close they are", arguments: orders)
    func many(_ order: Order) throws {
        let times = stride(from: 0.25, to: Double(order.pts.count), by: 0.5).map { Duration.seconds($0) }
        var seen: [Int] = []
        for find in try finds(order, times) {
            let held = find.samples.map(\.sample.pts)
            for request in find.requests {
                let shown = order.pts.filter { Duration.seconds($0) <= request.time }.max() ?? 0
                #expect(held.contains(Int64(shown)), "at \(request.time)")
                seen.append(request.index)
            }
        }
        #expect(seen == Array(times.indices))
    }

    @Test("L02: decoding starts as late as possible and holds no more samples than needed")
    func little() throws {
        let order = Order(description: "", pts: Self.long.map { $0 + 1 }, syncs: [0, 30])
        let find = try #require(try finds(order, [.seconds(40)]).first)
        #expect(find.samples.first?.pts == .seconds(31))
        // The sample at 41 s may still be followed by earlier frames. The one after it is decoded too late for that.
        #expect(find.samples.last?.pts == .seconds(41))
    }
}
