import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Initialization sections and keys of an item")
struct ItemResourcesTests {
    private static let key = ResourceID(kind: .key, url: "https://host/key")
    private static let map = ResourceID(kind: .map, url: "https://host/map")

    private static func flight(needing resource: ResourceID) -> SegmentInFlight {
        let id = SegmentID(lane: .main, rawValue: 7)
        let job = SegmentJob(
            id: id, request: RequestID(rawValue: 1), map: resource, start: .zero, duration: .seconds(4), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: 4)
        return SegmentInFlight(
            id: id, role: id, position: SegmentPosition(epoch: 0, sequence: 4), job: job, playlistURL: "list")
    }

    @Test("a key is requested once for all lanes, an initialization section by each lane")
    func sharing() {
        for resource in [Self.key, Self.map] {
            let isKey = resource.kind == .key
            var table = RequestTable()
            var resources = ItemResources()
            #expect(resources[resource, .main] == nil)
            let isFirst = resources.need(resource, in: .main, underWay: table)
            #expect(isFirst)
            let request = table.begin(.resource(resource, .main), url: resource.url, at: .zero)
            resources.request(resource, in: .main, as: request)
            let isSecond = resources.need(resource, in: .audio, underWay: table)
            #expect(isSecond == !isKey)
            #expect(resources.lanes(sharing: request, of: resource) == (isKey ? [.main, .audio] : [.main]))
            resources.load(resource, in: .main, by: request)
            #expect(resources[resource, .main] == .loaded)
            #expect(resources[resource, .audio] == (isKey ? .loaded : nil))
            let isThird = resources.need(resource, in: .subtitles, underWay: table)
            #expect(isThird == !isKey)
        }
    }

    @Test("a finished or waiting request is not shared with another lane")
    func gone() {
        var resources = ItemResources()
        resources.request(Self.key, in: .main, as: RequestID(rawValue: 9))
        let isGone = resources.need(Self.key, in: .audio, underWay: RequestTable())
        #expect(isGone)
        resources.fail(Self.key, in: .main)
        #expect(resources[Self.key, .main] == .waitingForRetry)
        let waits = resources.need(Self.key, in: .audio, underWay: RequestTable())
        #expect(waits)
    }

    @Test("a key request is handed over to another lane that waits for the key")
    func heir() {
        var table = RequestTable()
        var resources = ItemResources()
        let request = table.begin(.resource(Self.key, .main), url: "k", at: .zero)
        resources.request(Self.key, in: .main, as: request)
        #expect(resources.heir(of: request, for: .resource(Self.key, .main)) == nil)
        _ = resources.need(Self.key, in: .audio, underWay: table)
        #expect(resources.heir(of: request, for: .resource(Self.key, .main)) == .resource(Self.key, .audio))
        #expect(resources.lanes(sharing: request, of: Self.key, and: .subtitles) == [.main, .audio, .subtitles])
        resources.forgetAll(of: .audio)
        #expect(resources.heir(of: request, for: .resource(Self.key, .main)) == nil)
        #expect(resources.heir(of: request, for: .mediaPlaylist(.main)) == nil)
    }

    @Test("resources needed by no segment are forgotten unless they are loaded")
    func unneeded() {
        var resources = ItemResources()
        resources.request(Self.key, in: .main, as: RequestID(rawValue: 1))
        resources.request(Self.map, in: .main, as: RequestID(rawValue: 2))
        resources.request(Self.key, in: .audio, as: RequestID(rawValue: 3))
        var segments = SegmentWindow()
        segments.append(Self.flight(needing: Self.map))
        resources.forgetUnneeded(of: .main, by: segments)
        #expect(resources[Self.key, .main] == nil)
        #expect(resources[Self.map, .main] != nil)
        #expect(resources[Self.key, .audio] != nil)
        resources.load(Self.map, in: .main, by: RequestID(rawValue: 2))
        resources.forgetUnneeded(of: .main, by: SegmentWindow())
        #expect(resources[Self.map, .main] == .loaded)
    }
}
