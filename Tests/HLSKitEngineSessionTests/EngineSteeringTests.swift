import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@Suite("Engine, content steering", .ownThread)
struct EngineSteeringTests {
    private typealias Reply = ScriptedOrigin.Reply

    private struct Scene {
        var names = ["A", "B"]
        var server = "steer"
        /// The number of segments of 4 s, or `nil` for a live stream.
        var count: Int? = 40
        var bandwidths = [1_000_000, 3_000_000]
        var hasAudio = false
        var steer: @Sendable (ScriptedOrigin.Visit) -> Reply = { _ in EngineSteeringTests.manifest("AB", ttl: 5) }
        /// Returns a fault for a host's other requests, or `nil` for none.
        var fault: @Sendable (_ host: String, ScriptedOrigin.Visit) -> Reply? = { _, _ in nil }
        /// Additional hosts with the same content as the pathways.
        var copies: [String] = []

        var origin: ScriptedOrigin {
            var origin = ScriptedOrigin()
            var lines = ["#EXTM3U", "#EXT-X-CONTENT-STEERING:SERVER-URI=\"\(server)\",PATHWAY-ID=\"\(names[0])\""]
            for name in names {
                let host = "https://" + name.lowercased()
                if hasAudio {
                    for (language, title) in [("en", "English"), ("de", "Deutsch")] {
                        lines.append(
                            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\(name)\",NAME=\"\(title)\",AUTOSELECT=YES,"
                                + "LANGUAGE=\"\(language)\",URI=\"\(host)/\(language).m3u8\"")
                    }
                }
                for (index, bandwidth) in bandwidths.enumerated() {
                    let audio = hasAudio ? ",AUDIO=\"audio\(name)\"" : ""
                    lines.append(
                        "#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth),PATHWAY-ID=\"\(name)\","
                            + "STABLE-VARIANT-ID=\"v\(index)\"\(audio)")
                    lines.append("\(host)/v\(index).m3u8")
                }
            }
            origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
            let (steer, fault, count) = (steer, fault, count)
            for host in names.map({ $0.lowercased() }) + copies {
                for file in bandwidths.indices.map({ "v\($0)" }) + (hasAudio ? ["en", "de"] : []) {
                    origin.routes["https://\(host)/\(file).m3u8"] = { visit in
                        if let reply = fault(host, visit) { return reply }
                        guard let count else { return .text(Broadcast(prefix: file + "-").text(at: visit.time)) }
                        return .text(.numbered(0, count: count, prefix: file + "-", isEnded: true))
                    }
                }
            }
            origin.media = { visit in
                if visit.path.contains("steer") { return steer(visit) }
                let host = visit.path.dropFirst("https://".count).prefix { $0 != "/" }
                return fault(String(host), visit) ?? .media(100_000)
            }
            return origin
        }

        func playing(_ change: (inout PlayerItemPreferences) -> Void = { _ in }) -> EngineHarness {
            var preferences = PlayerItemPreferences()
            preferences.preferredForwardBufferDuration = .seconds(10)
            change(&preferences)
            return .playing("main.m3u8", from: origin, preferences: preferences)
        }
    }

    private static func manifest(_ priority: String, ttl: Int, _ more: String = "") -> Reply {
        let ids = priority.map { "\"\($0)\"" }.joined(separator: ",")
        return .text("{\"VERSION\":1,\"TTL\":\(ttl),\"PATHWAY-PRIORITY\":[\(ids)]\(more)}")
    }

    private static func clone(_ host: String, id: String = "C", of base: String = "A") -> String {
        ",\"PATHWAY-CLONES\":[{\"ID\":\"\(id)\",\"BASE-ID\":\"\(base)\",\"URI-REPLACEMENT\":{\"HOST\":\"\(host)\"}}]"
    }

