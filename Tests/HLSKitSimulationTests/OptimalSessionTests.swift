import HLSKitCore
import Testing

@testable import HLSKitSimulation

@Suite("the best session that knows the future")
struct OptimalSessionTests {
    private func movie(_ rates: [Int], segments: Int) throws -> MovieFile {
        let rows = Array(repeating: rates.map { $0 * 4000 }, count: segments)
        let text = """
            {"segment_duration_ms": 4000, "bitrates_kbps": \(rates), "segment_sizes_bits": \(rows)}
            """
        return try MovieFile(parsing: Array(text.utf8))
    }

    private func best(_ trace: String, _ movie: MovieFile) throws -> SimulatedSession {
        try OptimalSession(trace: NetworkTrace(parsing: trace.utf8), movie: movie, bufferLimit: .seconds(30)).session()
    }

    @Test("a fast link gets the top variant throughout")
    func fastLink() throws {
        let session = try best("1000,100000,0\n", movie([500, 1000, 4000], segments: 20))
        #expect(session.segments.map(\.variant) == Array(repeating: 2, count: 20))
        #expect(session.stalls.isEmpty && session.score.normalizedQoE > 0.98)
    }

    @Test("an outage that is known in advance is bridged by the buffer, without a stall")
    func knownOutage() throws {
        let session = try best("30000,2000,0\n15000,0,0\n60000,2000,0\n", movie([500, 1000, 4000], segments: 20))
        #expect(session.stalls.isEmpty)
        #expect(session.segments.allSatisfy { $0.buffered <= 30_000.5 })
    }

    @Test("the score of the optimum is at least the score of any rule")
    func upperBound() throws {
        let movie = try movie([300, 750, 1200, 2850, 4300], segments: 40)
        for trace in ["5000,3000,20\n7000,600,80\n3000,5000,20\n", "20000,900,50\n20000,400,50\n"] {
            let optimum = try best(trace, movie).score.normalizedQoE
            for rule: any VariantSelector in [ScenarioRule(), ThroughputRule(), BOLARule(), RobustMPCRule()] {
                var options = SimulationRun.Options(variantSelector: rule)
                options.bufferLimit = .seconds(30)
                var run = try SimulationRun(trace: NetworkTrace(parsing: trace.utf8), movie: movie, options: options)
                let score = try run.run().score.normalizedQoE
                #expect(score <= optimum + 0.001)
            }
        }
    }
}
