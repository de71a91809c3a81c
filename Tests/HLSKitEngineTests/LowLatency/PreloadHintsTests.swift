import HLSKitLoading
import HLSKitPlaylist
import Testing

@testable import HLSKitEngine

@Suite("Preload hints")
struct PreloadHintsTests {
    typealias Resource = PreloadHints.Resource

    private struct Lane {
        var hints = PreloadHints()
        var requests = RequestTable()
        var now = Duration.zero

        mutating func begin(_ kind: PreloadHints.Kind = .part) -> RequestID {
            requests.begin(.hint(.main, kind), url: "u", at: now)
        }

        func next(_ facts: PreloadHints.Facts = .init(isWanted: true)) -> PreloadHints.Step? {
            hints.next(facts, requests, at: now)
        }

        mutating func ask(_ resource: PreloadHints.Resource) -> RequestID {
            hints.take([resource])
            let request = begin(resource.kind)
            hints.ask(resource, as: request)
            return request
        }

        mutating func adopt(_ resource: PreloadHints.Resource) -> (taker: RequestID, body: RequestID?) {
            let taker = begin()
            let requests = requests
            return (taker, hints.adopt(resource, as: taker, requests, at: now, patience: .milliseconds(250)))
        }
    }

    private static func part(_ name: String, _ range: Range<UInt64>? = nil) -> Resource {
        Resource(kind: .part, url: name, byteRange: range)
    }

    struct Reading: CustomTestStringConvertible, Sendable {
        var tag: String
        var resource: Resource?
        var testDescription: String { tag }
    }

    static let readings: [Reading] = [
        Reading(tag: "TYPE=PART,URI=\"a.mp4\"", resource: part("https://host/x/a.mp4")),
        Reading(
            tag: "TYPE=PART,URI=\"a.mp4\",BYTERANGE-START=0", resource: part("https://host/x/a.mp4", 0..<UInt64.max)),
        Reading(
            tag: "TYPE=PART,URI=\"/a.mp4\",BYTERANGE-START=70,BYTERANGE-LENGTH=30",
            resource: part("https://host/a.mp4", 70..<100)),
        Reading(
            tag: "TYPE=MAP,URI=\"i.mp4\",BYTERANGE-LENGTH=30",
            resource: Resource(kind: .map, url: "https://host/x/i.mp4", byteRange: 0..<30)),
        Reading(tag: "TYPE=PART,URI=\"a.mp4\",BYTERANGE-START=70,BYTERANGE-LENGTH=0"),
        Reading(tag: "TYPE=OTHER,URI=\"a.mp4\""),
    ]

