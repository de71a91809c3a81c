import HLSKitCore
import HLSKitSimulation
import Testing

/// Listed parts that cannot be loaded. Parts last 0.5 s, four to a segment. Segment 10 begins at 4 s.
@Suite("Failing parts", .timeLimit(.minutes(10)))
struct PartFailureTests {
    enum Failure: String, CaseIterable, Sendable {
        case notFound, unavailable, cut, noConnection, damaged

        func response(to request: SimulatedRequest, _ response: SimulatedResponse) -> SimulatedResponse {
            var response = response
            switch self {
            case .notFound: return .notFound
            case .unavailable: return .status(503)
            case .cut: response.ending = .cut(after: 300)
            case .noConnection: return .failure(.network)
            case .damaged: response.body = response.body.map { ~$0 }
            }
            return response
        }
    }

    private static func stage(
        _ failure: Failure, of names: Set<String>, times: Int = .max, variant: Int? = 1
    ) -> PartStage {
        var stage = PartStage()
        stage.limit = .seconds(16)
        stage.variant = variant
        stage.answer = { request, response in
            names.contains(request.name) && request.attempt < times
                ? failure.response(to: request, response) : response
        }
        return stage
    }

    @Test("M05: a part that fails once is requested once more", arguments: Failure.allCases)
    func again(_ failure: Failure) throws {
        let session = try Self.stage(failure, of: ["1/10.1"], times: 1).play()
        #expect(session.stallCount + session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.presented.breaks == [])
        #expect(session.visits.names.count { $0 == "1/10.1" } == 2)
        #expect(!session.visits.names.contains("1/10"))
    }

    @Test(
        "M05: a part that fails twice is loaded with its listed segment, without loss or repetition",
        arguments: zip(Failure.allCases + [.damaged], [0, 1, 2, 3, 1, 3]))
    func whole(_ failure: Failure, part: Int) throws {
        let session = try Self.stage(failure, of: ["1/10.\(part)"]).play()
        #expect(session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.presented.breaks == [])
        #expect(session.stallCount <= 1)
        #expect(session.visits.names.count { $0 == "1/10" } == 1)
        #expect((2...6).contains(session.visits.names.count { $0 == "1/10.\(part)" }))
        #expect(session.visits.names.contains("1/11.0") && session.visits.names.contains("1/13.3"))
        #expect(session.play.state.currentTime > .seconds(25))
    }

    @Test("M05: a part that another variant has is loaded from there", arguments: Failure.allCases)
    func elsewhere(_ failure: Failure) throws {
        let session = try Self.stage(failure, of: ["1/10.1"], variant: nil).play()
        #expect(session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.presented.breaks == [])
        #expect(session.stallCount == 0)
        #expect(session.visits.names.contains { $0.hasPrefix("0/10") })
    }

    @Test("M05: a part that no variant has is skipped, and playback continues")
    func skipped() throws {
        let session = try Self.stage(.notFound, of: ["1/10.1", "1/10"]).play()
        #expect(session.count("item failed") == 0)
        #expect(session.count(" skipped segments") == 1, "\(session.play.log.text)")
        #expect(session.visits.names.contains("1/13.3"))
        #expect(session.play.state.timeControlStatus == .playing)
    }

    @Test("M05: truncated byte ranges of a growing segment are loaded with the segment")
    func ranges() throws {
        var stage = PartStage()
        stage.limit = .seconds(16)
        stage.origin.addressing = .ranges
        stage.answer = { request, response in
            var response = response
            // Each connection breaks in the middle of the range.
            if request.name.hasPrefix("1/10@"), request.name != "1/10@0" { response.ending = .cut(after: 300) }
            return response
        }
        let session = try stage.play()
        #expect(session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.presented.breaks == [])
        #expect(session.stallCount <= 1)
        #expect(session.visits.names.count { $0 == "1/10" } == 1)
    }

    @Test("M05: unlisted parts at the end of segments cause no loss and no repetition")
    func dropped() throws {
        for count in [1, 2, 3] {
            var stage = PartStage()
            stage.limit = .seconds(16)
            stage.origin.faults = [.init(.dropsLastParts(count), during: .seconds(5)..<(.seconds(1000)))]
            let session = try stage.play()
            #expect(session.lossCount == 0)
            #expect(session.presented.breaks == [], "\(count)")
            #expect(session.stallCount <= 2, "\(count)")
        }
    }

    @Test("M05: parts removed from the playlist when their segment is complete are loaded with it")
    func gone() throws {
        var stage = PartStage()
        stage.limit = .seconds(16)
        // From 5 s on, only the unfinished segment has parts.
        stage.answer = { request, response in
            guard request.time > .seconds(5), request.urlString.contains("live.m3u8") else { return response }
            var lines: [Substring] = []
            for line in String(decoding: response.body, as: UTF8.self).split(separator: "\n") {
                if line.hasPrefix("#EXTINF") { lines.removeAll { $0.hasPrefix("#EXT-X-PART:") } }
                lines.append(line)
            }
            var response = response
            response.body = Array(lines.joined(separator: "\n").utf8)
            return response
        }
        let session = try stage.play()
        #expect(session.lossCount == 0)
        #expect(session.presented.breaks == [])
        #expect(session.stallCount <= 1)
    }

    @Test("M05: a part with GAP=YES is skipped, or loaded from another variant")
    func gaps() throws {
        for variant in [1, nil] {
            var stage = PartStage()
            stage.limit = .seconds(16)
            stage.variant = variant
            stage.answer = { request, response in
                guard request.urlString.contains("/1/live.m3u8") else { return response }
                let text = String(decoding: response.body, as: UTF8.self)
                var changed = response
                changed.body = Array(
                    text.split(separator: "\n").map { $0.contains("URI=\"10.2.m4s\"") ? $0 + ",GAP=YES" : $0 }
                        .joined(separator: "\n").utf8)
                return changed
            }
            stage.origin.givesHints = false
            let session = try stage.play()
            #expect(session.count("item failed") == 0)
            #expect(!session.visits.names.contains("1/10.2"))
            #expect(session.stallCount <= 1, "\(session.play.log.text)")
            if variant == nil {
                #expect(session.presented.breaks == [])
                #expect(session.visits.names.contains { $0.hasPrefix("0/10.2") })
            } else {
                #expect(session.presented.breaks.count == 1)
                #expect(session.visits.names.contains("1/10.3") && !session.visits.names.contains("1/10"))
            }
        }
    }
}
