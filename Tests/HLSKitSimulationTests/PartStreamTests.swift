import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Faulty streams of parts", .timeLimit(.minutes(10)))
struct PartStreamTests {
    private static func faulty(
        _ kind: LowLatencyOrigin.Fault.Kind, from start: Duration = .seconds(10), to end: Duration = .seconds(1000)
    ) -> PartStage {
        var stage = PartStage()
        stage.limit = .seconds(40)
        stage.origin.faults = [.init(kind, during: start..<end)]
        return stage
    }

    @Test("M05: an encoder that pauses only causes waits, and playback then uses parts again")
    func pauses() throws {
        let session = try Self.faulty(.pauses, to: .seconds(30)).play()
        #expect(session.lossCount == 0)
        #expect(session.presented.breaks == [])
        #expect((1...2).contains(session.stallCount), "\(session.play.log.text)")
        #expect(session.count("no low latency") == 0)
        #expect(session.visits.names.last?.contains(".") == true)
    }

    @Test("R45: a server that restarts its sequence is played on, each part once")
    func restarts() throws {
        var stage = PartStage()
        stage.limit = .seconds(50)
        var second = LowLatencyOrigin()
        second.windowSegmentCount = 2
        second.epoch = second.epoch + .seconds(86_400)
        let after = second
        stage.answer = { request, response in
            guard request.time >= .seconds(14) else { return response }
            var request = request
            request.time -= .seconds(14)
            return after.response(to: request)
        }
        let session = try stage.play()
        #expect(session.count("item failed") == 0, "\(session.play.log.text)")
        #expect(session.count("restarted its segment numbers") == 1)
        #expect(session.stallCount <= 2)
        // Unrequested segments with the old numbers are lost. No frame repeats.
        #expect(session.presented.breaks.count <= 1)
        let frames = session.presented.frames
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })
        #expect(session.visits.names.last?.contains(".") == true)
        #expect(session.play.state.currentTime > .seconds(35))
    }

    @Test("M05: jumping numbers, forward or back, have no effect: known parts are recognised")
    func jumps() throws {
        for distance in [1000, -5] {
            var stage = Self.faulty(.renumbers(by: distance))
            stage.origin.firstMediaSequence = 10
            let session = try stage.play()
            #expect(session.lossCount == 0)
            #expect(session.presented.breaks == [])
            #expect(session.stallCount <= 1, "\(distance): \(session.play.log.text)")
        }
    }

    @Test("M05: a playlist that omits segments reports the loss, and playback continues with parts")
    func leap() throws {
        var stage = PartStage()
        stage.limit = .seconds(50)
        // Playlists fail for 20 s, during which the window moves beyond its old content.
        stage.origin.windowSegmentCount = 4
        stage.origin.faults = [.init(.status(503), during: .seconds(10)..<(.seconds(30)))]
        let session = try stage.play()
        #expect(session.count("item failed") == 0)
        #expect(session.count(" missed segments") == 1, "\(session.play.log.text)")
        #expect(session.stallCount <= 2)
        let frames = session.presented.frames
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })
        #expect(session.visits.names.last?.contains(".") == true)
    }

    @Test("M05: without independent parts playback starts, seeks and lands at segments")
    func entries() throws {
        var stage = PartStage()
        stage.origin.faults = [.init(.hidesIndependence)]
        stage.limit = .seconds(30)
        let session = try stage.play()
        #expect(session.lossCount + session.stallCount == 0)
        #expect(session.presented.breaks == [])
        #expect(session.visits.names.first == "1/7.0")
        var some = PartStage()
        some.origin.independentInterval = 20
        some.limit = .seconds(30)
        let other = try some.play()
        #expect(other.lossCount + other.stallCount == 0, "\(other.play.log.text)")
        #expect(other.presented.breaks == [])
        #expect(other.visits.names.first == "1/7.0")
    }

    @Test("M05: a connection lost in a growing segment is opened again, part by part")
    func resets() throws {
        for count in [1000, 30_000] {
            var stage = Self.faulty(.resets(after: count), from: .seconds(10), to: .seconds(14))
            stage.origin.addressing = .ranges
            let session = try stage.play()
            #expect(session.lossCount == 0)
            #expect(session.presented.breaks == [], "\(count)")
            #expect(session.stallCount <= 2)
        }
    }

    @Test("the same faults give the same log, byte for byte")
    func determinism() throws {
        let stage = Self.faulty(.resets(after: 1000), from: .seconds(10), to: .seconds(14))
        #expect(try stage.play().play.log.text == stage.play().play.log.text)
    }
}
