import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@Suite("Media of parts", .timeLimit(.minutes(10)))
struct PartMediaTests {
    private static func expectSmooth(_ session: PartStage.Session, stalls: Int = 0) {
        #expect(session.stallCount <= stalls, "\(session.play.log.text)")
        #expect(session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.count("no low latency") == 0)
        #expect(session.presented.breaks == [])
        #expect(session.presented.audioBreaks == [])
        #expect(session.play.state.statistics.numberOfDamagedSamples == 0)
    }

    private static func stage(_ packaging: PartPackaging, _ change: (inout PartStage) -> Void = { _ in }) -> PartStage {
        var stage = PartStage()
        stage.limit = .seconds(20)
        change(&stage)
        stage.answer = packaging.answer(of: stage.origin)
        return stage
    }

    // MARK: Containers and encryption

    @Test("M05: parts of transport streams are played, and their segments if a part fails")
    func transportStreams() throws {
        Self.expectSmooth(try Self.stage(PartPackaging(isTransportStream: true)).play())
        var stage = Self.stage(PartPackaging(isTransportStream: true))
        let answer = stage.answer
        stage.answer = { $0.name == "1/12.1" ? .notFound : answer($0, $1) }
        let session = try stage.play()
        Self.expectSmooth(session, stalls: 1)
        #expect(session.visits.names.contains("1/12"))
    }

    @Test(
        "M05: each part of an AES-128 segment is decrypted separately with the segment's key and vector",
        .enabled(if: Tool.exists("/usr/bin/openssl")), arguments: [true, false])
    func encrypted(hasVector: Bool) throws {
        for isTransportStream in [true, false] {
            let packaging = PartPackaging(
                isTransportStream: isTransportStream, encryption: .init(hasVector: hasVector))
            let session = try Self.stage(packaging).play()
            Self.expectSmooth(session)
            let keys = session.visits.all.filter { $0.resourceClass == .key }.map(\.urlString)
            #expect(keys.count >= 5 && Set(keys).count == keys.count)
        }
    }

    @Test(
        "M05: an encrypted part that fails is loaded with its segment", .enabled(if: Tool.exists("/usr/bin/openssl")))
    func encryptedWhole() throws {
        var stage = Self.stage(PartPackaging(encryption: .init()))
        let answer = stage.answer
        stage.answer = { request, response in
            var response = answer(request, response)
            if request.name == "1/12.2" { response.body.removeLast(5) }
            return response
        }
        let session = try stage.play()
        Self.expectSmooth(session, stalls: 1)
        #expect(session.visits.names.contains("1/12"))
    }

    @Test(
        "M05: parts with encrypted samples (cbcs) are played", .enabled(if: Tool.exists("/usr/bin/openssl")))
    func encryptedSamples() throws {
        let session = try Self.stage(PartPackaging(encryptsSamples: true)) { $0.limit = .seconds(8) }.play()
        Self.expectSmooth(session)
        #expect(session.presented.frames.count > 100)
    }

