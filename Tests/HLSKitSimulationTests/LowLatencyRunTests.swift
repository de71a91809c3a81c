import HLSKitCore
import Testing

@testable import HLSKitSimulation

/// Parts last 0.5 s, four to a segment. `PART-HOLD-BACK` is 1.5 s. The variants are 1, 3 and 6 Mbit/s.
@Suite("Low latency over a trace", .timeLimit(.minutes(10)))
struct LowLatencyRunTests {
    static func run(
        _ trace: String, _ rule: any VariantSelector = ScenarioRule(), seconds: Int = 40,
        change: (inout LowLatencyRun.Options) -> Void = { _ in }
    ) throws -> LowLatencySession {
        var options = LowLatencyRun.Options(variantSelector: rule)
        options.duration = .seconds(seconds)
        change(&options)
        return try LowLatencyRun(trace: NetworkTrace(parsing: trace.utf8), options: options).run()
    }

    @Test("M05: a fast link plays the best variant in parts, PART-HOLD-BACK and a part behind the encoder")
    func fast() throws {
        let session = try Self.run("1000,50000,20\n")
        #expect(session.stalls.isEmpty && session.starts.count == 1)
        #expect(session.loads.count > 75)
        #expect(session.loads.allSatisfy { $0.mediaDuration == 0.5 })
        #expect(session.loads.suffix(60).allSatisfy { $0.variant == 2 })
        // Playback starts at the newest independent part that is far enough from the edge.
        #expect(session.latency.mean > 1.5 && session.latency.percentile95 < 2.2)
        #expect(session.score.meanKilobitsPerSecond > 5000)
        #expect(session.score.switchesPerMinute < 4)
    }

    @Test("M05: the same inputs give the same log, byte for byte")
    func repeatable() throws {
        let trace = "3000,9000,40\n1500,300,60\n4000,3000,30\n700,0,30\n"
        let change: (inout LowLatencyRun.Options) -> Void = { $0.explainsDecisions = true }
        let logs = try (0..<2).map { _ in try Self.run(trace, change: change).log }
        #expect(logs[0] == logs[1])
        for type in ["session", "part", "play", "stall", "latency", "decision", "end"] {
            #expect(logs[0].contains("{\"type\":\"\(type)\""), "\(type)")
        }
    }

    @Test("M05: an outage longer than the buffer stalls once, and the latency grows by it")
    func outage() throws {
        let session = try Self.run("20000,20000,20\n4000,0,20\n200000,20000,20\n")
        #expect(session.stalls.count == 1 && session.starts.count == 2)
        #expect(session.stallSeconds > 1.5 && session.stallSeconds < 5)
        #expect(session.latency.percentile95 > session.latency.median + 1)
    }

    @Test("M05: a link of 6 Mbit/s and 80 ms plays 1.4 Mbit/s without a stall")
    func roundTrip() throws {
        let session = try Self.run("1000,6000,80\n", seconds: 120) { $0.bitRates = [1_400_000] }
        #expect(session.stalls.isEmpty)
        #expect(session.latency.percentile95 < 1.5 + 0.6)
    }

    @Test("M05: on a link that drops to a sixth at times, playback continues in the lowest variant")
    func slump() throws {
        let trace = "15000,20000,20\n3000,1800,20\n"
        let session = try Self.run(trace, seconds: 120)
        #expect(session.stalls.count <= 1)
        #expect(session.loads.contains { $0.variant == 0 })
        // At most one switch down and one up for each slump.
        #expect(session.score.switchesPerMinute < 10)
    }

    @Test("an impossible stream is refused")
    func refused() throws {
        let changes: [(inout LowLatencyRun.Options) -> Void] = [
            { $0.bitRates = [] }, { $0.bitRates = [2_000_000, 1_000_000] }, { $0.partDuration = .zero },
            { $0.partsPerSegment = 3 }, { $0.pinnedVariant = 3 }, { $0.duration = .zero },
            { $0.independentInterval = 0 }, { $0.partHoldBack = .milliseconds(900) },
            { $0.partHoldBack = .seconds(61) },
        ]
        for change in changes {
            #expect(throws: HLSError.self) { try Self.run("1000,1000,0\n", change: change) }
        }
        #expect(throws: HLSError.self) { try Self.run("1000,0,0\n") }
    }
}
