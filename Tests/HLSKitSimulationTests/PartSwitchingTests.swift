import HLSKitCore
import HLSKitSimulation
import Testing

/// Parts last 0.5 s, four to a segment. Every other part is independent.
@Suite("Variant switches inside a segment", .timeLimit(.minutes(10)))
struct PartSwitchingTests {
    private static func play(_ origin: LowLatencyOrigin, at time: Duration) throws -> PartStage.Session {
        var stage = PartStage()
        stage.origin = origin
        stage.variant = nil
        stage.limit = .seconds(12)
        stage.acts = [(time, { @Sendable item in item.preferredPeakBitRate = 0 })]
        return try stage.play(prefer: { $0.preferredPeakBitRate = 500_000 })
    }

    @Test(
        "M05: another variant starts at the next independent part, within a second",
        arguments: [4_100, 4_600, 5_100, 5_600])
    func switches(milliseconds: Int) throws {
        let time = Duration.milliseconds(milliseconds)
        let session = try Self.play(LowLatencyOrigin(), at: time)
        #expect(session.stallCount + session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.presented.breaks == [])
        let first = try #require(session.visits.media.first { $0.name.hasPrefix("1/") })
        #expect(first.time - time <= .milliseconds(1100), "\(first.name) at \(first.time)")
        // Every other part is independent, including one in the middle of each segment.
        #expect(first.name.hasSuffix((4500..<5500).contains(milliseconds) ? ".2" : ".0"), "\(first.name)")
        // No part is loaded from both variants, except one that the old playlist has hinted at.
        let parts = session.visits.names.map { $0.split(separator: "/")[1] }
        #expect(parts.count - Set(parts).count <= 1)
        #expect(session.visits.names.last?.hasPrefix("1/") == true)
    }

    @Test("M05: another variant with fewer independent parts starts earlier, without repetition")
    func earlier() throws {
        for milliseconds in [4_100, 4_600, 5_100, 5_600] {
            var origin = LowLatencyOrigin()
            origin.faults = [.init(.hidesIndependence, of: 1)]
            let session = try Self.play(origin, at: .milliseconds(milliseconds))
            #expect(session.stallCount + session.lossCount == 0)
            #expect(session.presented.breaks == [])
            let first = try #require(session.visits.names.first { $0.hasPrefix("1/") })
            #expect(first.hasSuffix(".0"))
        }
    }

    @Test("M05: without independent parts variants switch at segment starts")
    func segmentStarts() throws {
        var origin = LowLatencyOrigin()
        origin.faults = [.init(.hidesIndependence)]
        for milliseconds in [4_100, 5_100] {
            let time = Duration.milliseconds(milliseconds)
            let session = try Self.play(origin, at: time)
            #expect(session.stallCount + session.lossCount == 0)
            #expect(session.presented.breaks == [])
            let first = try #require(session.visits.media.first { $0.name.hasPrefix("1/") })
            #expect(first.name.hasSuffix(".0"))
            #expect(first.time - time <= .milliseconds(2200))
        }
    }

    @Test("M05: a variant half a second behind starts at its listed end")
    func lagging() throws {
        var origin = LowLatencyOrigin()
        origin.lags = [.zero, .milliseconds(500)]
        let session = try Self.play(origin, at: .milliseconds(4_100))
        #expect(session.stallCount <= 1)
        #expect(session.lossCount == 0)
        #expect(session.presented.breaks == [])
        #expect(session.visits.names.last?.hasPrefix("1/") == true)
    }

    @Test(
        "C10: whatever is reported of another variant, it starts at an independent part, without repetition",
        arguments: [.omitsReports, .reportsAhead(by: 1), .reportsAhead(by: 40), .reportsAhead(by: -5)]
            as [LowLatencyOrigin.Fault.Kind])
    func reports(_ fault: LowLatencyOrigin.Fault.Kind) throws {
        var origin = LowLatencyOrigin()
        origin.faults = [.init(fault)]
        let session = try Self.play(origin, at: .milliseconds(4_100))
        // A blocking request for an unavailable part costs at most the media ahead.
        #expect(session.stallCount <= (fault == .reportsAhead(by: 1) ? 1 : 0), "\(session.play.log.text)")
        #expect(session.lossCount == 0)
        #expect(session.presented.breaks == [])
        #expect(session.visits.names.last?.hasPrefix("1/") == true)
        #expect(session.visits.lists.count { $0.urlString.contains("/1/") } > 8)
    }

    @Test("M05: a variant that stops listing media is left for another one without a loss")
    func stops() throws {
        var stage = PartStage()
        stage.variant = nil
        stage.limit = .seconds(60)
        stage.origin.faults = [.init(.stops, during: .seconds(10)..<(.seconds(1000)), of: 1)]
        let session = try stage.play { $0.initialBitRateHint = 5_000_000 }
        #expect(session.visits.names.prefix(10).allSatisfy { $0.hasPrefix("1/") })
        #expect(session.lossCount == 0, "\(session.play.log.text)")
        #expect(session.presented.breaks == [])
        #expect(session.stallCount <= 1)
        #expect(session.visits.names.last?.hasPrefix("0/") == true)
        #expect(session.play.state.currentTime > .seconds(50))
        #expect(session.visits.lists.count { $0.urlString.contains("/1/") } < 60)
    }
}