    @Test("rfc8216bis §4.4.5.3: hints are read from playlists", arguments: readings)
    func reading(_ reading: Reading) throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-PRELOAD-HINT:\(reading.tag)\n"
        let list = try MediaPlaylist(parsing: text, url: "https://host/x/live.m3u8")
        #expect(PreloadHints.resources(of: list, at: "https://host/x/live.m3u8") == reading.resource.map { [$0] } ?? [])
    }

    @Test("a hint is requested once, and only at the live edge")
    func asking() {
        var lane = Lane()
        #expect(lane.hints.isIdle && lane.next() == nil)
        lane.hints.take([Self.part("1")])
        #expect(lane.next(.init()) == nil)
        #expect(lane.next() == .ask(Self.part("1")))
        let request = lane.ask(Self.part("1"))
        #expect(lane.next() == nil)
        #expect(lane.next(.init()) == .end(request))
        #expect(lane.hints.release(request, isFollowed: false) == .init(request: request, takers: [], isUsed: false))
        #expect(lane.next() == nil)
        lane.hints.take([Self.part("2")])
        #expect(lane.next() == .ask(Self.part("2")))
    }

    @Test("a listed partial segment is read from its hinted body if both match")
    func adopting() {
        var lane = Lane()
        let request = lane.ask(Self.part("1"))
        #expect(lane.adopt(Self.part("2")).body == nil)
        #expect(lane.adopt(Self.part("1", 0..<5)).body != nil)
        lane = Lane()
        let other = lane.ask(Self.part("1", 5..<10))
        #expect(lane.adopt(Self.part("1")).body == nil)
        #expect(lane.adopt(Self.part("1", 0..<5)).body == nil)
        #expect(lane.adopt(Self.part("1", 5..<11)).body == nil)
        #expect(lane.adopt(Self.part("1", 5..<10)).body == other)
        #expect(lane.adopt(Self.part("1", 5..<10)).body == nil)
        #expect(request == other)
    }

    @Test("a listed but unread partial segment keeps its body; others are cancelled")
    func listed() {
        var lane = Lane()
        let request = lane.ask(Self.part("1"))
        lane.hints.take([Self.part("2")])
        #expect(lane.next(.init(listed: [Self.part("0"), Self.part("1")])) == nil)
        #expect(lane.next(.init(listed: [Self.part("0")])) == .end(request))
        #expect(lane.next(.init(isWanted: true)) == .end(request))
    }

    @Test("an open range serves all its partial segments, and the next hint in it is not requested")
    func open() {
        var lane = Lane()
        let request = lane.ask(Self.part("s", .bytes(from: 100)))
        let first = lane.adopt(Self.part("s", 100..<200))
        #expect(first.body == request)
        lane.hints.take([Self.part("s", .bytes(from: 200))])
        #expect(lane.next() == nil)
        _ = lane.requests.end(first.taker)
        #expect(lane.next() == nil)
        #expect(lane.adopt(Self.part("s", 100..<200)).body == nil)
        let second = lane.adopt(Self.part("s", 200..<300))
        #expect(second.body == request)
        _ = lane.requests.receive(200, of: request)
        _ = lane.requests.end(request)
        #expect(lane.hints.finish(request, byteCount: 200) == nil)
        _ = lane.requests.end(second.taker)
        lane.hints.take([Self.part("t")])
        #expect(lane.next() == .end(request))
        #expect(lane.hints.release(request, isFollowed: true)?.isUsed == true)
        #expect(lane.next() == .ask(Self.part("t")))
    }

    @Test("a body that ends before the requested bytes fails its readers")
    func short() {
        var lane = Lane()
        let request = lane.ask(Self.part("s", .bytes(from: 0)))
        let taker = lane.adopt(Self.part("s", 0..<100)).taker
        #expect(lane.hints.finish(request, byteCount: 99) == request)
        #expect(lane.hints.end(request) == .init(request: nil, takers: [taker], isUsed: true))
    }

    @Test("a late hint is replaced, a hint in time is not")
    func deadlines() {
        var lane = Lane()
        let request = lane.ask(Self.part("1"))
        let taker = lane.adopt(Self.part("1")).taker
        #expect(lane.hints.deadline == .milliseconds(250))
        lane.now = .milliseconds(249)
        #expect(lane.next() == nil)
        lane.now = .milliseconds(250)
        #expect(lane.next() == .replace(request))
        _ = lane.requests.receive(1, of: request)
        #expect(lane.next() == nil)
        #expect(lane.hints.end(request, isMissed: true) == .init(request: request, takers: [taker], isUsed: false))
    }

    @Test("only the rest of a range is requested again after a lost connection")
    func resets() {
        func failure(
            of resource: PreloadHints.Resource, after count: Int, isBroken: Bool = true,
            adopting part: Range<UInt64>? = nil
        ) -> PreloadHints.Failure? {
            var lane = Lane()
            let request = lane.ask(resource)
            if let part { _ = lane.adopt(Self.part(resource.url, part)) }
            let failed = lane.hints.fail(request, byteCount: count, isBroken: isBroken, isLate: false)
            if case .continues(let rest)? = failed?.1 {
                let again = lane.begin()
                lane.hints.continueBody(request, from: rest.byteRange?.lowerBound ?? 0, as: again)
                #expect(lane.hints.fail(again, byteCount: 0, isBroken: true, isLate: false)?.1 == .ends)
            }
            return failed?.1
        }
        #expect(
            failure(of: Self.part("s", .bytes(from: 100)), after: 30) == .continues(Self.part("s", .bytes(from: 130))))
        #expect(failure(of: Self.part("s", 100..<200), after: 30) == .continues(Self.part("s", 130..<200)))
        #expect(failure(of: Self.part("s", 100..<200), after: 100) == .ends)
        #expect(failure(of: Self.part("s", 100..<200), after: 0) == .ends)
        #expect(failure(of: Self.part("s", 100..<200), after: 30, isBroken: false) == .ends)
        #expect(failure(of: Self.part("s"), after: 30) == .ends)
        #expect(
            failure(of: Self.part("s"), after: 30, adopting: 0..<100) == .continues(Self.part("s", .bytes(from: 30))))
    }

    @Test(
        "three failed hints in a row disable hints, unless a success or an encoder pause is between"
    )
    func misses() {
        func asksAgain(after outcomes: [Character]) -> Bool {
            var lane = Lane()
            for (index, outcome) in outcomes.enumerated() {
                let request = lane.ask(Self.part("\(index)"))
                switch outcome {
                // `w` is withdrawn, `l` late, `f` refused, and `r` means an idle lane. All others succeed.
                case "w": _ = lane.hints.release(request, isFollowed: true)
                case "l", "f":
                    _ = lane.hints.fail(request, byteCount: 0, isBroken: false, isLate: outcome == "l")
                    _ = lane.hints.end(request)
                case "r": _ = lane.hints.release(request, isFollowed: false)
                default:
                    _ = lane.adopt(Self.part("\(index)"))
                    _ = lane.hints.finish(request, byteCount: 10)
                    _ = lane.hints.end(request)
                }
            }
            lane.hints.take([Self.part("next")])
            return lane.next() == .ask(Self.part("next"))
        }
        #expect(asksAgain(after: ["w", "f"]))
        #expect(!asksAgain(after: ["w", "f", "w"]))
        #expect(asksAgain(after: ["w", "f", "+", "w"]))
        #expect(asksAgain(after: ["l", "l", "l", "r", "r", "r"]))
    }

    @Test("a request cancelled elsewhere also removes its body")
    func cancelled() {
        var lane = Lane()
        let request = lane.ask(Self.part("1"))
        _ = lane.requests.end(request)
        #expect(lane.next() == .end(request))
    }
}
