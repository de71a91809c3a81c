import ArgumentParser
import HLSGetKit
import HLSKitCore
import HLSKitSimulation
import Testing

@testable import hlsget

@Suite("Arguments of simulate")
struct SimulateArgumentTests {
    @Test("a shard is one of N, counted from 1", arguments: ["1/1", "2/10", "10/10"])
    func shards(text: String) throws {
        let shard = try ShardArgument(parsing: text)
        #expect("\(shard.index)/\(shard.count)" == text)
    }

    @Test("an invalid shard is refused", arguments: ["", "1", "0/3", "4/3", "a/b", "1/2/3", "-1/3", "1/9999999"])
    func badShards(text: String) {
        #expect(throws: ArgumentValueError.self) { try ShardArgument(parsing: text) }
    }

    @Test("the shards of a sweep contain every trace once")
    func shardsPartition() {
        for count in 1...7 {
            for position in 0..<50 {
                let holders = (1...count).filter { ShardArgument(index: $0, count: count).contains(position) }
                #expect(holders.count == 1)
            }
        }
    }

    @Test("keep-up policies are read")
    func keepUp() throws {
        #expect(try KeepUpArgument.parse("predictive") == .predictive)
        #expect(
            try KeepUpArgument.parse("bufferOnly:0,2.5")
                == .bufferOnly(start: .zero, afterRebuffer: .milliseconds(2500)))
        for text in ["bufferOnly", "bufferOnly:1", "bufferOnly:1,2,3", "bufferOnly:a,b", "other:1,2", ""] {
            #expect(throws: ArgumentValueError.self) { try KeepUpArgument.parse(text) }
        }
    }

    @Test("a variant is pinned by its number, or by the mean rate of the trace")
    func pins() throws {
        let text = #"{"segment_duration_ms":2000,"bitrates_kbps":[1000,2000,4000],"segment_sizes_bits":[[2,4,8]]}"#
        let movie = try MovieFile(parsing: Array(text.utf8))
        let trace = try NetworkTrace(parsing: "1000,1000,0\n1000,4000,0\n".utf8)
        #expect(try PinArgument.parse("2").variant(of: movie, over: trace) == 2)
        #expect(try PinArgument.parse("mean:0.9").variant(of: movie, over: trace) == 1)
        #expect(try PinArgument.parse("mean:2").variant(of: movie, over: trace) == 2)
        #expect(try PinArgument.parse("mean:0.3").variant(of: movie, over: trace) == nil)
        for text in ["", "-1", "mean", "mean:", "mean:0", "mean:-1", "mean:x", "x", "mean:nan"] {
            #expect(throws: ArgumentValueError.self) { try PinArgument.parse(text) }
        }
    }

    private func row(_ family: String, trace: String = "t", kilobits: Int) throws -> SimulationReport.Row {
        let text = #"{"segment_duration_ms":2000,"bitrates_kbps":[1000],"segment_sizes_bits":[[2000000],[2000000]]}"#
        let movie = try MovieFile(parsing: Array(text.utf8))
        var options = SimulationRun.Options()
        options.keepUpPolicy = .bufferOnly(start: .zero, afterRebuffer: .zero)
        var run = try SimulationRun(
            trace: NetworkTrace(parsing: "1000,\(kilobits),0\n".utf8), movie: movie, options: options)
        return SimulationReport.Row(
            trace: trace, family: family, movie: "m", bufferCap: 30_000, rule: "hlskit",
            values: SimulationReport.values(try run.run().score))
    }

    @Test("every family has the same weight, whatever its number of traces")
    func means() throws {
        let rows = [try row("a", kilobits: 2000)] + (try (1...3).map { try row("b", trace: "t\($0)", kilobits: 4000) })
        let report = SimulationReport(rows: rows)
        // Startup takes 1 s and 0.5 s.
        #expect(report.json.text.contains(#""startup_s":0.75"#))
        #expect(report.csv(withHeader: true).split(separator: "\n").count == 5)
        #expect(report.csv(withHeader: false).split(separator: "\n").count == 4)
        #expect(report.table.contains("all families"))
    }

    @Test("shards merge to the whole report, in any order, concatenated or not")
    func merging() throws {
        let rows = try (1...7).map { try row($0 < 4 ? "a, \"b\"" : "c", trace: "t\($0)", kilobits: 900 + 300 * $0) }
        let whole = SimulationReport(rows: rows)
        let shards = (1...3).map { index in
            let shard = ShardArgument(index: index, count: 3)
            let part = SimulationReport(rows: rows.indices.filter(shard.contains).map { rows[$0] })
            return part.csv(withHeader: index == 1)
        }
        let files = shards.enumerated().map { (path: "\($0.offset)", text: $0.element) }
        for merged in [
            try SimulationReport(merging: files), try SimulationReport(merging: files.reversed()),
            try SimulationReport(merging: [(path: "all", text: shards.joined())]),
        ] {
            #expect(merged.table == whole.table)
            #expect(merged.rows.map(\.trace) == whole.rows.map(\.trace))
            #expect(merged.rows.map(\.family) == whole.rows.map(\.family))
        }
    }

    @Test("duplicate or unrelated reports are not merged")
    func badMerges() throws {
        let good = SimulationReport(rows: [try row("a", kilobits: 2000)]).csv(withHeader: true)
        let cases: [([String], String)] = [
            ([good, good], "duplicate"), ([good, good.replacing(",hlskit,", with: ",bola,")], "different runs"),
            (["x,y\n"], "not a result"), ([""], "no results"), ([good + "a,t,m,30000,hlskit,1,2,3\n"], "not a result"),
            ([good + "\"a,t,m\n"], "not a result"),
        ]
        for (texts, cause) in cases {
            let error = #expect(throws: SimulationFailure.self) {
                try SimulationReport(merging: texts.map { (path: "p", text: $0) })
            }
            #expect(error?.cause.contains(cause) == true)
        }
    }

    @Test(
        "contradicting or incomplete options are refused",
        arguments: [
            (["--movie", "m"], "--trace"), (["--trace", "t"], "--movie"),
            (["--merge", "a.csv", "--trace", "t"], "--merge"),
            (["--trace", "t", "--movie", "m", "--explain"], "--log"),
            (["--trace", "t", "--movie", "m", "--rule", "x"], "throughput"),
            (["--trace", "t", "--movie", "m", "--jobs", "0"], "--jobs"),
            (["--trace", "t", "--movie", "m", "--pin", "-1"], "--pin"),
            (["--trace", "t", "--movie", "m", "--rule", "optimum", "--pin", "1"], "--rule optimum"),
            (["--trace", "t", "--movie", "m", "--rule", "optimum", "--explain", "--log", "l"], "--rule optimum"),
        ] as [([String], String)])
    func usage(arguments: [String], words: String) {
        do {
            _ = try HLSGet.parseAsRoot(["simulate"] + arguments)
            Issue.record("\(arguments) is accepted")
        } catch {
            #expect(HLSGet.exitCode(for: error).rawValue == 64)
            #expect(HLSGet.fullMessage(for: error).contains(words), "\(HLSGet.fullMessage(for: error))")
        }
    }
}
