import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Events inside media", .timeLimit(.minutes(10)))
struct MediaEventTests {
    /// A reported event. `time` is the time of the report in seconds after the presentation of item time 0, also if
    /// that is never presented. `place` is the event's item time.
    private struct Reported: Sendable {
        var text: String
        var time: Double
        var place: Double

        static func all(_ log: EventLog) -> [Reported] {
            var epoch: Double?
            var reported: [Reported] = []
            for line in log.lines {
                let parts = line.split(separator: " ", maxSplits: 1)
                guard let host = Double(parts[0]), let place = line.range(ofLast: " at ") else { continue }
                let seconds = line[place...].split(separator: " ").dropFirst().first.flatMap { Double($0) }
                guard let seconds else { continue }
                let begins = parts[1].hasPrefix("time control ") && parts[1].contains("-> playing")
                if begins { epoch = epoch ?? host - seconds }
                guard let epoch, parts[1].hasPrefix("metadata ") || parts[1].hasPrefix("marker ") else { continue }
                let text = parts[1].prefix { $0 != "," }
                reported.append(Reported(text: String(text), time: host - epoch, place: seconds))
            }
            return reported
        }
    }

    private static let sectionText = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="
    private static let splice = "metadata urn:scte:scte35:2013:bin"

    private static func tag(_ title: UInt8) -> [UInt8] {
        Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 13] + Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 3, 0x41, title]
    }

    // MARK: Transport streams

    /// Serves ten segments of 94 audio frames, 2.00533 s each. Tags are at 0.5 s of segments 1 and 7. A section appears
    /// three times in segment 2, from 0.64 s on.
    private static func transportStream() throws -> @Sendable (SimulatedRequest) -> SimulatedResponse {
        let section = try SpliceInformation(text: sectionText).bytes
        var files: [String: [UInt8]] = [:]
        var list = "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        for segment in 0..<10 {
            var writer = TransportStreamWriter(
                streams: [.init(pid: 257, type: 0x0f), .init(pid: 300, type: 0x86), .init(pid: 301, type: 0x15)])
            for frame in 0..<94 {
                let pts = 900_000 + Int64(segment * 94 + frame) * 1920
                writer.add(
                    .init(pid: 257, streamID: 0xc0, pts: pts, payload: TinyAudio.frame(fill: 1), hasLength: true))
                if segment == 2, [30, 40, 50].contains(frame) {
                    writer.section(pid: 300, tableID: 0xfc, body: Array(section.dropFirst(3).dropLast(4)))
                }
                if segment % 6 == 1, frame == 20 {
                    writer.add(
                        .init(
                            pid: 301, streamID: 0xbd, pts: 900_000 + Int64(segment * 94) * 1920 + 45_000,
                            payload: tag(UInt8(0x30 + segment)), hasLength: true))
                }
            }
            files["s\(segment).ts"] = writer.bytes
            list += "#EXTINF:2.00533,\ns\(segment).ts\n"
        }
        files["vod.m3u8"] = Array((list + "#EXT-X-ENDLIST\n").utf8)
        let all = files
        return { request in
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            return all[name].map { SimulatedResponse(body: $0) } ?? .notFound
        }
    }

    private static func play(
        _ url: String, _ answer: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse,
        limit: Duration = .seconds(60), change: (inout PlayerConfiguration) -> Void = { _ in },
        acts: [(time: Duration, act: @Sendable (Player) async -> Void)] = [], prefer: (PlayerItem) -> Void = { _ in }
    ) throws -> [Reported] {
        let clock = VirtualClock()
        let link = LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(10))
        let transport = SimulatedTransport(over: NetworkTrace(constant: link), clock: clock, answer: answer)
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        change(&configuration)
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: url)
        prefer(item)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        for (time, act) in acts {
            Task(executorPreference: clock) {
                try await clock.sleep(for: time)
                await act(player)
            }
        }
        let end = Task(executorPreference: clock) {
            try? await clock.sleep(for: limit)
            await player.close()
        }
        let log = try clock.run {
            var log = EventLog()
            for await event in events {
                log.append(event)
                if event.isLast { break }
            }
            end.cancel()
            await player.close()
            return log
        }
        #expect(!log.lines.contains { $0.contains("failed") }, "\(log.text)")
        return Reported.all(log)
    }

    private static func expectOnTime(_ reported: [Reported]) {
        for event in reported { #expect(abs(event.time - event.place) < 0.003, "\(event)") }
    }

    @Test(
        "K12: tags and sections of a transport stream are reported on time, with and without outputs",
        arguments: [0, 1, 2])
    func transportStream(_ outputs: Int) throws {
        let reported = try Self.play("https://h.invalid/vod.m3u8", Self.transportStream()) { _ in
        } prefer: { item in
            if outputs > 0 { try? item.add(MetadataOutput()) }
            if outputs > 1 { try? item.add(SampleOutput(mediaTypes: [.audio])) }
        }
        #expect(reported.map(\.text) == ["metadata TIT2", Self.splice, "metadata TIT2"])
        let length = 94 * 1920 / 90_000.0
        for (event, place) in zip(reported, [length + 0.5, length * 2 + 0.64, length * 7 + 0.5]) {
            #expect(abs(event.place - place) < 0.001, "\(event)")
        }
        Self.expectOnTime(reported)
    }

    @Test("K12: events skipped by a seek are not reported, and after a seek back they are repeated")
    func seeks() throws {
        let acts: [(time: Duration, act: @Sendable (Player) async -> Void)] = [
            (.seconds(1), { _ = try? await $0.seek(to: .seconds(6)) }),
            (.seconds(12), { _ = try? await $0.seek(to: .seconds(1)) }),
        ]
        let reported = try Self.play("https://h.invalid/vod.m3u8", Self.transportStream(), acts: acts)
        #expect(reported.map(\.text) == ["metadata TIT2", "metadata TIT2", Self.splice, "metadata TIT2"])
        #expect(reported.first.map { $0.place > 14 } == true)
    }

    @Test("K12: events inside media are not reported if no media is demuxed")
    func unread() throws {
        let reported = try Self.play("https://h.invalid/vod.m3u8", Self.transportStream()) { $0.demuxesMedia = false }
        #expect(reported.isEmpty)
    }

    // MARK: Event messages

    private static func box(_ version: UInt8, time: Int, id: Int, _ data: [UInt8]) -> [UInt8] {
        func be(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let names = Array("urn:scte:scte35:2013:bin\u{0}v\u{0}".utf8)
        let numbers = be(90_000, 4) + be(time, version == 0 ? 4 : 8) + be(0xffff_ffff, 4) + be(id, 4)
        let body = Array("emsg".utf8) + [version, 0, 0, 0] + (version == 0 ? names + numbers : numbers + names) + data
        return be(body.count + 4, 4) + body
    }

    /// Parts 15.0 to 16.3 repeat an event at 31.25 s of the stream. The parts from 18.1 to the end of that segment
    /// repeat a numbered event at their start.
    private static func marked(_ origin: LowLatencyOrigin, _ request: SimulatedRequest) -> SimulatedResponse {
        var response = origin.response(to: request)
        let file = request.urlString.split(separator: "/").last ?? ""
        guard file.hasSuffix(".m4s"), response.status == 200 else { return response }
        let numbers = file.dropLast(4).split(separator: ".").compactMap { Int($0) }
        guard let segment = numbers.first else { return response }
        let part = numbers.count > 1 ? numbers[1] : nil
        if segment == 15 || segment == 16 {
            response.body = box(1, time: 31 * 90_000 + 22_500, id: 5, [1, 2, 3]) + response.body
        }
        if segment == 18, let part, part > 0 { response.body = box(0, time: 0, id: 6, [4]) + response.body }
        return response
    }

    @Test(
        "K12: an event message repeated by live parts is reported once, at its time", arguments: [true, false])
    func eventMessages(hasLowLatency: Bool) throws {
        let origin = LowLatencyOrigin()
        let reported = try Self.play(origin.url(ofVariant: 1), { Self.marked(origin, $0) }, limit: .seconds(40)) {
            $0.allowsLowLatency = hasLowLatency
        }
        #expect(reported.map(\.text) == Array(repeating: Self.splice + ":v", count: hasLowLatency ? 2 : 1))
        Self.expectOnTime(reported)
        // The events are at 31.25 s and 36.5 s of the stream.
        if reported.count == 2 { #expect(abs(reported[1].place - reported[0].place - 5.25) < 0.001) }
    }

    @Test("K12: another variant does not repeat reported events")
    func variants() throws {
        let origin = LowLatencyOrigin()
        for time in [12_500, 16_200] {
            let reported = try Self.play(
                origin.url, { Self.marked(origin, $0) }, limit: .seconds(40),
                acts: [(.milliseconds(time), { $0.currentItem?.preferredPeakBitRate = 500_000 })])
            #expect(reported.map(\.text) == Array(repeating: Self.splice + ":v", count: 2))
            Self.expectOnTime(reported)
        }
    }

    // MARK: Markers

    @Test(
        "K13: live markers are reported at the start of their segment, with parts and with segments",
        arguments: [true, false])
    func markers(hasLowLatency: Bool) throws {
        let origin = LowLatencyOrigin()
        let tags = [("15", "#EXT-X-CUE-OUT:4"), ("16", "#EXT-X-CUE-OUT-CONT:2/4"), ("17", "#EXT-X-CUE-IN")]
        let answer: @Sendable (SimulatedRequest) -> SimulatedResponse = { request in
            var response = origin.response(to: request)
            guard request.urlString.contains("live.m3u8"), response.status == 200 else { return response }
            var lines: [String] = []
            for line in String(decoding: response.body, as: UTF8.self).split(separator: "\n") {
                for (number, tag) in tags {
                    if line.contains("\"\(number).0.m4s\""), line.hasPrefix("#EXT-X-PART:") { lines.append(tag) }
                    if line == "\(number).m4s", !lines.contains(tag) { lines.insert(tag, at: lines.count - 1) }
                }
                lines.append(String(line))
            }
            response.body = Array((lines.joined(separator: "\n") + "\n").utf8)
            return response
        }
        let reported = try Self.play(origin.url(ofVariant: 1), answer, limit: .seconds(40)) {
            $0.allowsLowLatency = hasLowLatency
        }
        #expect(reported.map(\.text) == ["marker EXT-X-CUE-OUT:4", "marker EXT-X-CUE-IN"])
        if reported.count == 2 { #expect(abs(reported[1].place - reported[0].place - 4) < 0.001) }
        Self.expectOnTime(reported)
    }
}

extension String {
    fileprivate func range(ofLast text: String) -> String.Index? {
        indices.last { self[$0...].hasPrefix(text) }
    }
}
