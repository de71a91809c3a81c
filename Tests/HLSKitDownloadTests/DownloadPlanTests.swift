import HLSKitSelection
import Testing

@testable import HLSKitDownload

@Suite("Download plan")
struct DownloadPlanTests {
    private func item(_ lane: Int, _ number: Int, _ start: Int, needs: [ResourceID] = []) -> DownloadPlan.Item {
        DownloadPlan.Item(
            lane: lane, position: SegmentPosition(epoch: 0, sequence: number), start: .seconds(start), resources: needs)
    }

    private let map = ResourceID(kind: .map, url: "m")
    private let key = ResourceID(kind: .key, url: "k")

    @Test("S02: segments come in presentation order, within the limit of parallel requests")
    func order() {
        var plan = DownloadPlan(capacity: 3)
        #expect(plan.add((0..<4).map { item(0, $0, $0 * 4) }).isEmpty)
        _ = plan.add((0..<4).map { item(1, $0, $0 * 4) })
        var started: [DownloadPlan.Work] = []
        while !plan.isIdle {
            started += plan.next()
            #expect(plan.inFlight.count <= 3)
            #expect(plan.next().isEmpty)
            guard let first = started.first(where: { plan.inFlight.contains($0) }) else { break }
            _ = plan.finish(first)
        }
        let expected = (0..<4).flatMap { [item(0, $0, 0).id, item(1, $0, 0).id] }
        #expect(started == expected.map { .segment($0) })
    }

    @Test("S02: a segment that was started is not started again")
    func once() {
        var plan = DownloadPlan(capacity: 9)
        _ = plan.add([item(0, 1, 0)])
        #expect(plan.next().count == 1)
        _ = plan.add([item(0, 1, 0), item(0, 2, 4)])
        #expect(plan.next() == [.segment(item(0, 2, 0).id)])
        #expect(plan.knows(item(0, 1, 0).id))
    }

    @Test("a segment waits for its initialization section and key, each requested once")
    func resources() {
        var plan = DownloadPlan(capacity: 4)
        _ = plan.add([item(0, 0, 0, needs: [map, key]), item(0, 1, 4, needs: [map, key]), item(1, 0, 2)])
        #expect(plan.next() == [.resource(map, lane: 0), .resource(key, lane: 0), .segment(item(1, 0, 0).id)])
        #expect(plan.finish(.resource(key, lane: 0)).isEmpty)
        #expect(plan.next().isEmpty)
        #expect(plan.finish(.resource(map, lane: 0)).isEmpty)
        #expect(plan.next() == [.segment(item(0, 0, 0).id), .segment(item(0, 1, 0).id)])
    }

    @Test("without its initialization section a segment is dropped, the others are not")
    func missingResource() {
        var plan = DownloadPlan(capacity: 2)
        _ = plan.add([item(0, 0, 0, needs: [map]), item(0, 1, 4, needs: [key])])
        #expect(plan.next() == [.resource(map, lane: 0), .resource(key, lane: 0)])
        #expect(plan.finish(.resource(map, lane: 0), succeeded: false) == [item(0, 0, 0).id])
        _ = plan.finish(.resource(key, lane: 0))
        #expect(plan.next() == [.segment(item(0, 1, 0).id)])
        _ = plan.finish(.segment(item(0, 1, 0).id))
        #expect(plan.isIdle)
    }

    @Test("S01: awaited segments come first, in addition to the parallel limit, and once")
    func urgent() {
        var plan = DownloadPlan(capacity: 1)
        _ = plan.add((0..<6).map { item(0, $0, $0 * 4, needs: $0 == 5 ? [map] : []) })
        #expect(plan.next() == [.segment(item(0, 0, 0).id)])
        plan.hasten(.segment(item(0, 3, 0).id))
        plan.hasten(.segment(item(0, 0, 0).id))
        plan.hasten(.segment(item(7, 0, 0).id))
        #expect(plan.next() == [.segment(item(0, 3, 0).id)])
        #expect(plan.next().isEmpty)
        plan.hasten(.resource(map))
        #expect(plan.next() == [.resource(map, lane: 0)])
        _ = plan.add([item(1, 0, 0)])
        _ = plan.finish(.resource(map, lane: 0))
        #expect(plan.next() == [.segment(item(0, 5, 0).id)])
        plan.hasten(.resource(map))
        #expect(plan.next().isEmpty)
        for number in [0, 3, 5] { _ = plan.finish(.segment(item(0, number, 0).id)) }
        #expect(plan.next() == [.segment(item(1, 0, 0).id)])
    }

    @Test("segments listed after their initialization section failed are reported, and retry it later")
    func laterItems() {
        var plan = DownloadPlan(capacity: 2)
        _ = plan.add([item(0, 0, 0, needs: [map])])
        _ = plan.next()
        _ = plan.finish(.resource(map, lane: 0), succeeded: false)
        #expect(plan.add([item(0, 1, 4, needs: [map]), item(0, 2, 8)]).map(\.id) == [item(0, 1, 4).id])
        #expect(plan.next() == [.segment(item(0, 2, 8).id)])
        plan.forgetFailures()
        #expect(plan.add([item(0, 3, 12, needs: [map])]).isEmpty)
        #expect(plan.next() == [.resource(map, lane: 0)])
    }
}
