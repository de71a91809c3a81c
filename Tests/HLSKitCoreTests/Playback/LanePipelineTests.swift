import HLSMedia
import Testing

@testable import HLSKitCore

@Suite("Lane pipeline")
struct LanePipelineTests {
    private static let map = ResourceID(kind: .map, url: "map", byteRange: nil)

    private static func job(_ number: Int) -> SegmentJob {
        SegmentJob(
            id: SegmentID(lane: .main, rawValue: number), request: RequestID(rawValue: number), map: map, key: nil,
            mapKey: nil, start: .zero, duration: .seconds(4), timeline: 0, window: PresentationWindow(),
            startsNewSequence: false, url: "s\(number)", mediaSequence: number)
    }

    @Test("an initialization section that could not be read is read anew when it comes again")
    func damagedMap() {
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video])
        var timeline = ItemTimeline()
        for number in 1...2 {
            pipeline.begin(Self.job(number))
            pipeline.append([1, 2, 3], to: Self.job(number).id)
            var output: [LaneOutput] = []
            pipeline.run(timeline: &timeline, output: &output)
            // What was no good before is not asked again.
            #expect(output.isEmpty)
            pipeline.provide(Self.map, bytes: [UInt8](repeating: 7, count: 40))
            pipeline.run(timeline: &timeline, output: &output)
            guard case .fact(.segmentFailed(_, .badInitializationSection))? = output.first else {
                Issue.record("segment \(number): \(output)")
                return
            }
            pipeline.abandon(Self.job(number).id)
        }
    }
}
