import Foundation
import HLSKitCore
import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@Suite("Client data of sessions", .timeLimit(.minutes(10)))
struct ClientDataTests {
    private static let target = "https://reports.example/cmcd"

    fileprivate static func lines(of report: SimulatedRequest) throws -> [ClientDataLine] {
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
        fields: [TransportField] = [],
        fault: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse? = { _ in nil },
        wrap: (any ResourceTransport, VirtualClock) throws -> any ResourceTransport = { base, _ in base },
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
            var response = fault(request) ?? stream.response(to: request)
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
        "O05: every request of a session carries client data that matches the access log",
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
        // A stall reports starvation at least once.
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

    @Test("the buffer and the next object match the moment of the request")
    func buffer() throws {
        let session = try Self.session(
            Self.data { $0.eventTargets = [Self.target { $0.events = [.responseReceived] }] })
        // The times at which transfers ended, from the reports about them.
        var ends: [String: Duration] = [:]
        for line in try session.visits.lines() {
            let (url, last) = (try #require(line["url"]), line.number("ttlb").map { Duration.milliseconds(Int($0)) })
            guard let began = session.visits.requests.last(where: { $0.urlString == url })?.time else { continue }
            ends[url] = last.map { began + $0 }
        }
        var exactCount = 0
        for (request, before) in zip(session.visits.media, [nil] + session.visits.media) {
            let line = try ClientDataLine(request)
            let index = try #require(Int(request.urlString.split(separator: "/").last?.dropLast(4) ?? ""))
            let (ahead, playhead) = (try #require(line.number("bl")), try #require(line.number("pt")))
            // All earlier media was requested before, and has arrived unless it is in flight.
            #expect(ahead <= Double(index * 6000) - playhead + 51, "\(line.values)")
            #expect(ahead >= Double((index - 1) * 6000) - playhead - 51, "\(line.values)")
            if let before, let end = ends[before.urlString], end < request.time - .milliseconds(1) {
                exactCount += 1
                #expect(abs(ahead - (Double(index * 6000) - playhead)) <= 51, "\(line.values)")
            }
            let rate = line.number("pr") ?? 1
            if rate == 1 { #expect(line.number("dl") == ahead) }
            if index < 19 { #expect(line["nor"] == "\"\(index + 1).m4s\"") } else { #expect(line["nor"] == nil) }
        }
        #expect(exactCount > 3, "\(exactCount)")
    }

    @Test("stalls, start and throughput match the log, to the millisecond and 100 kbit/s")
    func figures() throws {
        let session = try Self.session(
            Self.data { $0.eventTargets = [Self.target { $0.events = Set(ClientData.Event.allCases) }] })
        let lines = try session.visits.lines()
        let stalled = Int((session.play.state.statistics.stallDuration / .milliseconds(1)).rounded())
        #expect(stalled > 1000)
        let durations = lines.flatMap { line in
            (line["bsd"] ?? "").split(separator: " ").compactMap { Int($0) }
        }
        #expect(durations.count == session.sum(\.numberOfStalls))
        #expect(abs(durations.reduce(0, +) - stalled) <= durations.count)
        #expect(lines.last?.number("bsda").map { abs(Int($0) - stalled) <= 1 } == true)
        let reported = lines.compactMap { $0.number("msd") }
        func first(_ state: String) throws -> Double {
            try #require(lines.first { $0["e"] == "ps" && $0["sta"] == state }?.number("ts"))
        }
        #expect(reported == [try first("p") - first("s")])
        // The report contains the player's own estimate.
        let known = try #require(session.play.state.statistics.throughputEstimate)
        #expect(lines.last { $0["e"] == "ps" }?.number("mtp") == (known / 100_000).rounded() * 100)
    }

    @Test("O05: an error is sent once, with the next request and each target's next event")
    func errors() throws {
        let other = "https://other.example/"
        let failed = Mutex(false)
        let session = try Self.session(
            Self.data {
                $0.eventTargets = [
                    Self.target { $0.events = [.playState, .error] },
                    {
                        var target = ClientData.EventTarget(urlString: other)
                        target.events = [.playState]
                        return target
                    }(),
                ]
            }, trace: "600000,10000,10\n",
            fault: { request in
                guard request.urlString.hasSuffix("/5.m4s") else { return nil }
                return failed.withLock { failed in
                    defer { failed = true }
                    return failed ? nil : .status(500)
                }
            })
        let code = "\"network\""
        let requests = try session.visits.requests.map { try ClientDataLine($0) }
        let index = try #require(requests.firstIndex { $0["ec"] != nil })
        #expect(session.visits.requests[index].time > .zero)
        #expect(requests.compactMap { $0["ec"] } == [code])
        let lines = try session.visits.lines()
        #expect(lines.filter { $0["e"] == "e" }.map { $0["ec"] } == [code])
        #expect(lines.count { $0["ec"] != nil } == 2, "one for each target")
    }

    @Test("the playhead of a live stream with dates is sent as a date")
    func liveTime() throws {
        let stage = PartStage(limit: .seconds(20), presents: false)
        let session = try stage.play { $0.clientData = Self.data { _ in } }
        let epoch = (stage.origin.epoch - PlaylistDate(seconds: 0)) / .milliseconds(1)
        let media = session.visits.media.filter { $0.time > .seconds(10) }
        #expect(media.count > 10)
        for request in media {
            let line = try ClientDataLine(request)
            #expect(line["st"] == "ll")
            let (playhead, latency) = (try #require(line.number("pt")), try #require(line.number("ltc")))
            // The edge may be older than now by a part and a request.
            let age = epoch + request.time / .milliseconds(1) - playhead - latency
            #expect((-20...600).contains(age), "\(age)")
        }
    }

    // MARK: Without a player

    /// Returns the requests that `body` sends without a player, with their client data.
    private static func lines(
        _ stream: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse,
        _ body: @escaping @Sendable (AssetOptions) async throws -> Void
    ) throws -> [(request: SimulatedRequest, line: ClientDataLine)] {
        let (clock, visits) = (VirtualClock(), Visits())
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(10)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            visits.append(request)
            return stream(request)
        }
        var options = AssetOptions(clock: clock, transport: transport)
        options.clientData = data { _ in }
        try clock.run { [options] in try await body(options) }
        let all = try visits.all.map { (request: $0, line: try ClientDataLine($0)) }
        #expect(Set(all.map { $0.line["sid"] }).count == 1)
        for (request, line) in all {
            #expect(line["nr"] != nil && line["sf"] == "h")
            if request.urlString.hasSuffix(".m3u8") { #expect(line["ot"] == "m") }
            if request.urlString.hasSuffix(".mp4") { #expect(line["ot"] == "i") }
        }
        return all
    }

    @Test("O05: image requests have their object type by the declared codecs")
    func images() throws {
        let stream = SyntheticStream(bitRates: [400_000, 1_000_000], segmentCount: 10)
        let all = try Self.lines({ stream.response(to: $0) }) { options in
            let generator = ImageGenerator(asset: Asset(urlString: stream.urlString, options: options))
            _ = try await generator.image(at: .seconds(20))
        }
        let media = all.filter { $0.request.urlString.hasSuffix(".m4s") }
        #expect(!media.isEmpty)
        for (_, line) in media {
            #expect(line["ot"] == "v" && line["d"] == "6000" && line["st"] == "v")
            #expect(line["br"] == "1000;v")
            #expect(line["ab"] == nil)
        }
    }

    @Test("O05: download requests have their object type, for the variant and its audio", arguments: [true, false])
    func download(isApart: Bool) throws {
        var origin = LowLatencyOrigin()
        origin.segmentCount = 8
        origin.hasSeparateAudio = isApart
        let (made, folder) = (origin, try ScratchFolder())
        let all = try Self.lines({ made.response(to: $0) }) { options in
            let configuration = DownloadConfiguration(urlString: made.url, loading: options)
            let result = try await DownloadTask(configuration, folder: folder.path + "/d").run()
            #expect(result.failure == nil)
        }
        let media = all.filter { $0.request.urlString.hasSuffix(".m4s") }
        #expect(media.count == (isApart ? 16 : 8))
        for (request, line) in media {
            #expect(line["d"] == "2000" && line["st"] == "v")
            if request.urlString.contains("/2/") {
                #expect(line["ot"] == "a" && line["br"] == nil && line["ab"] == nil)
            } else {
                #expect(line["ot"] == "v")
                #expect(line["br"] == (isApart ? nil : "1000;v"))
                #expect(line["ab"] == (isApart ? "1000;v" : nil))
            }
        }
    }

    @Test("client data does not change logs, recordings, metrics or caches")
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

    @Test("the byte counts announced in requests match the access log")
    func bytes() throws {
        let session = try Self.session(Self.data { _ in }, trace: "600000,10000,10\n")
        let media = try session.visits.media.map { try ClientDataLine($0) }
        #expect(media.count == 20)
        #expect(session.sum(\.numberOfStalls) == 0)
        // Segments of the stream have exactly the size for their bit rate.
        let bytes = media.reduce(0) { $0 + ($1.number("br") ?? 0) * ($1.number("d") ?? 0) / 8 }
        let maps = session.visits.requests.count { $0.urlString.hasSuffix(".mp4") } * Self.mapByteCount
        #expect(Int(bytes) + maps == session.log.reduce(0) { $0 + Int($1.numberOfBytesTransferred) })
        for line in media { #expect(line["bs"] == nil && line["bsa"] == nil) }
    }

    @Test("without client data options nothing is sent")
    func nothing() throws {
        let session = try Self.session(nil)
        for request in session.visits.all {
            #expect(request.body == nil)
            #expect(request.sentURLString == request.urlString)
            #expect(!request.fields.contains { $0.name.lowercased().hasPrefix("cmcd") })
        }
    }

    // MARK: Events

    @Test("O05: events report states, bit rates, stalls and each response, numbered without a gap")
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
            #expect(report.fields == [TransportField(name: "Content-Type", value: "application/cmcd")])
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
        // Time events follow the clock throughout the session.
        let ticks = all("t").compactMap { $0.number("ts") }
        #expect(ticks.count >= 5)
        #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1 - $0 == 20_000 })
        // Each request that ends while the session is open has a line.
        let responses = all("rr")
        let abandoned = session.play.log.lines.count { $0.contains("abandoned") }
        #expect(responses.count >= session.visits.media.count - abandoned)
        for line in responses {
            #expect(line["rc"] == "200" || line["rc"] == "0")
            guard line["rc"] == "200", let last = line.number("ttlb") else {
                #expect(line["rc"] == "0" && line["ttlb"] == nil)
                continue
            }
            let first = try #require(line.number("ttfbb"))
            #expect(first >= (try #require(line.number("ttfb"))) && first <= last)
        }
        let urls = Set(session.visits.requests.map(\.urlString))
        #expect(responses.allSatisfy { urls.contains($0["url"] ?? "") })
    }

    @Test("a target gets only its selected kinds of events and keys")
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

    @Test("a changed rate is sent during playback, and an interval of zero sends no periodic events")
    func rates() throws {
        let (clock, visits, stream) = (VirtualClock(), Visits(), SyntheticStream(segmentCount: 20))
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            visits.append(request)
            return request.body == nil ? stream.response(to: request) : .status(204)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.clientData = Self.data {
            $0.eventTargets = [
                Self.target {
                    $0.events = [.playbackRate, .timeInterval, .playState]
                    $0.interval = .zero
                }
            ]
        }
        let player = Player(configuration: configuration)
        player.rate = 1.5
        try player.replaceCurrentItem(with: PlayerItem(urlString: stream.urlString))
        player.rate = 1.25
        clock.advance(by: .seconds(20))
        player.rate = 2
        clock.advance(by: .seconds(5))
        try clock.run { await player.close() }
        let lines = try visits.lines()
        #expect(lines.filter { $0["e"] == "pr" }.map { $0["pr"] } == ["2"])
        #expect(!lines.contains { $0["e"] == "t" })
    }

    @Test("429 delays reports as long as the target says, without loss or reordering")
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

    @Test("410 ends the session's reports to that target, but not to the others")
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
        "a dead, slow or broken target does not change the session by a nanosecond",
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

    @Test("user fields, URL credentials and cookies are not sent with reports")
    func credentials() throws {
        let session = try Self.session(
            Self.data { $0.eventTargets = [ClientData.EventTarget(urlString: "https://u:p@reports.example/cmcd")] },
            change: {
                $0.fields = [
                    TransportField(name: "Authorization", value: "secret"), TransportField(name: "X-Key", value: "k"),
                ]
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

    // MARK: Server data

    @Test("mb limits the variant and etp is the first estimate; both can be ignored by configuration")
    func hints() throws {
        let fields = [TransportField(name: "CMSD-Dynamic", value: "\"edge\";etp=8000;mb=500")]
        let trace = "600000,20000,10\n"
        func variants(_ session: Session) -> Set<String> {
            Set(session.visits.media.map { String($0.urlString.split(separator: "/")[2]) })
        }
        #expect(variants(try Self.session(nil, trace: trace)) == ["0", "1"])
        #expect(variants(try Self.session(nil, trace: trace, fields: fields)) == ["0"])
        #expect(
            variants(try Self.session(nil, trace: trace, fields: fields, change: { $0.usesServerHints = false })) == [
                "0", "1",
            ])
        let expected = [TransportField(name: "CMSD-Dynamic", value: "\"edge\";etp=8000")]
        #expect(variants(try Self.session(nil, trace: trace, fields: expected)) == ["1"])
    }

    @Test("CMSD fields are forwarded in response-received reports")
    func passedOn() throws {
        let fields = [
            TransportField(name: "CMSD-Static", value: "ot=v,n=\"o\""),
            TransportField(name: "CMSD-Dynamic", value: "\"edge\";etp=8000"),
            TransportField(name: "smrt-data", value: "();n=edge"),
        ]
        func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let session = try Self.session(
            Self.data { $0.eventTargets = [Self.target { $0.events = [.responseReceived] }] },
            trace: "600000,20000,10\n",
            fields: fields)
        let lines = try session.visits.lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(line["cmsds"] == encoded(fields[0].value))
            #expect(line["cmsdd"] == encoded(fields[1].value))
            #expect(line["smrt"] == encoded(fields[2].value))
        }
    }
}

extension Visits {
    fileprivate var requests: [SimulatedRequest] { all.filter { $0.body == nil } }
    fileprivate var reports: [SimulatedRequest] { all.filter { $0.body != nil } }
    fileprivate func lines() throws -> [ClientDataLine] {
        try reports.flatMap { try ClientDataTests.lines(of: $0) }
    }
}