    private static func expectWhole(_ harness: EngineHarness, lanes: [String] = ["v"]) {
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.statistics.numberOfSkippedSegments == 0)
        #expect(harness.violations.isEmpty)
        for lane in lanes {
            let numbers = harness.loadedSegments.compactMap { path -> Int? in
                let file = path.split(separator: "/").last ?? ""
                guard file.hasPrefix(lane), let name = file.split(separator: "-").last else { return nil }
                return Int(name.prefix { $0 != "." })
            }
            #expect(numbers == Array(0..<40), "\(lane)")
        }
    }

    // MARK: The next segment

    @Test("P04: the segment in flight is finished, and the next one comes from the server's pathway")
    func nextSegment() throws {
        var scene = Scene()
        scene.bandwidths = [200_000, 400_000]
        scene.steer = { visit in Self.manifest(visit.time < .seconds(20) ? "AB" : "BA", ttl: 1) }
        scene.fault = { _, visit in visit.path.hasSuffix(".ts") ? Reply.media(100_000).lasting(.seconds(1)) : nil }
        var harness = scene.playing()
        harness.runToEnd()
        Self.expectWhole(harness)
        #expect(harness.moves.map(\.text) == ["A -> B: steering"])
        let move = try #require(harness.moves.first?.time)
        let segments = harness.requests.filter { $0.path.hasSuffix(".ts") }
        #expect(segments.filter { $0.outcome != .delivered }.map { "\($0.path) \($0.began) \($0.outcome)" } == [])
        #expect(segments.allSatisfy { $0.path.hasPrefix($0.began < move ? "https://a/" : "https://b/") })
        let known = try #require(harness.steering.first { $0.began >= .seconds(20) }?.ended)
        let next = try #require(segments.first { $0.began >= known })
        #expect(next.path.hasPrefix("https://b/"))
    }

    @Test("P04: steering moves a stream with one quality on each of two pathways")
    func oneQuality() {
        var scene = Scene()
        scene.bandwidths = [1_000_000]
        scene.steer = { visit in Self.manifest(Int(visit.time / .seconds(20)) % 2 == 0 ? "AB" : "BA", ttl: 1) }
        var harness = scene.playing()
        harness.runToEnd()
        Self.expectWhole(harness)
        #expect(harness.moves.count >= 6)
        #expect(Set(harness.moves.map(\.text)) == ["A -> B: steering", "B -> A: steering"])
    }

    @Test("P04: separate audio moves with the frames and keeps the selected option, also on clones")
    func audio() throws {
        let german = try QualityExpression(parsing: "lang=de", for: .renditions)
        var scene = Scene()
        scene.hasAudio = true
        scene.copies = ["c"]
        scene.steer = { visit in
            visit.time < .seconds(40)
                ? Self.manifest(visit.time < .seconds(20) ? "AB" : "BA", ttl: 1)
                : Self.manifest("CBA", ttl: 1, Self.clone("c"))
        }
        var harness = scene.playing { $0.audio = german }
        harness.runToEnd()
        Self.expectWhole(harness, lanes: ["v", "de"])
        #expect(harness.moves.map { $0.text } == ["A -> B: steering", "B -> C: steering"])
        #expect(!harness.loadedSegments.contains { $0.contains("/en-") })
        for host in ["a", "b", "c"] {
            #expect(harness.loadedSegments.contains { $0.hasPrefix("https://\(host)/de-") }, "\(host)")
        }
    }

    // MARK: Failures

    private static func dead(
        _ times: [String: [Range<Int>]]
    ) -> @Sendable (String, ScriptedOrigin.Visit) -> Reply? {
        { host, visit in
            let second = Int(visit.time / .seconds(1))
            return times[host]?.contains { $0.contains(second) } == true ? .failure(.cannotConnect) : nil
        }
    }

    @Test("P06: a failing pathway is left at once and used again only after its penalty")
    func penalty() throws {
        var scene = Scene()
        scene.fault = Self.dead(["a": [20..<24]])
        var harness = scene.playing()
        harness.runToEnd()
        Self.expectWhole(harness)
        #expect(harness.moves.map(\.text) == ["A -> B: failure", "B -> A: recovery"])
        let (left, back) = (harness.moves[0].time, harness.moves[1].time)
        #expect(left >= .seconds(20) && left < .seconds(28))
        #expect(back - left >= .seconds(60) && back - left < .seconds(66))
    }

    @Test("P06: a pathway is left for failures once per penalty, whatever the server prefers")
    func noLoop() {
        for seed in UInt64(1)...6 {
            var scene = Scene()
            scene.names = ["A", "B", "C"]
            scene.count = nil
            scene.steer = { visit in
                Self.manifest(["ABC", "BCA", "CAB"][Int(visit.time / .seconds(1)) % 3], ttl: 1)
            }
            var state = seed
            func random(_ limit: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(state >> 33) % limit
            }
            var times: [String: [Range<Int>]] = [:]
            for start in stride(from: 10, to: 900, by: 12) {
                times[["a", "b", "c"][random(3)], default: []].append(start..<start + random(20))
            }
            scene.fault = Self.dead(times)
            var harness = scene.playing()
            harness.run(until: .seconds(900))
            #expect(harness.error == nil)
            var departures: [String: [Duration]] = [:]
            for move in harness.moves where move.reason == .failure {
                departures[move.old, default: []].append(move.time)
            }
            #expect(departures.count == 3)
            for (name, times) in departures {
                let distances = zip(times, times.dropFirst()).map { $1 - $0 }
                #expect(distances.allSatisfy { $0 >= .seconds(60) }, "\(name), seed \(seed): \(times)")
            }
            // At most one move per segment.
            #expect(harness.moves.count <= 900 / 4 + departures.values.reduce(0) { $0 + $1.count })
        }
    }

    @Test("P06: a segment that is late from a deselected pathway is requested from the other one")
    func late() {
        var scene = Scene()
        scene.steer = { visit in Self.manifest(visit.time < .seconds(22) ? "AB" : "BA", ttl: 1) }
        scene.fault = { host, visit in
            host == "a" && visit.time >= .seconds(20) && visit.path.hasSuffix(".ts")
                ? Reply.media(100_000).lasting(.seconds(60)) : nil
        }
        for bandwidths in [[1_000_000], [1_000_000, 3_000_000]] {
            scene.bandwidths = bandwidths
            var harness = scene.playing { $0.preferredForwardBufferDuration = .seconds(20) }
            harness.runToEnd()
            Self.expectWhole(harness)
            #expect(harness.moves.map(\.text) == ["A -> B: steering"])
        }
    }

    @Test("P06: if both pathways are slow, a segment is abandoned for another pathway only once")
    func lateOnBoth() {
        var scene = Scene()
        scene.bandwidths = [1_000_000]
        scene.steer = { visit in Self.manifest(Int(visit.time / .seconds(1)) % 2 == 0 ? "AB" : "BA", ttl: 1) }
        scene.fault = { _, visit in
            visit.time >= .seconds(20) && visit.path.hasSuffix(".ts")
                ? Reply.media(100_000).lasting(.seconds(9)) : nil
        }
        var harness = scene.playing()
        harness.runToEnd(by: .seconds(1000))
        #expect(harness.didPlayToEnd)
        let given = harness.requests.filter { $0.path.hasSuffix(".ts") && $0.outcome == .cancelled }
        #expect(!given.isEmpty)
        #expect(Set(given.map(\.number)).count == given.count, "\(given.map(\.path))")
    }

    // MARK: The server

    struct Answer: CustomTestStringConvertible {
        var testDescription: String
        /// The first response of the server. The next one comes ten seconds later.
        var first = "{\"VERSION\":1,\"TTL\":10,\"PATHWAY-PRIORITY\":[\"A\"]}"
        var status: Int?
        var retryAfter: Duration?
        var text = ""
        /// The seconds until the next request, or `nil` if there is none within ten minutes.
        var wait: Int?
    }

    static let answers: [Answer] = [
        Answer(testDescription: "a manifest", text: #"{"VERSION":1,"TTL":7,"PATHWAY-PRIORITY":["A"]}"#, wait: 7),
        Answer(testDescription: "without TTL", text: #"{"VERSION":1,"PATHWAY-PRIORITY":["A"]}"#, wait: 300),
        Answer(testDescription: "TTL 0", text: #"{"VERSION":1,"TTL":0,"PATHWAY-PRIORITY":["A"]}"#, wait: 1),
        Answer(testDescription: "TTL below 0", text: #"{"VERSION":1,"TTL":-9,"PATHWAY-PRIORITY":["A"]}"#, wait: 300),
        Answer(
            testDescription: "TTL beyond all numbers", text: #"{"VERSION":1,"TTL":1e300,"PATHWAY-PRIORITY":["A"]}"#),
        Answer(
            testDescription: "pathways that there are not", text: #"{"VERSION":1,"TTL":3,"PATHWAY-PRIORITY":["Z"]}"#,
            wait: 3),
        Answer(testDescription: "no pathway", text: #"{"VERSION":1,"TTL":3,"PATHWAY-PRIORITY":[]}"#, wait: 10),
        Answer(testDescription: "another version", text: #"{"VERSION":2,"TTL":3,"PATHWAY-PRIORITY":["A"]}"#, wait: 10),
        Answer(testDescription: "a page", text: "<html>", wait: 10),
        Answer(testDescription: "nothing", text: "", wait: 10),
        Answer(testDescription: "brackets without end", text: String(repeating: "[", count: 200_000), wait: 10),
        Answer(testDescription: "404", status: 404, wait: 10),
        Answer(testDescription: "500", status: 500, wait: 10),
        Answer(testDescription: "503 and when", status: 503, retryAfter: .seconds(20), wait: 20),
        Answer(testDescription: "429", status: 429, wait: 10),
        Answer(testDescription: "429 and when", status: 429, retryAfter: .seconds(25), wait: 25),
        Answer(testDescription: "429 and at once", status: 429, retryAfter: .zero, wait: 1),
        Answer(testDescription: "429 and never", status: 429, retryAfter: .seconds(1 << 61)),
        Answer(testDescription: "410", status: 410),
        Answer(testDescription: "410 and when", status: 410, retryAfter: .seconds(1)),
    ]

    @Test("P04: TTL and errors determine the next steering request; the last manifest applies", arguments: answers)
    func asked(_ row: Answer) throws {
        var scene = Scene()
        scene.count = 250
        scene.steer = { visit in
            guard visit.time >= .seconds(5) else { return .text(row.first) }
            return row.status.map { .status($0, retryAfter: row.retryAfter) } ?? .text(row.text)
        }
        var harness = scene.playing()
        harness.run(until: .seconds(620))
        #expect(harness.moves.isEmpty)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.error == nil)
        let questions = harness.steering
        let second = try #require(questions.dropFirst().first)
        let first = try #require(questions.first?.ended)
        #expect(second.began - first == .seconds(10))
        let wait = questions.dropFirst(2).first.map { $0.began - (second.ended ?? .zero) }
        #expect(wait == row.wait.map { .seconds($0) })
    }

    @Test("P04: an inline manifest sets the time for its RELOAD-URI, whose response is read")
    func inline() {
        var scene = Scene()
        scene.server =
            "data:application/json,{%22VERSION%22:1,%22TTL%22:15,%22RELOAD-URI%22:%22/steer%22,"
            + "%22PATHWAY-PRIORITY%22:[%22B%22]}"
        let inline = "data:application/json,{%22VERSION%22:1,%22TTL%22:9,%22PATHWAY-PRIORITY%22:[%22B%22]}"
        scene.steer = { visit in
            visit.path.hasPrefix("data:")
                ? Self.manifest("B", ttl: 9)
                : Self.manifest("AB", ttl: 20, ",\"RELOAD-URI\":\"\(inline)\"")
        }
        var harness = scene.playing()
        harness.origin.media = { [media = harness.origin.media] visit in
            visit.path.hasPrefix("data:") ? Self.manifest("B", ttl: 9) : media(visit)
        }
        harness.runToEnd()
        Self.expectWhole(harness)
        #expect(harness.moves.map(\.text) == ["B -> A: steering", "A -> B: steering"])
        let questions = harness.requests.filter { $0.resourceClass == .steering }
        #expect(questions.first.map { $0.began >= .seconds(15) && $0.began < .seconds(16) } == true)
        #expect(questions.dropFirst().first?.path == inline)
    }

    @Test("P04: an idle player does not ask the steering server; it asks within a TTL after play()")
    func rest() throws {
        var scene = Scene()
        scene.count = nil
        var harness = scene.playing()
        harness.run(until: .seconds(21))
        harness.control(.pause)
        harness.run(until: .seconds(200))
        let paused = harness.steering.filter { $0.began > .seconds(21) }
        #expect(paused.allSatisfy { $0.began < .seconds(100) }, "\(paused.map(\.began))")
        harness.control(.play)
        harness.run(until: .seconds(230))
        #expect((4...6).contains(harness.steering.count { $0.began > .seconds(200) }))
        harness.open("other.m3u8")
        let count = harness.steering.count
        harness.run(until: .seconds(300))
        #expect(harness.steering.count == count)
    }

    // MARK: Clones

    @Test("P06: the app's preferred pathway may be a clone, which may vanish and return as another one")
    func preferredClone() {
        var scene = Scene()
        scene.copies = ["c", "d"]
        scene.steer = { visit in
            switch Int(visit.time / .seconds(1)) {
            case ..<30: Self.manifest("AB", ttl: 1, Self.clone("c"))
            case ..<60: Self.manifest("AB", ttl: 1)
            case ..<90: Self.manifest("AB", ttl: 1, Self.clone("d"))
            case ..<120: Self.manifest("AB", ttl: 1, Self.clone("c"))
            default: Self.manifest("AB", ttl: 1)
            }
        }
        var harness = scene.playing { $0.preferredPathway = "C" }
        harness.run(until: .seconds(80))
        #expect(harness.state.pathway == "C")
        harness.runToEnd()
        Self.expectWhole(harness)
        #expect(
            harness.moves.map(\.text) == [
                "A -> C: preference", "C -> A: steering", "A -> C: preference", "C -> C: steering", "C -> A: steering",
            ])
        var hosts: [String] = []
        for path in harness.loadedSegments {
            let host = String(path.dropFirst("https://".count).prefix { $0 != "/" })
            if hosts.last != host { hosts.append(host) }
        }
        #expect(hosts == ["a", "c", "a", "d", "c", "a"])
    }

    @Test("P04: a vanished clone is left even if all other pathways are in their penalty")
    func vanishedUnderPenalty() {
        var scene = Scene()
        scene.copies = ["c"]
        scene.steer = { visit in
            visit.time < .seconds(50) ? Self.manifest("CAB", ttl: 1, Self.clone("c")) : Self.manifest("AB", ttl: 1)
        }
        scene.fault = Self.dead(["c": [20..<24], "a": [20..<24]])
        var harness = scene.playing()
        harness.runToEnd()
        Self.expectWhole(harness)
        #expect(!harness.loadedSegments.contains { $0.hasPrefix("https://c/") && $0.hasSuffix("-39.ts") })
        #expect(harness.moves.count { $0.reason == .failure } <= 2)
    }
}

extension EngineHarness {
    fileprivate struct Move {
        var time: Duration
        var old: String
        var new: String
        var reason: PathwayChangeReason
        var text: String { "\(old) -> \(new): \(reason.rawValue)" }
    }

    fileprivate var moves: [Move] {
        events.compactMap { time, kind in
            guard case .pathwayChanged(let old, let new, let reason) = kind else { return nil }
            return Move(time: time, old: old, new: new, reason: reason)
        }
    }

    fileprivate var steering: [Request] { requests.filter { $0.resourceClass == .steering } }
}

extension EngineHarness.Request {
    fileprivate var number: String { path.split(separator: "-").last.map(String.init) ?? "" }
}
