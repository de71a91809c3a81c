import HLSKitPlaylist
import Testing

@testable import HLSKitEngine
@testable import HLSKitSelection

@Suite("Pathways")
struct PathwaysTests {
    private static let base = "https://host/all.m3u8"

    private static func variants(_ pathways: [String?]) -> [AssetVariant] {
        pathways.enumerated().map { index, pathway in
            var facts = AssetVariant.Facts(index: index, uri: "v\(index).m3u8", bandwidth: 1_000_000)
            facts.pathway = pathway
            return AssetVariant(facts)
        }
    }

    private static func pathways(
        _ names: [String?] = ["A", "B", "C"], first: String? = nil, isSteered: Bool = true
    ) -> Pathways {
        var pathways = Pathways(penalty: .seconds(60))
        let tag = isSteered ? ContentSteering(serverURI: "s", pathwayID: first) : nil
        pathways.open(variants(names), steering: tag, base: base)
        return pathways
    }

    // MARK: Order

    struct Order: CustomTestStringConvertible {
        var testDescription: String
        var names: [String?] = ["A", "B", "C"]
        var first: String?
        var priority: [String] = []
        var vanished: Set<String> = []
        var preferred: String?
        /// The failed pathways with the times of their failures, in seconds.
        var failures: [(index: Int, seconds: Int)] = []
        var at = 0
        var order: [String]
    }

    static let orders: [Order] = [
        Order(testDescription: "that of the playlist", order: ["A", "B", "C"]),
        Order(testDescription: "the tag's first", first: "B", order: ["B", "A", "C"]),
        Order(testDescription: "a first that there is not", first: "Z", order: ["A", "B", "C"]),
        Order(testDescription: "the server's", priority: ["C", "B", "A"], order: ["C", "B", "A"]),
        Order(testDescription: "the server's before the tag's", first: "B", priority: ["C"], order: ["C", "A", "B"]),
        Order(testDescription: "a server that knows others", priority: ["X", "B", "Y"], order: ["B", "A", "C"]),
        Order(testDescription: "what the server does not name comes last", priority: ["C"], order: ["C", "A", "B"]),
        Order(testDescription: "one that vanished", priority: ["C", "A"], vanished: ["C"], order: ["A", "B"]),
        Order(
            testDescription: "the program's before the server's", priority: ["C", "B", "A"], preferred: "A",
            order: ["A", "C", "B"]),
        Order(testDescription: "a wish for one that there is not", preferred: "Z", order: ["A", "B", "C"]),
        Order(testDescription: "variants without a name beside others", names: ["A", nil], order: ["A", "."]),
        Order(testDescription: "one is no choice", names: ["A", "A"], order: []),
        Order(testDescription: "one that failed", failures: [(0, 10)], at: 10, order: ["B", "C", "A"]),
        Order(testDescription: "its penalty lasts", failures: [(0, 10)], at: 69, order: ["B", "C", "A"]),
        Order(testDescription: "and is over", failures: [(0, 10)], at: 70, order: ["A", "B", "C"]),
        Order(testDescription: "two that failed", failures: [(0, 10), (1, 20)], at: 30, order: ["C", "A", "B"]),
        Order(
            testDescription: "the first is back before the second", failures: [(0, 10), (1, 20)], at: 75,
            order: ["A", "C", "B"]),
        Order(
            testDescription: "all failed: that which was left first", failures: [(0, 10), (1, 20), (2, 30)], at: 30,
            order: ["A", "B", "C"]),
        Order(
            testDescription: "the server's first has failed", priority: ["B", "A"], failures: [(1, 10)], at: 20,
            order: ["A", "C", "B"]),
        Order(
            testDescription: "the program's wish has failed", preferred: "B", failures: [(1, 10)], at: 20,
            order: ["A", "C", "B"]),
    ]

    @Test("P06: pathways are ordered by preference and penalty", arguments: orders)
    func order(_ row: Order) {
        var pathways = Self.pathways(row.names, first: row.first)
        pathways.follow(row.priority, without: row.vanished)
        pathways.prefer(row.preferred)
        for failure in row.failures {
            _ = pathways.use(failure.index)
            pathways.leave(at: .seconds(failure.seconds))
        }
        #expect(pathways.order(at: .seconds(row.at)) == row.order)
    }

