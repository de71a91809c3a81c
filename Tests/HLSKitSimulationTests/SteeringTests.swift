import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

/// Three origins on one link: two pathways with the same stream and a steering server. The stream has sixty segments of
/// 2 s.
@Suite("Content steering of a player", .timeLimit(.minutes(10)))
struct SteeringTests {
    private static let stream = SyntheticStream(
        bitRates: [400_000, 1_000_000], segmentDuration: .seconds(2), segmentCount: 60)
    private static let frameCount = 60 * 50

    /// - Parameters:
    ///   - server: The `SERVER-URI`, or `nil` for no pathways.
    ///   - ids: The pathway IDs of the two hosts, or of the first one only.
    private static func playlist(server: String?, first: String?, ids: [String]) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:12\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        if let server {
            let start = first.map { ",PATHWAY-ID=\"\($0)\"" } ?? ""
            text += "#EXT-X-CONTENT-STEERING:SERVER-URI=\"\(server)\"\(start)\n"
        }
        for id in ids {
            for (index, bitRate) in stream.bitRates.enumerated() {
                text += "#EXT-X-STREAM-INF:BANDWIDTH=\(bitRate),CODECS=\"avc1.42C00A\",RESOLUTION=64x64"
                if server != nil { text += ",PATHWAY-ID=\"\(id)\",STABLE-VARIANT-ID=\"v\(index)\"" }
                text += "\nhttps://\(id.lowercased()).invalid/\(index)/index.m3u8\n"
            }
        }
        return text
    }

    private static func manifest(_ priority: String, ttl: Int, _ more: String = "") -> SimulatedResponse {
        let ids = priority.map { "\"\($0)\"" }.joined(separator: ",")
        let text = "{\"VERSION\":1,\"TTL\":\(ttl),\"PATHWAY-PRIORITY\":[\(ids)]\(more)}"
        return SimulatedResponse(contentType: "application/json", body: Array(text.utf8))
    }

    private struct Scene: Sendable {
        var server: String? = "https://steer.invalid/s?id=7"
        var first: String? = "A"
        var ids = ["A", "B"]
        var steer: @Sendable (SimulatedRequest) -> SimulatedResponse = { _ in SteeringTests.manifest("AB", ttl: 5) }
        /// Returns a fault for a host's resource, or `nil` for none.
        var fault: @Sendable (_ host: String, SimulatedRequest) -> SimulatedResponse? = { _, _ in nil }
        var prefer: @Sendable (PlayerItem) -> Void = { _ in }
    }

    private struct Session {
        var play: VirtualPlay
        var requests: [SimulatedRequest]
        var frames: [Duration]

        func lines(_ text: String) -> [String] { play.log.lines.filter { $0.contains(text) } }
        var moves: [String] {
            moveLines.map { $0.split(separator: " ", maxSplits: 1).last.map(String.init) ?? "" }
        }
        func moveTimes() -> [Double] {
            moveLines.compactMap { $0.split(separator: " ").first.flatMap { Double($0) } }
        }
        private var moveLines: [String] {
            play.log.lines.filter { $0.split(separator: " ", maxSplits: 1).last?.hasPrefix("pathway ") == true }
        }
        var steering: [SimulatedRequest] { requests.filter { $0.resourceClass == .steering } }
        func segments(of host: String) -> [SimulatedRequest] {
            requests.filter { $0.resourceClass == .segment && $0.urlString.hasPrefix("https://\(host).") }
        }
    }

    private static func play(_ scene: Scene) throws -> Session {
        let clock = VirtualClock()
        let requests = Mutex<[SimulatedRequest]>([])
        let frames = FrameLog(clock: clock)
        let link = LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20))
        let transport = SimulatedTransport(over: NetworkTrace(constant: link), clock: clock) { request in
            requests.withLock { $0.append(request) }
            let host = String(request.urlString.dropFirst("https://".count).prefix { $0 != "." })
            switch host {
            case "main": return .playlist(playlist(server: scene.server, first: scene.first, ids: scene.ids))
            case "steer": return scene.steer(request)
            default:
                if let response = scene.fault(host, request) { return response }
                var inner = request
                inner.urlString =
                    "https://synthetic.invalid/" + request.urlString.dropFirst("https://\(host).invalid/".count)
                return stream.response(to: inner)
            }
        }
        let play = try VirtualPlay(
            "https://main.invalid/index.m3u8", clock: clock, transport: transport, writers: [frames],
            prefer: { item in
                item.preferredForwardBufferDuration = .seconds(10)
                scene.prefer(item)
            })
        return Session(
            play: play, requests: requests.withLock { $0 }, frames: frames.frames.map(\.itemTime))
    }

    private static func expectWhole(_ session: Session) {
        #expect(session.play.log.decisions.last == "played to end", "\(session.play.log.text)")
        #expect(session.frames.count == frameCount)
        #expect(session.frames == session.frames.sorted())
        #expect(Set(session.frames).count == session.frames.count)
        #expect(session.play.state.statistics.numberOfStalls == 0)
        #expect(session.play.state.statistics.numberOfSkippedSegments == 0)
    }

    private static func dead(
        _ times: ClosedRange<Int>
    ) -> @Sendable (String, SimulatedRequest) -> SimulatedResponse? {
        { host, request in
            host == "a" && request.time >= .seconds(times.lowerBound) && request.time < .seconds(times.upperBound)
                ? .failure(.cannotConnect) : nil
        }
    }

    // MARK: Server preferences

    @Test("P04: the tag's pathway is used until the manifest arrives, then its first, at the next segment")
    func order() throws {
        var scene = Scene()
        scene.first = "B"
        scene.steer = { _ in Self.manifest("AB", ttl: 1000) }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves == ["pathway B -> A, steering"])
        let first = try #require(
            session.requests.first { $0.urlString.hasSuffix("/index.m3u8") && !$0.urlString.contains("main") })
        #expect(first.urlString.hasPrefix("https://b."))
        #expect(session.segments(of: "b").count <= 1)
        #expect(session.steering.map(\.urlString) == ["https://steer.invalid/s?id=7&_HLS_pathway=B"])
    }

    @Test("P04: a server that changes its preference is followed within one segment, each time")
    func turns() throws {
        var scene = Scene()
        scene.steer = { request in Self.manifest(Int(request.time / .seconds(30)) % 2 == 0 ? "AB" : "BA", ttl: 1) }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(
            session.moves == [
                "pathway A -> B, steering", "pathway B -> A, steering", "pathway A -> B, steering",
            ])
        for (index, time) in session.moveTimes().enumerated() {
            #expect(time - Double(30 * (index + 1)) < 3.5, "\(time)")
        }
        // The player asks once a second until everything is loaded, and never twice at the same time.
        #expect((90...125).contains(session.steering.count))
        let throughput = try #require(session.steering.dropFirst(5).first)
        #expect(throughput.urlString.contains("?id=7&_HLS_pathway=A&_HLS_throughput="))
    }

    @Test("P04: the next request goes to RELOAD-URI")
    func reload() throws {
        var scene = Scene()
        scene.steer = { request in
            Self.manifest(
                "AB", ttl: 10, ",\"RELOAD-URI\":\"next/\(request.urlString.contains("next") ? "two" : "one")?x=1\"")
        }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        let paths = session.steering.map { String($0.urlString.prefix { $0 != "_" }) }
        #expect(
            paths.prefix(3) == [
                "https://steer.invalid/s?id=7&", "https://steer.invalid/next/one?x=1&",
                "https://steer.invalid/next/next/two?x=1&",
            ])
        #expect(session.moves == [])
    }

    @Test("P04: an inline manifest applies from the first segment on, without a request")
    func inline() throws {
        var scene = Scene()
        scene.server = "data:application/json,{%22VERSION%22:1,%22PATHWAY-PRIORITY%22:[%22B%22]}"
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.steering.isEmpty)
        #expect(session.segments(of: "a").isEmpty)
        #expect(session.play.state.pathway == "B")
    }

    // MARK: Server failures

    /// A response whose description leaves out its bytes: there may be millions.
    struct Nonsense: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var response: SimulatedResponse
    }

    private static let invalidResponses = [
        Nonsense(testDescription: "404", response: .notFound), Nonsense(testDescription: "500", response: .status(500)),
        Nonsense(testDescription: "no connection", response: .failure(.cannotConnect)),
        Nonsense(testDescription: "a timeout", response: .failure(.timedOut)),
        Nonsense(testDescription: "a page", response: SimulatedResponse(body: Array("<html>".utf8))),
        Nonsense(testDescription: "version 7", response: SimulatedResponse(body: Array("{\"VERSION\":7}".utf8))),
        Nonsense(
            testDescription: "100,000 brackets",
            response: SimulatedResponse(body: [UInt8](repeating: 0x5B, count: 100_000))),
        Nonsense(
            testDescription: "two million spaces",
            response: SimulatedResponse(body: [UInt8](repeating: 0x20, count: 2_000_000))),
        Nonsense(testDescription: "no bytes", response: SimulatedResponse(body: [])),
        Nonsense(
            testDescription: "after a million seconds",
            response: SimulatedResponse(body: [0], delay: .seconds(1_000_000))),
    ]

    @Test(
        "P04: invalid steering responses never stop playback, and the last manifest applies",
        arguments: invalidResponses)
    func nonsense(_ answer: Nonsense) throws {
        var scene = Scene()
        scene.steer = { request in request.time < .seconds(10) ? Self.manifest("BA", ttl: 3) : answer.response }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves == ["pathway A -> B, steering"])
        #expect(session.steering.count > 4)
    }

    @Test("P04: after 410 the steering server is not asked again")
    func gone() throws {
        var scene = Scene()
        scene.steer = { request in request.time < .seconds(10) ? Self.manifest("BA", ttl: 3) : .status(410) }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves == ["pathway A -> B, steering"])
        #expect(session.steering.count { $0.time >= .seconds(10) } == 1)
    }

    @Test("P04: after 429 the steering server is asked again at its requested time")
    func tooMany() throws {
        var scene = Scene()
        scene.steer = { request in
            request.time < .seconds(10) || request.time > .seconds(30)
                ? Self.manifest("AB", ttl: 3) : .status(429, retryAfter: 25)
        }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        let times = session.steering.map(\.time)
        let refused = try #require(times.first { $0 >= .seconds(10) })
        let next = try #require(times.first { $0 > refused })
        #expect(next - refused >= .seconds(25) && next - refused < .seconds(26))
    }

    // MARK: Pathway failures

    @Test("P06: a dead pathway is left for its penalty, whatever the server prefers, and used again")
    func killed() throws {
        var scene = Scene()
        scene.steer = { _ in Self.manifest("AB", ttl: 1) }
        scene.fault = Self.dead(20...40)
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves == ["pathway A -> B, failure", "pathway B -> A, recovery"])
        let times = session.moveTimes()
        #expect(times[1] - times[0] >= 60 && times[1] - times[0] < 63)
    }

    @Test("P06: a pathway that stays dead is tried once per penalty time")
    func dead() throws {
        var scene = Scene()
        scene.fault = Self.dead(20...10_000)
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(
            session.moves == [
                "pathway A -> B, failure", "pathway B -> A, recovery", "pathway A -> B, failure",
            ])
    }

    @Test("P06: variants of one host do not fail one after another")
    func oneHost() throws {
        var scene = Scene()
        scene.server = nil
        scene.fault = Self.dead(20...40)
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.steering.isEmpty)
        #expect(
            session.moves == [
                "pathway https://a.invalid -> https://b.invalid, failure",
                "pathway https://b.invalid -> https://a.invalid, recovery",
            ])
        let failed = session.requests.filter { $0.urlString.hasPrefix("https://a.") && $0.time >= .seconds(20) }
        let during = failed.filter { $0.time < .seconds(79) }
        #expect(Set(during.map { $0.urlString.split(separator: "/")[2] }).count == 1, "one variant of it has failed")
    }

    @Test("P06: a slow pathway is left when the server, which gets the throughput, says so")
    func slowed() throws {
        var scene = Scene()
        scene.steer = { request in
            let throughput = request.urlString.split(separator: "_HLS_throughput=").last.flatMap { Int($0) }
            let isSlow = throughput.map { $0 < 8_000_000 } == true || request.urlString.contains("pathway=B")
            return Self.manifest(isSlow ? "BA" : "AB", ttl: 2)
        }
        scene.fault = { host, request in
            guard host == "a", request.resourceClass == .segment, request.time > .seconds(20) else { return nil }
            var inner = request
            inner.urlString = "https://synthetic.invalid/" + request.urlString.dropFirst("https://a.invalid/".count)
            var response = Self.stream.response(to: inner)
            response.growth = (1...10).map {
                SimulatedResponse.Growth(time: .milliseconds(100 * $0), byteCount: response.body.count * $0 / 10)
            }
            return response
        }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves == ["pathway A -> B, steering"], "\(session.steering.map(\.urlString))")
        #expect((20...50).contains(session.moveTimes().first ?? 0))
    }

    private static func slow(
        _ hosts: Set<String>, _ times: ClosedRange<Int>
    ) -> @Sendable (String, SimulatedRequest) -> SimulatedResponse? {
        { host, request in
            guard hosts.contains(host), request.resourceClass == .segment, request.time >= .seconds(times.lowerBound),
                request.time < .seconds(times.upperBound)
            else { return nil }
            var inner = request
            inner.urlString = request.urlString.replacing("\(host).invalid", with: "synthetic.invalid")
            var response = stream.response(to: inner)
            response.growth = (0...(response.body.count / 2000)).map {
                SimulatedResponse.Growth(time: .milliseconds($0 * 200), byteCount: min($0 * 2000, response.body.count))
            }
            return response
        }
    }

    @Test("P06: a pathway too slow for any variant is left within one segment, whatever the server says")
    func tooSlow() throws {
        var scene = Scene()
        scene.fault = Self.slow(["a"], 20...60)
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves == ["pathway A -> B, failure", "pathway B -> A, recovery"])
        let move = try #require(session.moveTimes().first)
        #expect(move > 20 && move < 24, "\(move)")
        #expect(session.segments(of: "a").count { $0.time > .seconds(20) && $0.time < .seconds(60) } <= 2)
    }

    @Test("P06: if all pathways are too slow, there is at most one move per penalty time")
    func allSlow() throws {
        var scene = Scene()
        scene.fault = Self.slow(["a", "b"], 20...200)
        let session = try Self.play(scene)
        #expect(session.play.log.decisions.last == "played to end")
        #expect(session.frames.count == Self.frameCount)
        let failures = zip(session.moves, session.moveTimes()).filter { $0.0.hasSuffix("failure") }.map(\.1)
        #expect(!failures.isEmpty)
        #expect(zip(failures, failures.dropFirst()).allSatisfy { $1 - $0 >= 60 }, "\(failures)")
    }

    @Test("P06: with both dead for a while, each is left once, and the buffer plays on")
    func both() throws {
        var scene = Scene()
        scene.fault = { _, request in
            request.time >= .seconds(20) && request.time < .seconds(24) ? .failure(.cannotConnect) : nil
        }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves.filter { $0.hasSuffix("failure") }.count <= 2)
        #expect(session.moves.count <= 4)
    }

    // MARK: Preferences and clones

    @Test("P06: the app's pathway comes first, and others while it fails")
    func preferred() throws {
        var scene = Scene()
        scene.prefer = { $0.preferredPathway = "B" }
        scene.fault = { host, request in
            host == "b" && request.time >= .seconds(20) && request.time < .seconds(30)
                ? .failure(.cannotConnect) : nil
        }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.moves == ["pathway B -> A, failure", "pathway A -> B, recovery"])
    }

    @Test("P04: a clone is played from when it appears until it vanishes")
    func clones() throws {
        let clone = """
            ,"PATHWAY-CLONES":[{"BASE-ID":"A","ID":"C","URI-REPLACEMENT":{"HOST":"c.invalid"}},
            {"BASE-ID":"C","ID":"D","URI-REPLACEMENT":{"HOST":"d.invalid"}}]
            """
        var scene = Scene()
        scene.steer = { request in
            request.time < .seconds(20) || request.time >= .seconds(60)
                ? Self.manifest("AB", ttl: 1)
                : Self.manifest(request.time < .seconds(40) ? "CAB" : "DAB", ttl: 1, clone)
        }
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(
            session.moves == ["pathway A -> C, steering", "pathway C -> D, steering", "pathway D -> A, steering"])
        #expect(session.segments(of: "c").count > 5)
        #expect(session.segments(of: "d").count > 5)
    }

    // MARK: Without steering

    @Test("P06: a playlist without steering causes no requests and has no pathways")
    func plain() throws {
        var scene = Scene()
        scene.server = nil
        scene.ids = ["A"]
        let session = try Self.play(scene)
        Self.expectWhole(session)
        #expect(session.steering.isEmpty && session.moves.isEmpty)
        #expect(session.play.state.pathway == nil)
    }

    @Test("P04: the same origins give the same log")
    func deterministic() throws {
        func text() throws -> String {
            var scene = Scene()
            scene.steer = { request in Self.manifest(Int(request.time / .seconds(7)) % 2 == 0 ? "AB" : "BA", ttl: 1) }
            scene.fault = Self.dead(30...50)
            return try Self.play(scene).play.log.text
        }
        #expect(try text() == text())
    }
}
