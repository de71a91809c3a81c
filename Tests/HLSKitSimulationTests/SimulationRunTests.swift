import HLSKitCore
import Testing

@testable import HLSKitSimulation

@Suite("Simulation run")
struct SimulationRunTests {
    static let movieText = """
        {"segment_duration_ms": 4000, "bitrates_kbps": [1000, 2000, 4000],
         "segment_sizes_bits": [\(Array(repeating: "[4000000, 8000000, 16000000]", count: 20).joined(separator: ","))]}
        """

    let movie: MovieFile

    init() throws { movie = try MovieFile(parsing: Array(Self.movieText.utf8)) }

    func run(
        _ trace: String, _ rule: any VariantSelector = ScenarioRule(),
        _ change: (inout SimulationRun.Options) -> Void = { _ in }
    ) throws -> SimulatedSession {
        var options = SimulationRun.Options(variantSelector: rule)
        change(&options)
        var run = try SimulationRun(trace: NetworkTrace(parsing: trace.utf8), movie: movie, options: options)
        return try run.run()
    }

    @Test("a constant link gives the calculated times")
    func constant() throws {
        let session = try run("1000,8000,100\n", ThroughputRule()) { $0.pinnedVariant = 1 }
        #expect(session.segments.count == 20)
        #expect(session.stalls.isEmpty)
        // 100 ms of latency, and 8 Mbit at 8 Mbit/s.
        #expect(session.segments.map(\.variant) == [Int](repeating: 1, count: 20))
        for segment in session.segments { #expect(abs(segment.done - segment.requested - 1100) < 0.01) }
        #expect(abs(session.end - (session.starts[0] + 80_000)) < 1)
        #expect(session.abandons.isEmpty)
    }

    @Test("the buffer limit applies before every request", arguments: [8, 12, 30])
    func limit(seconds: Int) throws {
        let session = try run("1000,50000,20\n") { $0.bufferLimit = .seconds(seconds) }
        for segment in session.segments { #expect(segment.buffered <= Double(seconds) * 1000 + 0.1) }
        #expect(session.segments.map(\.buffered).max() ?? 0 > Double(seconds - 4) * 1000)
    }

    private static let film = """
        {"segment_duration_ms": 4000, "bitrates_kbps": [1000, 2000],
         "segment_sizes_bits": [\(Array(repeating: "[4000000, 8000000]", count: 150).joined(separator: ","))]}
        """

    @Test(
        "a link below the lowest variant stalls a few times, and waiting adds no time",
        arguments: [0.5, 0.7, 0.8, 0.9, 0.95, 0.98], [nil, 0])
    func belowLowest(share: Double, pinned: Int?) throws {
        for limit in [30, 300] {
            var options = SimulationRun.Options()
            options.bufferLimit = .seconds(limit)
            options.pinnedVariant = pinned
            var run = try SimulationRun(
                trace: NetworkTrace(parsing: "10000000,\(Int(1000 * share)),50\n".utf8),
                movie: MovieFile(parsing: Array(Self.film.utf8)), options: options)
            let session = try run.run()
            let least = 600 / share - 600 + 150 * 0.05
            let wait = session.startupTime.seconds + session.stallDuration.seconds
            #expect(
                wait <= 1.1 * least + 10,
                "\(limit) s: \(wait) s, at least \(least) s; \(session.segments.map(\.variant))")
            // A full buffer plays for this long.
            let fullBuffers = max(0, Int((600 * (1 - share) / Double(limit)).rounded(.up)) - 1)
            #expect(session.stalls.count <= fullBuffers + 4, "\(limit) s: \(session.stalls)")
        }
    }

    /// link    |████████████|            |████████
    /// status  |playing          |stall      |playing
    @Test("an outage longer than the buffer stalls once, and playback continues after it")
    func outage() throws {
        let session = try run("20000,3000,50\n40000,0,50\n200000,3000,50\n")
        #expect(session.stalls.count == 1)
        #expect(session.starts.count == 2)
        #expect(session.score.stallDuration > .seconds(5))
        #expect(session.segments.map(\.index) == Array(0..<20))
        #expect(abs(session.end / 1000 - (session.startupTime.seconds + session.stallDuration.seconds + 80)) < 0.01)
    }

    @Test("when the link collapses the current download is abandoned for a smaller one")
    func abandon() throws {
        let session = try run("6500,12000,50\n10000,400,50\n300000,1300,50\n")
        let abandon = try #require(session.abandons.first)
        let segment = try #require(session.segments.first { $0.index == abandon.index })
        #expect(segment.variant < abandon.variant)
        #expect(segment.requested >= abandon.aborted)
        #expect(session.statistics.numberOfAbandonedDownloads == session.abandons.count)
        #expect(session.score.wastedPercentage > 0)
        #expect(session.stalls.isEmpty)
    }

    @Test("downloads do not overlap and none is faster than the link")
    func physics() throws {
        let text = "2000,9000,80\n1500,400,80\n700,0,80\n3000,2500,30\n"
        let trace = try NetworkTrace(parsing: text.utf8)
        for rule in [ScenarioRule(), ThroughputRule(), BOLARule(), RobustMPCRule()] as [any VariantSelector] {
            let session = try run(text, rule)
            var intervals = session.segments.map { ($0.requested, $0.done) }
            intervals += session.abandons.map { ($0.requested, $0.aborted) }
            intervals.sort { $0.0 < $1.0 }
            for (one, next) in zip(intervals, intervals.dropFirst()) { #expect(next.0 >= one.1 - 0.001) }
            for segment in session.segments {
                let earliest = trace.completionTime(ofBits: segment.bitCount, requestedAt: segment.requested)
                #expect(abs(segment.done - earliest) < 0.01)
            }
        }
    }

    @Test("the same inputs give the same log, byte for byte")
    func repeatable() throws {
        let text = "2000,9000,80\n1500,400,80\n700,0,80\n3000,2500,30\n"
        #expect(try run(text).log == run(text).log)
    }

    @Test("explanations add a reason for every decision and change nothing else")
    func explanations() throws {
        let trace = "6500,12000,50\n300000,1300,50\n"
        let plain = try run(trace)
        let explained = try run(trace) { $0.explainsDecisions = true }
        #expect(plain.decisions.isEmpty)
        #expect(plain.segments == explained.segments)
        // The first segment uses the initial choice, without the rule.
        #expect(explained.decisions.count { !$0.abandonsDownload } >= 19 - explained.abandons.count)
        #expect(explained.decisions.count(where: \.abandonsDownload) == explained.abandons.count)
        #expect(explained.decisions.allSatisfy { !$0.explanation.isEmpty })
        #expect(explained.log.contains(#""type":"decision""#))
        #expect(!plain.log.contains(#""type":"decision""#))
    }

    @Test("the log has a line for everything, in order")
    func log() throws {
        let session = try run("6500,12000,50\n10000,400,50\n300000,1300,50\n")
        let lines = session.log.split(separator: "\n")
        #expect(lines.count == 1 + 20 + session.abandons.count + session.starts.count + session.stalls.count + 1)
        #expect(
            lines[0]
                == #"{"type":"session","version":1,"buffer_cap_ms":30000,"segment_duration_ms":4000,"segments":20}"#)
        #expect(
            lines[1]
                == #"{"type":"segment","index":0,"variant":0,"request_time_ms":0,"first_byte_time_ms":50,"done_time_ms":383.333,"size_bits":4000000,"buffer_ms":4000}"#
        )
        #expect(lines.last?.hasPrefix(#"{"type":"end","#) == true)
    }

    @Test("a session's times are durations in the API")
    func times() throws {
        let session = try run("6500,12000,50\n10000,400,50\n300000,1300,50\n")
        #expect(session.starts.count == session.stallTimes.count + 1)
        #expect(zip(session.stallTimes, session.starts.dropFirst()).allSatisfy { $0.milliseconds < $1 })
        #expect(session.endTime >= .seconds(80) + session.startupTime)
        #expect(try NetworkTrace(parsing: "6500,12000,50\n".utf8).duration == .milliseconds(6500))
    }

    @Test("the score equals the published formula")
    func score() throws {
        let session = try run("1000,8000,100\n", ThroughputRule()) { $0.pinnedVariant = 1 }
        let score = session.score
        #expect(score.startupTime == .milliseconds(1100))
        #expect(abs(score.normalizedQoE - (20 * 2 - 4 * 1.1) / 20 / 4) < 1e-6)
        #expect(score.switchesPerMinute == 0)
        #expect(abs(score.meanKilobitsPerSecond - 2000) < 1e-6)
    }

    @Test("impossible simulations are refused")
    func refusals() throws {
        #expect(throws: HLSError.self) { try run("1000,0,10\n") }
        #expect(throws: HLSError.self) { try run("1000,10,10\n") { $0.pinnedVariant = 3 } }
        #expect(throws: HLSError.self) { try run("1000,10,10\n") { $0.bufferLimit = .seconds(2) } }
    }

    struct BadMovie: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var error: String
    }

