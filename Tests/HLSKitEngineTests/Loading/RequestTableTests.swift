import HLSKitLoading
import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Requests in flight and waiting requests")
struct RequestTableTests {
    struct Derived: Sendable, CustomTestStringConvertible {
        var purpose: RequestPurpose
        var role: RequestRole?
        var resourceClass: ResourceClass
        var lane: LaneID?
        var segment: SegmentID?
        var testDescription: String { "\(purpose)" }
    }

    private static let first = SegmentID(lane: .main, rawValue: 1)
    private static let second = SegmentID(lane: .main, rawValue: 2)
    private static let map = ResourceID(kind: .map, url: "map")
    private static let key = ResourceID(kind: .key, url: "key")

    static let derived = [
        Derived(purpose: .firstPlaylist, role: .firstPlaylist, resourceClass: .multivariantPlaylist),
        Derived(
            purpose: .mediaPlaylist(.audio), role: .mediaPlaylist(.audio), resourceClass: .mediaPlaylist, lane: .audio),
        Derived(
            purpose: .segment(second, role: first), role: .segment(first), resourceClass: .segment, lane: .main,
            segment: second),
        Derived(purpose: .head(first), role: nil, resourceClass: .segment, lane: .main),
        Derived(
            purpose: .resource(map, .subtitles), role: .map(.subtitles), resourceClass: .initializationSection,
            lane: .subtitles),
        Derived(purpose: .resource(key, .main), role: .key(.main), resourceClass: .key, lane: .main),
    ]

    @Test("a request's purpose determines everything else", arguments: derived)
    func purpose(_ test: Derived) {
        #expect(test.purpose.role == test.role)
        #expect(test.purpose.resourceClass == test.resourceClass)
        #expect(test.purpose.lane == test.lane)
        #expect(test.purpose.segment == test.segment)
        #expect(test.purpose.isMeasured == (test.resourceClass == .segment))
    }

    @Test("a request is known from its beginning to its end, once")
    func underWay() {
        var table = RequestTable()
        let one = table.begin(.segment(Self.first, role: Self.first), url: "a", at: .seconds(1))
        let two = table.begin(.mediaPlaylist(.main), url: "b", isReload: true, at: .seconds(2))
        #expect(one != two)
        #expect(table[two]?.isReload == true)
        table.respond(one, contentLength: 9, isFromCache: true, at: .seconds(3))
        #expect(table.receive(4, of: one) == .init(segment: Self.first, isFromCache: true))
        #expect(table.receive(4, of: two) == .init(segment: nil, isFromCache: false))
        table.judge(one, at: .seconds(5))
        let ended = table.end(one)
        #expect(ended?.receivedByteCount == 4)
        #expect(ended?.declaredByteCount == 9)
        #expect(ended?.responded == .seconds(3))
        #expect(ended?.judged == .seconds(5))
        #expect(table[one] == nil)
        #expect(table.end(one) == nil)
        #expect(table.receive(1, of: one) == nil)
        #expect(table.ids { _ in true } == [two])
        #expect(table.begin(.firstPlaylist, url: "c", at: .zero) != one)
    }

    @Test("requests are found by purpose in order of their start, also after a handover")
    func search() {
        var table = RequestTable()
        let ids = [LaneID.main, .audio].map { table.begin(.resource(Self.key, $0), url: "key", at: .zero) }
        #expect(table.ids { $0.role == .key(.main) } == [ids[0]])
        table.pass(ids[0], to: .resource(Self.key, .audio))
        #expect(table.ids { $0.lane == .audio } == ids)
    }

    @Test("waiting requests are returned once, all of one role together")
    func waiting() {
        var table = RequestTable()
        let other = ResourceID(kind: .map, url: "other")
        table.wait(for: .resource(Self.map, .main))
        table.wait(for: .resource(other, .main))
        table.wait(for: .head(Self.first))
        table.wait(for: .segment(Self.first, role: Self.first))
        table.waitAlone(for: .segment(Self.second, role: Self.first))
        #expect(table.isWaiting(.map(.main)))
        #expect(table.takeWaiting(.map(.main)) == [.resource(Self.map, .main), .resource(other, .main)])
        #expect(table.takeWaiting(.map(.main)) == nil)
        #expect(table.takeWaiting(.segment(Self.first)) == [.segment(Self.second, role: Self.first)])
        table.wait(for: .firstPlaylist)
        #expect(table.forgetWaiting() == [.firstPlaylist])
        #expect(!table.isWaiting(.firstPlaylist))
    }
}