    @Test("M05: a discontinuity and a new initialization section in the growing segment are played")
    func discontinuity() throws {
        var stage = PartStage()
        stage.origin.offersDeltaUpdates = false
        stage.limit = .seconds(40)
        stage.answer = { request, response in
            var response = response
            if request.urlString.hasSuffix("other.mp4") {
                var plain = request
                plain.urlString = request.urlString.replacing("other.mp4", with: "init.mp4")
                return LowLatencyOrigin().response(to: plain)
            }
            if request.urlString.contains("live.m3u8") {
                var lines: [String] = []
                var number = 0
                for line in String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init) {
                    if line.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") {
                        number = Int(line.dropFirst(22)) ?? 0
                        if number > 12 { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:1") }
                    }
                    if line.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") {
                        if number == 12 { lines += ["#EXT-X-DISCONTINUITY", "#EXT-X-MAP:URI=\"../other.mp4\""] }
                        number += 1
                    }
                    lines.append(
                        line.hasPrefix("#EXT-X-MAP:") && number > 12 ? line.replacing("init", with: "other") : line)
                }
                response.body = Array(lines.joined(separator: "\n").utf8)
            } else if request.resourceClass == .segment, response.status == 200,
                let segment = Int(request.name.split(separator: "/")[1].prefix { $0 != "." }), segment >= 12
            {
                response.body = Self.moved(response.body)
            }
            return response
        }
        let session = try stage.play()
        Self.expectSmooth(session)
        #expect(session.visits.all.count { $0.urlString.hasSuffix("other.mp4") } == 1)
        #expect(session.play.state.currentTime.seconds > 30)
    }

    /// Returns media with a second high bit set in its times, so that they are 6 h later.
    private static func moved(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.dropLast(16) where bytes[index..<index + 4].elementsEqual("tfdt".utf8) {
            bytes[index + 12] |= 0x70
        }
        return bytes
    }

    // MARK: Renditions

    private static func renditions(
        _ change: (inout LowLatencyOrigin) -> Void = { _ in }
    ) throws -> PartStage.Session {
        var stage = PartStage()
        stage.variant = nil
        stage.origin.hasSeparateAudio = true
        stage.origin.bitRates = [1_000_000]
        stage.limit = .seconds(30)
        change(&stage.origin)
        return try stage.play()
    }

    @Test("M05: separate audio is loaded in parts, too", arguments: [LowLatencyOrigin.Addressing.files, .ranges])
    func audio(_ addressing: LowLatencyOrigin.Addressing) throws {
        let session = try Self.renditions {
            $0.addressing = addressing
            $0.givesHints = addressing == .files
        }
        Self.expectSmooth(session)
        let separator: Character = addressing == .files ? "." : "@"
        let names = session.visits.names
        #expect(names.allSatisfy { $0.contains(separator) })
        #expect(Set(names).count == names.count)
        #expect(names.count { $0.hasPrefix("1/") } >= 50)
        #expect((session.presented.audio.last?.upperBound ?? .zero) > .seconds(25))
        let offset = try #require(session.play.state.liveOffset)
        #expect((Duration.milliseconds(1000)...(.milliseconds(1750))).contains(offset))
    }

    @Test("M05: audio that lags by half a second causes one wait at most")
    func lagging() throws {
        let session = try Self.renditions { $0.lags = [.zero, .milliseconds(500)] }
        Self.expectSmooth(session, stalls: 1)
    }

    @Test("M05: audio in whole segments increases the distance once")
    func ordinaryAudio() throws {
        var stage = PartStage()
        stage.variant = nil
        stage.origin.hasSeparateAudio = true
        stage.origin.bitRates = [1_000_000]
        stage.limit = .seconds(60)
        stage.answer = { request, response in
            guard request.urlString.contains("/1/live.m3u8") else { return response }
            var response = response
            let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
                .filter { !$0.hasPrefix("#EXT-X-PART") }
            response.body = Array(lines.joined(separator: "\n").utf8)
            return response
        }
        let session = try stage.play()
        Self.expectSmooth(session, stalls: 1)
        #expect(session.play.state.currentTime.seconds > 40)
    }

    @Test("M05: an audio rendition that stops for a while is waited for, and nothing is lost")
    func stopped() throws {
        let session = try Self.renditions { origin in
            origin.faults = [.init(.status(503), during: .seconds(10)..<(.seconds(14)), of: 1)]
        }
        Self.expectSmooth(session, stalls: 2)
        #expect(session.play.state.currentTime.seconds > 20)
    }

    @Test("M05: an audio rendition that stops for good is not requested excessively")
    func stoppedForGood() throws {
        let session = try Self.renditions {
            $0.faults = [.init(.stops, during: .seconds(10)..<(.seconds(1000)), of: 1)]
        }
        #expect(session.stallCount == 1)
        #expect(session.visits.lists.count { $0.urlString.contains("/1/live.m3u8") } < 60)
        #expect(session.visits.lists.count { $0.urlString.contains("/0/live.m3u8") } < 80)
    }

    @Test("M05: subtitles in segments next to parts are shown and delay nothing")
    func subtitles() throws {
        var stage = PartStage()
        stage.variant = nil
        stage.limit = .seconds(30)
        let cues = Cues()
        stage.answer = { request, response in
            if request.urlString.hasSuffix("index.m3u8") {
                return .playlist(
                    String(decoding: response.body, as: UTF8.self).replacing(
                        "#EXT-X-STREAM-INF:", with: "#EXT-X-STREAM-INF:SUBTITLES=\"subtitles\",")
                        + "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"subtitles\",NAME=\"English\",LANGUAGE=\"en\","
                        + "URI=\"subtitles/live.m3u8\"\n")
            }
            guard request.urlString.contains("/subtitles/") else { return response }
            let count = 8 + Int(request.time / .seconds(2))
            guard request.urlString.hasSuffix(".vtt") else {
                return .playlist(
                    "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(count - 8)\n"
                        + (count - 8..<count).map { "#EXTINF:2,\n\($0).vtt\n" }.joined())
            }
            let number = Int(request.name.split(separator: "/")[1]) ?? 0
            return SimulatedResponse(
                contentType: "text/vtt",
                body: Array(
                    """
                    WEBVTT
                    X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:\(number * 180_000)

                    00:00:00.500 --> 00:00:01.500
                    cue \(number)

                    """.utf8))
        }
        let session = try stage.play(prefer: { item in
            item.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions)
            try? item.add(cues)
        })
        Self.expectSmooth(session)
        #expect(cues.all.count >= 10)
        let offset = try #require(session.play.state.liveOffset)
        #expect(offset <= .milliseconds(1750))
    }

    private final class Cues: CueReceiver {
        let binding = OutputBinding()
        private let state = Mutex<Set<String>>([])
        var all: Set<String> { state.withLock { $0 } }
        func receive(_ cues: [LegibleCue]) { state.withLock { $0.formUnion(cues.map(\.text)) } }
        func replace(_ changes: [CueChange]) {}
        func removeCues() {}
        func flush(generation: Int) {}
        func finish(_ type: MediaKind, at clock: OutputClock) {}
        func end() {}
    }
}