    @Test("P06: if all pathways are in their penalty, the current one is kept and not left again")
    func held() {
        var pathways = Self.pathways(["A", "B"])
        _ = pathways.use(0)
        #expect(pathways.mayLeave(at: .zero))
        pathways.leave(at: .zero)
        #expect(pathways.use(1) == Pathways.Move(old: "A", new: "B", reason: .failure))
        #expect(pathways.mayLeave(at: .seconds(5)))
        pathways.leave(at: .seconds(5))
        // Both have failed, so the pathway that failed earlier gets its second chance.
        #expect(pathways.order(at: .seconds(5)) == ["A", "B"])
        #expect(pathways.use(0) == Pathways.Move(old: "B", new: "A", reason: .failure))
        for second in 5..<60 {
            #expect(pathways.order(at: .seconds(second)) == ["A", "B"])
            #expect(!pathways.mayLeave(at: .seconds(second)))
        }
        #expect(pathways.mayLeave(at: .seconds(60)))
        #expect(pathways.moveCount == 2)
    }

    @Test("P06: each failing pathway is left at most once per penalty time")
    func noLoop() {
        for count in 2...5 {
            let names = (0..<count).map { "P\($0)" }
            var pathways = Self.pathways(names)
            var departures: [String: [Duration]] = [:]
            _ = pathways.use(0)
            for second in 0..<1000 {
                let now = Duration.seconds(second)
                pathways.follow([names[second % count]], without: [])
                guard pathways.mayLeave(at: now), let old = pathways.current else { continue }
                pathways.leave(at: now)
                departures[old, default: []].append(now)
                let next = pathways.order(at: now).first.flatMap { names.firstIndex(of: $0) }
                _ = pathways.use(next ?? 0)
            }
            for times in departures.values {
                #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .seconds(60) })
            }
            #expect(pathways.moveCount <= count * (1000 / 60 + 1))
        }
    }

    // MARK: Moves

    struct Step: CustomTestStringConvertible {
        var testDescription: String
        var priority: [String] = []
        var vanished: Set<String> = []
        var preferred: String?
        var hasFailedBefore = false
        var fails = false
        var reason: PathwayChangeReason
    }

    static let steps: [Step] = [
        Step(testDescription: "it failed", fails: true, reason: .failure),
        Step(testDescription: "the server prefers the other", priority: ["B", "A"], reason: .steering),
        Step(testDescription: "the server took it back", vanished: ["A"], reason: .steering),
        Step(testDescription: "the program prefers the other", preferred: "B", reason: .preference),
        Step(
            testDescription: "the other was there before", priority: ["B", "A"], hasFailedBefore: true,
            reason: .recovery),
        Step(testDescription: "the variant is nowhere else", reason: .variant),
    ]

    @Test("P06: each move has a reason", arguments: steps)
    func move(_ row: Step) {
        var pathways = Self.pathways(["A", "B"])
        if row.hasFailedBefore {
            _ = pathways.use(1)
            pathways.leave(at: .zero)
        }
        _ = pathways.use(0)
        pathways.follow(row.priority, without: row.vanished)
        pathways.prefer(row.preferred)
        if row.fails { pathways.leave(at: .seconds(1)) }
        #expect(pathways.use(1) == Pathways.Move(old: "A", new: "B", reason: row.reason))
        #expect(pathways.use(1) == nil)
    }

    // MARK: Origins

    @Test("P06: without names a pathway is the origin of the playlists")
    func origins() {
        var variants = Self.variants([nil, nil, nil])
        variants[1] = AssetVariant(AssetVariant.Facts(index: 1, uri: "https://other:8443/v.m3u8", bandwidth: 1))
        var pathways = Pathways(penalty: .seconds(60))
        pathways.open(variants, steering: nil, base: Self.base)
        #expect(pathways.order(at: .zero) == ["https://host", "https://other:8443"])
        #expect(!pathways.isNamed)
        _ = pathways.use(0)
        #expect(pathways.penalizedVariants(at: .zero) == [])
        pathways.leave(at: .zero)
        #expect(pathways.penalizedVariants(at: .seconds(59)) == [0, 2])
        #expect(pathways.penalizedVariants(at: .seconds(60)) == [])
        pathways.open(Self.variants([nil, nil]), steering: nil, base: Self.base)
        #expect(!pathways.isOn)
    }
}
