import Foundation
import HLSKitCore
import HLSKitSimulation
import HLSTime
import Synchronization
import TestSupport
import Testing

/// Sessions in virtual time whose client data is read by ``ClientDataLine`` and held against what the logs say.
@Suite("client data of sessions", .timeLimit(.minutes(2)))
struct ClientDataTests {
    private static let target = "https://reports.example/cmcd"

    private final class Visits: Sendable {
        private let state = Mutex<[SimulatedRequest]>([])
        func append(_ request: SimulatedRequest) { state.withLock { $0.append(request) } }
        var all: [SimulatedRequest] { state.withLock { $0 } }
        /// Requests of the stream.
        var requests: [SimulatedRequest] { all.filter { $0.body == nil } }
        var media: [SimulatedRequest] { requests.filter { $0.urlString.hasSuffix(".m4s") } }
        /// Bodies of reports.
        var reports: [SimulatedRequest] { all.filter { $0.body != nil } }
        func lines() throws -> [ClientDataLine] {
            try reports.flatMap { try ClientDataTests.lines(of: $0) }
        }
    }

    private static func lines(of report: SimulatedRequest) throws -> [ClientDataLine] {
        let text = String(decoding: report.body ?? [], as: UTF8.self)
        return try text.split(separator: "\n", omittingEmptySubsequences: false).map { try ClientDataLine(String($0)) }
    }

    private struct Session {
        var play: VirtualPlay
        var visits: Visits
        var log: [AccessLogEvent]
        var metrics: [String] = []

        func sum(_ value: (AccessLogEvent) -> Int) -> Int { log.reduce(0) { $0 + value($1) } }
    }

