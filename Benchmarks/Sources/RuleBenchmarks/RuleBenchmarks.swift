import Glibc
import HLSKitCore
import HLSKitSimulation

/// Prints how many hours of playback each rule simulates in a second of processor time, and the cost of a decision.
///
/// `swift run -c release RuleBenchmarks` in `Benchmarks/` generates networks and a movie. `RuleBenchmarks MOVIE
/// TRACE...` loads them from files.
@main
enum RuleBenchmarks {
    private static let rules: [(name: String, rule: any VariantSelector)] = [
        ("hlskit", ScenarioRule()), ("throughput", ThroughputRule()), ("bola", BOLARule()),
        ("robustmpc", RobustMPCRule()),
    ]

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        var traces: [NetworkTrace] = []
        let movie: MovieFile
        if let path = arguments.first {
            movie = try MovieFile(contentsOfFile: path)
            traces = try arguments.dropFirst().map { try NetworkTrace(contentsOfFile: $0) }
        } else {
            movie = try Samples.movie(segmentCount: 150)
            traces = try (1...20).map { try Samples.trace(seed: UInt64($0)) }
        }
        print("simulated hours per second of processor time, \(traces.count) sessions")
        for (name, rule) in rules {
            for knowsSizes in [false, true] {
                let speed = try hoursPerSecond(rule, knowsSizes: knowsSizes, movie, traces)
                let sizes = knowsSizes ? "sizes known" : "sizes unknown"
                print("  \(name.padded(12))\(sizes.padded(16))\(decimals(speed).leftPadded(8))")
            }
        }
        print("one decision, median                    µs    allocations      bytes")
        for (name, rule) in rules {
            for segmentCount in [100, 5000] {
                let movie = try Samples.movie(segmentCount: segmentCount)
                let costs = try costs(of: rule, movie, Samples.trace(seed: 1))
                print(
                    "  \(name.padded(12))\("\(segmentCount) segments".padded(16))"
                        + decimals(median(costs.nanoseconds) / 1000).leftPadded(12)
                        + decimals(median(costs.allocations)).leftPadded(15)
                        + decimals(median(costs.bytes)).leftPadded(11))
            }
        }
    }

    private static func hoursPerSecond(
        _ rule: any VariantSelector, knowsSizes: Bool, _ movie: MovieFile, _ traces: [NetworkTrace]
    ) throws -> Double {
        var best = 0.0
        for _ in 0..<3 {
            var hours = 0.0
            let start = Seconds.now(CLOCK_PROCESS_CPUTIME_ID)
            for trace in traces {
                var options = SimulationRun.Options(variantSelector: rule)
                options.knowsSegmentSizes = knowsSizes
                var run = try SimulationRun(trace: trace, movie: movie, options: options)
                hours += try run.run().endTime / .seconds(3600)
            }
            best = max(best, hours / (Seconds.now(CLOCK_PROCESS_CPUTIME_ID) - start))
        }
        return best
    }

    private static func costs(
        of rule: any VariantSelector, _ movie: MovieFile, _ trace: NetworkTrace
    ) throws -> DecisionCosts {
        let costs = DecisionCosts()
        var options = SimulationRun.Options(variantSelector: TimedRule(rule: rule, costs: costs))
        options.knowsSegmentSizes = true
        var run = try SimulationRun(trace: trace, movie: movie, options: options)
        _ = try run.run()
        return costs
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    private static func decimals(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