    @Test(
        "an invalid movie file is refused with the reason",
        arguments: [
            BadMovie(testDescription: "not JSON", text: "movie", error: "not JSON"),
            BadMovie(testDescription: "empty", text: "{}", error: "segment_duration_ms is missing"),
            BadMovie(
                testDescription: "a text for a number",
                text: #"{"segment_duration_ms":"4","bitrates_kbps":[1],"segment_sizes_bits":[[1]]}"#,
                error: "segment_duration_ms is not of the right type"),
            BadMovie(
                testDescription: "a column too few",
                text: #"{"segment_duration_ms":4000,"bitrates_kbps":[1,2],"segment_sizes_bits":[[1,2],[1]]}"#,
                error: "segment_sizes_bits: row 1 has 1 numbers for 2 variants"),
            BadMovie(
                testDescription: "not ascending",
                text: #"{"segment_duration_ms":4000,"bitrates_kbps":[2,1],"segment_sizes_bits":[[1,2]]}"#,
                error: "bitrates_kbps must be positive and ascending"),
            BadMovie(
                testDescription: "a size of nothing",
                text: #"{"segment_duration_ms":4000,"bitrates_kbps":[1],"segment_sizes_bits":[[0]]}"#,
                error: "segment_sizes_bits: row 0 has an impossible size"),
        ])
    func badMovies(_ movie: BadMovie) {
        let error = #expect(throws: HLSError.self) { try MovieFile(parsing: Array(movie.text.utf8)) }
        #expect(error?.text == movie.error)
    }

    @Test("without declared peaks the peak is the rate of the largest segment")
    func peaks() throws {
        let text = #"{"segment_duration_ms":2000,"bitrates_kbps":[1],"segment_sizes_bits":[[1000],[3001]]}"#
        #expect(try MovieFile(parsing: Array(text.utf8)).peakBitRates == [2000])
    }
}
