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

    @Test("what is not a shard is refused", arguments: ["", "1", "0/3", "4/3", "a/b", "1/2/3", "-1/3", "1/9999999"])
    func badShards(text: String) {
        #expect(throws: ArgumentValueError.self) { try ShardArgument(parsing: text) }
    }

    @Test("the shards of a sweep hold every trace once")
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

    @Test("every family weighs the same, whatever its number of traces")
    func means() throws {
        let text = #"{"segment_duration_ms":2000,"bitrates_kbps":[1000],"segment_sizes_bits":[[2000000],[2000000]]}"#
        let movie = try MovieFile(parsing: Array(text.utf8))
        func row(_ family: String, _ kilobits: Int) throws -> SimulationSweep.Row {
            var options = SimulationRun.Options()
            options.keepUpPolicy = .bufferOnly(start: .zero, afterRebuffer: .zero)
            var run = try SimulationRun(
                trace: NetworkTrace(parsing: "1000,\(kilobits),0\n".utf8), movie: movie, options: options)
            let session = try run.run()
            return .init(trace: "t", family: family, movie: "m", score: session.score)
        }
        let rows = [try row("a", 2000), try row("b", 4000), try row("b", 4000), try row("b", 4000)]
        let report = SimulationReport(rule: "hlskit", bufferCap: 30_000, rows: rows)
        // Start after 1 s and after 0.5 s.
        #expect(report.json.text.contains(#""startup_s":0.75"#))
        #expect(report.csv(withHeader: true).split(separator: "\n").count == 5)
        #expect(report.csv(withHeader: false).split(separator: "\n").count == 4)
        #expect(report.table.contains("all families"))
    }
}
