import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Segments in flight in a lane")
struct SegmentWindowTests {
    private static func id(_ number: Int) -> SegmentID { SegmentID(lane: .main, rawValue: number) }

    private static func window(_ count: Int) -> SegmentWindow {
        var window = SegmentWindow()
        for number in 0..<count {
            let job = SegmentJob(
                id: id(number), request: RequestID(rawValue: 0), map: ResourceID(kind: .map, url: "map \(number)"),
                start: .seconds(4 * number), duration: .seconds(4), timeline: 0, window: PresentationWindow(),
                startsNewSequence: false, url: "s", mediaSequence: number)
            window.append(
                SegmentInFlight(
                    id: id(number), role: id(number), position: SegmentPosition(epoch: 0, sequence: number), job: job,
                    playlistURL: "list"))
        }
        return window
    }

    @Test("a request knows pending earlier segments, and starts with its first byte")
    func requests() {
        var window = Self.window(2)
        #expect(window.request(Self.id(0), as: RequestID(rawValue: 1), at: .seconds(1)) == false)
        #expect(window.request(Self.id(1), as: RequestID(rawValue: 2), at: .seconds(2)) == true)
        #expect(window.map(\.isPrefetched) == [false, true])
        #expect(window.loading?.id == Self.id(0))
        window.load(Self.id(0), byteCount: 7)
        #expect(window[Self.id(0)]?.receivedByteCount == 7)
        #expect(window[Self.id(0)]?.request == nil)
        #expect(window.hasLoaded)
        #expect(window.loading?.id == Self.id(1))
        window.fail(Self.id(0))
        #expect(!window.hasLoaded)
        #expect(window.request(Self.id(0), as: RequestID(rawValue: 3), at: .seconds(5)) == false)
        #expect(window[Self.id(0)]?.receivedByteCount == 0)
        #expect(window[Self.id(0)]?.requestBegan == .seconds(5))
    }

    @Test("events for a removed segment change nothing")
    func gone() {
        var window = Self.window(1)
        let other = Self.id(5)
        #expect(window.request(other, as: RequestID(rawValue: 1), at: .zero) == false)
        window.load(other, byteCount: 1)
        window.fail(other)
        window.demux(other, upTo: .seconds(1))
        window.suspend(other)
        window.park(other)
        #expect(window.remove(other) == nil)
        #expect(window.count == 1)
        #expect(window.demuxedEnd == nil)
        #expect(window.allSatisfy { !$0.isSuspended && !$0.isParked && !$0.isLoaded })
    }

    @Test("segments are removed by id and by position, and reported in order")
    func removal() {
        var window = Self.window(4)
        window.demux(Self.id(2), upTo: .seconds(9))
        #expect(window.demuxedEnd == .seconds(9))
        #expect(window.first(needing: ResourceID(kind: .map, url: "map 2"))?.id == Self.id(2))
        #expect(window.remove(where: { $0.listedEnd > .seconds(8) }).map(\.id) == [Self.id(2), Self.id(3)])
        #expect(window.remove(Self.id(0))?.id == Self.id(0))
        #expect(window.map(\.id) == [Self.id(1)])
        window.removeAll()
        #expect(window.isEmpty)
    }
}