    private static func session(
        _ data: ClientData?,
        stream: SyntheticStream = SyntheticStream(bitRates: [400_000, 1_000_000], segmentCount: 20),
        trace: String = PlayerDeterminismTests.tunnel, limit: Duration = .seconds(600),
        fields: [HTTPField] = [], wrap: (any Transport, VirtualClock) throws -> any Transport = { base, _ in base },
        report: @escaping @Sendable (SimulatedRequest, Int) -> SimulatedResponse = { _, _ in .status(204) },
        change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> Session {
        let clock = VirtualClock()
        let visits = Visits()
        let count = Mutex(0)
        let transport = SimulatedTransport(over: try NetworkTrace(parsing: trace.utf8), clock: clock) { request in
            visits.append(request)
            guard request.body == nil else {
                return report(
                    request,
                    count.withLock { count in
                        defer { count += 1 }
                        return count
                    })
            }
            var response = stream.response(to: request)
            response.fields += fields
            return response
        }
        var item: PlayerItem?
        let play = try VirtualPlay(
            stream.urlString, clock: clock, transport: try wrap(transport, clock), limit: limit,
            change: {
                $0.clientData = data
                change(&$0)
            }, prefer: { item = $0 })
        return Session(play: play, visits: visits, log: item?.accessLog?.events ?? [])
    }

    private static func data(_ change: (inout ClientData) -> Void) -> ClientData {
        var data = ClientData()
        data.version = .two
        change(&data)
        return data
    }

    private static func target(_ change: (inout ClientData.EventTarget) -> Void = { _ in }) -> ClientData.EventTarget {
        var target = ClientData.EventTarget(urlString: target)
        change(&target)
        return target
    }

    // MARK: Requests

    @Test(
        "O05: every request of a session carries it, and it is what the access log says",
        arguments: ClientData.Version.allCases, ClientData.Transmission.allCases)
    func requests(version: ClientData.Version, transmission: ClientData.Transmission) throws {
        let session = try Self.session(
            Self.data {
                $0.version = version
                $0.transmission = transmission
                $0.contentID = "film"
            })
        #expect(session.play.log.decisions.contains("stalled"), "the tunnel is long enough")
        let lines = try session.visits.requests.map { try ClientDataLine($0) }
        let id = try #require(session.log.first?.playbackSessionID)
        for line in lines {
            #expect(line["sid"] == id)
            #expect(line["cid"] == "film")
            #expect(line["sf"] == "h")
            #expect(line["v"] == (version == .one ? nil : "2"))
        }
        if version == .two { #expect(lines.map { $0["sn"] } == lines.indices.map { "\($0)" }) }
        let kinds = zip(session.visits.requests, lines).map { request, line in
            "\(request.urlString.split(separator: ".").last ?? "") \(line["ot"] ?? "")"
        }
        #expect(Set(kinds) == ["m3u8 m", "mp4 i", "m4s v"])
        let media = try session.visits.media.map { try ClientDataLine($0) }
        #expect(media.count == session.sum(\.numberOfMediaRequests))
        // Starvation is told once for each stall at least, and never without one.
        let starved = lines.count { $0["bs"] != nil }
        let stalls = session.sum(\.numberOfStalls)
        #expect(stalls > 0)
        #expect(starved >= 1)
        if version == .two { #expect(lines.compactMap { $0.number("bsa") }.max() == Double(stalls)) }
        for line in media {
            #expect(line["d"] == "6000")
            #expect(["400", "1000"].contains(line["br"]?.prefix { $0 != ";" }.description))
            #expect(line.number("tb") == 1000)
            #expect(line.number("bl")?.truncatingRemainder(dividingBy: 100) == 0)
            #expect(line.number("mtp")?.truncatingRemainder(dividingBy: 100) ?? 0 == 0)
            #expect(line.number("rtp") == (line.number("br") ?? 0) * 5)
        }
        #expect(media.first?["su"] != nil, "the start is urgent")
        #expect(media.contains { $0["su"] == nil }, "and a full buffer is not")
    }

    private static let mapByteCount = SyntheticStream().response(
        to: SimulatedRequest(urlString: "https://synthetic.invalid/init.mp4")
    ).body.count

    @Test("the buffer and the next object are those of the moment of the request")
    func buffer() throws {
        let session = try Self.session(Self.data { _ in })
        var position: [String: Int] = [:]
        for request in session.visits.media {
            let line = try ClientDataLine(request)
            let index = try #require(Int(request.urlString.split(separator: "/").last?.dropLast(4) ?? ""))
            position[request.urlString] = index
            let (ahead, playhead) = (try #require(line.number("bl")), try #require(line.number("pt")))
            // What is before it was asked for before, and is here but for what is under way.
            #expect(ahead <= Double(index * 6000) - playhead + 100, "\(line.values)")
            #expect(ahead >= Double((index - 1) * 6000) - playhead - 100, "\(line.values)")
            let rate = line.number("pr") ?? 1
            if rate == 1 { #expect(line.number("dl") == ahead) }
            if index < 19 { #expect(line["nor"] == "\"\(index + 1).m4s\"") } else { #expect(line["nor"] == nil) }
        }
    }

    @Test("nothing of it is in logs, recordings, metrics or caches: they are those of a session without it")
    func traces() throws {
        let folder = try ScratchFolder()
        func session(_ data: ClientData?, _ name: String) throws -> (Session, recording: String) {
            let path = "\(folder.path)/\(name).jsonl"
            let recorder = Mutex<RecordingTransport?>(nil)
            let session = try Self.session(
                data,
                wrap: { base, clock in
                    let transport = try RecordingTransport(base: base, path: path, clock: clock, url: "x")
                    recorder.withLock { $0 = transport }
                    return transport
                })
            try recorder.withLock { $0 }?.finish()
            return (session, try String(contentsOfFile: path, encoding: .utf8))
        }
        let plain = try session(nil, "plain")
        let query = try session(
            Self.data {
                $0.transmission = .query
                $0.contentID = "film"
            }, "query")
        #expect(query.0.visits.requests.allSatisfy { $0.sentURLString.contains("CMCD=") })
        #expect(query.0.play.log.text == plain.0.play.log.text)
        #expect(query.recording == plain.recording)
        #expect(!query.recording.contains("CMCD"))
        #expect(query.0.log == plain.0.log)
        let reported = try session(
            Self.data {
                $0.transmission = nil
                $0.eventTargets = [Self.target()]
            }, "reported")
        #expect(!reported.0.visits.reports.isEmpty)
        #expect(!reported.recording.contains("reports.example"))
        #expect(reported.0.play.log.decisions == plain.0.play.log.decisions)
    }

    @Test("the bytes that requests announce are those that the access log counts")
    func bytes() throws {
        let session = try Self.session(Self.data { _ in }, trace: "600000,10000,10\n")
        let media = try session.visits.media.map { try ClientDataLine($0) }
        #expect(media.count == 20)
        #expect(session.sum(\.numberOfStalls) == 0)
        // Segments of the stream are exactly as large as their bit rate says.
        let bytes = media.reduce(0) { $0 + ($1.number("br") ?? 0) * ($1.number("d") ?? 0) / 8 }
        let maps = session.visits.requests.count { $0.urlString.hasSuffix(".mp4") } * Self.mapByteCount
        #expect(Int(bytes) + maps == session.log.reduce(0) { $0 + Int($1.numberOfBytesTransferred) })
        for line in media { #expect(line["bs"] == nil && line["bsa"] == nil) }
    }

    @Test("who sets nothing sends nothing")
    func nothing() throws {
        let session = try Self.session(nil)
        for request in session.visits.all {
            #expect(request.body == nil)
            #expect(request.sentURLString == request.urlString)
            #expect(!request.fields.contains { $0.name.lowercased().hasPrefix("cmcd") })
        }
    }

    // MARK: Events

    @Test("O05: events tell the session: states, bit rates, stalls and each response, numbered without a hole")
    func events() throws {
        let session = try Self.session(
            Self.data {
                $0.eventTargets = [
                    Self.target {
                        $0.events = Set(ClientData.Event.allCases)
                        $0.interval = .seconds(20)
                    }
                ]
                $0.contentID = "film"
            })
        let lines = try session.visits.lines()
        #expect(lines.map { $0["sn"] } == lines.indices.map { "\($0)" })
        for report in session.visits.reports {
            #expect(report.urlString == Self.target)
            #expect(report.resourceClass == .report)
            #expect(report.fields == [HTTPField(name: "Content-Type", value: "application/cmcd")])
            #expect(report.body?.last != UInt8(ascii: "\n"), "lines are separated, and not ended")
        }
        for line in lines {
            #expect(line["v"] == "2")
            #expect(line["sid"] == session.log.first?.playbackSessionID)
            #expect(line["e"] != nil && line["ts"] != nil)
        }
        func all(_ kind: String) -> [ClientDataLine] { lines.filter { $0["e"] == kind } }
        let states = all("ps").compactMap { $0["sta"] }
        #expect(states.first == "s")
        #expect(states.last == "e")
        #expect(states.contains("r") && states.contains("p"))
        #expect(zip(states, states.dropFirst()).allSatisfy { $0 != $1 })
        #expect(all("c").count == 1)
        #expect(all("ps").last?.number("bsa") == Double(session.sum(\.numberOfStalls)))
        #expect(lines.count { $0["msd"] != nil } == 1)
        // Intervals: by the clock, all the time.
        let ticks = all("t").compactMap { $0.number("ts") }
        #expect(ticks.count >= 5)
        #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1 - $0 == 20_000 })
        // One line for each request that came to its end, as long as the session was open.
        let responses = all("rr")
        let abandoned = session.play.log.lines.count { $0.contains("abandoned") }
        #expect(responses.count >= session.visits.media.count - abandoned)
        for line in responses {
            #expect(line["rc"] == "200" || line["rc"] == "0")
            #expect((line.number("ttlb") ?? -1) >= (line.number("ttfb") ?? 0))
        }
        let urls = Set(session.visits.requests.map(\.urlString))
        #expect(responses.allSatisfy { urls.contains($0["url"] ?? "") })
        // The throughput at the end is that which the player tells.
        let known = try #require(session.play.state.statistics.throughputEstimate)
        #expect(all("ps").last?.number("mtp") == (known / 100_000).rounded() * 100)
    }

    @Test("kinds of events and keys are those that a target wants")
    func chosen() throws {
        let session = try Self.session(
            Self.data {
                $0.transmission = nil
                $0.eventTargets = [
                    Self.target {
                        $0.events = [.playState]
                        $0.keys = ["sid", "sn"]
                    }
                ]
            })
        #expect(session.visits.requests.allSatisfy { !$0.fields.contains { $0.name.hasPrefix("CMCD") } })
        for line in try session.visits.lines() { #expect(line.keys == ["e", "sid", "sn", "sta", "ts", "v"]) }
    }

    @Test("429 makes it wait as long as the target says, and nothing is lost or sent out of order")
    func tooMany() throws {
        let session = try Self.session(
            Self.data { $0.eventTargets = [Self.target { $0.batchCount = 1 }] },
            report: { _, count in count < 3 ? .status(429, retryAfter: 7) : .status(204) })
        let reports = session.visits.reports
        let first = try Self.lines(of: reports[0]).map { $0["sn"] }
        for index in 1...3 {
            #expect(try Self.lines(of: reports[index]).first?["sn"] == first.first)
            #expect(reports[index].time - reports[index - 1].time >= .seconds(7))
        }
        let numbers = try reports[3...].flatMap { try Self.lines(of: $0).map { $0["sn"] } }
        #expect(numbers == numbers.indices.map { "\($0)" })
    }

    @Test("410 ends the reports of the session, and those of nobody else")
    func gone() throws {
        let other = "https://other.example/"
        let session = try Self.session(
            Self.data {
                $0.eventTargets = [
                    Self.target { $0.batchCount = 1 },
                    {
                        var target = ClientData.EventTarget(urlString: other)
                        target.batchCount = 1
                        return target
                    }(),
                ]
            }, report: { request, _ in request.urlString == other ? .status(204) : .status(410) })
        #expect(session.visits.reports.count { $0.urlString == Self.target } == 1)
        #expect(session.visits.reports.count { $0.urlString == other } > 5)
    }

    @Test(
        "a target that is dead, slow or mad is in nobody's way: the session is the same to the nanosecond",
        arguments: [
            SimulatedResponse.silence, .failure(.transport), .status(500), .status(301), .status(404),
            SimulatedResponse(body: [UInt8](repeating: 0, count: 100_000)),
        ])
    func dead(response: SimulatedResponse) throws {
        let plain = try Self.session(nil, trace: "600000,10000,10\n")
        let session = try Self.session(
            Self.data {
                $0.transmission = nil
                $0.eventTargets = [Self.target { $0.batchCount = 1 }]
            }, trace: "600000,10000,10\n", report: { _, _ in response })
        #expect(!session.visits.reports.isEmpty)
        #expect(session.play.log.decisions == plain.play.log.decisions)
        let limit = Int(session.play.duration / .seconds(1)) + 20
        #expect(session.visits.reports.count < limit, "it is not hammered")
    }

    @Test("the user's fields, credentials of URLs and cookies do not go with reports")
    func credentials() throws {
        let session = try Self.session(
            Self.data { $0.eventTargets = [ClientData.EventTarget(urlString: "https://u:p@reports.example/cmcd")] },
            change: {
                $0.fields = [HTTPField(name: "Authorization", value: "secret"), HTTPField(name: "X-Key", value: "k")]
            })
        #expect(!session.visits.reports.isEmpty)
        for report in session.visits.reports {
            #expect(report.urlString == Self.target)
            #expect(report.fields.map(\.name) == ["Content-Type"])
        }
    }

    @Test("the same session has the same lines, byte for byte")
    func same() throws {
        let data = Self.data {
            $0.transmission = .query
            $0.eventTargets = [Self.target { $0.events = Set(ClientData.Event.allCases) }]
        }
        let sessions = try (0..<2).map { _ in try Self.session(data) }
        #expect(sessions[0].visits.all == sessions[1].visits.all)
    }

    // MARK: What servers tell

    @Test("mb limits the variant and etp is what is expected first; both can be left unminded")
    func hints() throws {
        let fields = [HTTPField(name: "CMSD-Dynamic", value: "\"edge\";etp=8000;mb=500")]
        let trace = "600000,20000,10\n"
        func variants(_ session: Session) -> Set<String> {
            Set(session.visits.media.map { String($0.urlString.split(separator: "/")[2]) })
        }
        #expect(variants(try Self.session(nil, trace: trace)) == ["0", "1"])
        #expect(variants(try Self.session(nil, trace: trace, fields: fields)) == ["0"])
        #expect(
            variants(try Self.session(nil, trace: trace, fields: fields, change: { $0.mindsServerData = false })) == [
                "0", "1",
            ])
        let expected = [HTTPField(name: "CMSD-Dynamic", value: "\"edge\";etp=8000")]
        #expect(variants(try Self.session(nil, trace: trace, fields: expected)) == ["1"])
    }

    @Test("what servers tell goes on to those who are told of responses")
    func passedOn() throws {
        let fields = [
            HTTPField(name: "CMSD-Static", value: "ot=v,n=\"o\""),
            HTTPField(name: "CMSD-Dynamic", value: "\"edge\";etp=8000"),
        ]
        let session = try Self.session(
            Self.data { $0.eventTargets = [Self.target { $0.events = [.responseReceived] }] },
            trace: "600000,20000,10\n",
            fields: fields)
        let lines = try session.visits.lines()
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { $0["cmsds"] == "ot=v,n=\"o\"" && $0["cmsdd"] == "\"edge\";etp=8000" })
    }
}
