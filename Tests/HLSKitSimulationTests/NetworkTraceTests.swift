import HLSKitCore
import Testing

@testable import HLSKitSimulation

@Suite("Network trace")
struct NetworkTraceTests {
    /// 800 kbit/s for 1 s with 50 ms of latency, an outage of 500 ms, then 1600.5 kbit/s for 2 s with 100 ms.
    static let text = """
        # hlskit-trace 1
        # columns: duration_ms,bandwidth_kbps,latency_ms
        1000,800,50
        500,0,50

        2000,1600.5,100
        """

    let trace: NetworkTrace

    @Test("the first line of a trace may name the columns")
    func headerLine() throws {
        for header in ["duration_ms,bandwidth_kbps,latency_ms", "\"Duration\", kbps ,RTT"] {
            let trace = try NetworkTrace(parsing: "# family: x\n\(header)\r\n100,10,0\n".utf8)
            #expect(trace.duration == .milliseconds(100))
        }
        #expect(throws: HLSError.self) { try NetworkTrace(parsing: "a,b,c\na,b,c\n1,1,1\n".utf8) }
        #expect(throws: HLSError.self) { try NetworkTrace(parsing: "1,1,1\na,b,c\n".utf8) }
        #expect(throws: HLSError.self) { try NetworkTrace(parsing: "a,b,c\n".utf8) }
    }

    init() throws { trace = try NetworkTrace(parsing: Self.text.utf8) }

    struct Request: CustomTestStringConvertible {
        var bits: Double
        var time: Double
        var done: Double
        var testDescription: String { "\(bits) bits at \(time)" }
    }

    // The cycle takes 3500 ms and delivers 800 000 + 0 + 3 201 000 = 4 001 000 bits.
    @Test(
        "a request is done when its bits have arrived after the latency",
        arguments: [
            Request(bits: 0, time: 0, done: 50),
            Request(bits: 800, time: 0, done: 51),
            Request(bits: 760_000, time: 0, done: 1000),
            Request(bits: 761_600.5, time: 0, done: 1501),
            Request(bits: 1600.5, time: 1200, done: 1501),
            // The period of the request determines its latency.
            Request(bits: 1600.5, time: 1500, done: 1601),
            Request(bits: 1600.5 * 1900, time: 1500, done: 3500),
            Request(bits: 1600.5 * 1900 + 800, time: 1500, done: 3501),
            Request(bits: 800, time: 3450, done: 3551),
            Request(bits: 800, time: 3_500_000, done: 3_500_051),
            Request(bits: 4_001_000_000, time: 3_500_000, done: 7_000_050),
        ])
    func completion(request: Request) {
        #expect(abs(trace.completionTime(ofBits: request.bits, requestedAt: request.time) - request.done) < 1e-6)
    }

    @Test("the last bit of a cycle arrives before the outage at its end")
    func lastBitOfCycle() throws {
        let trace = try NetworkTrace(parsing: "100,10,0\n900,0,0\n".utf8)
        #expect(trace.completionTime(ofBits: 1000, requestedAt: 0) == 100)
        #expect(trace.completionTime(ofBits: 2000, requestedAt: 0) == 1100)
        #expect(trace.completionTime(ofBits: 1, requestedAt: 100) == 1000.1)
    }

    @Test("a link without bandwidth never delivers")
    func deadLink() throws {
        let trace = try NetworkTrace(parsing: "100,0,5".utf8)
        #expect(trace.completionTime(ofBits: 1, requestedAt: 0) == .infinity)
        #expect(trace.completionTime(ofBits: 0, requestedAt: 0) == 5)
        #expect(trace.deliveredBits(from: 0, to: 1e6) == 0)
    }

    @Test(
        "the bits between two times are the sum over the periods",
        arguments: [
            (0.0, 1000.0, 800_000.0), (500, 1250, 400_000), (1000, 1500, 0), (1400, 1501, 1600.5),
            (0, 3500, 4_001_000), (3500, 7000, 4_001_000), (3499, 3501, 2400.5), (10, 10, 0), (20, 10, 0),
        ])
    func delivered(start: Double, end: Double, bits: Double) {
        #expect(abs(trace.deliveredBits(from: start, to: end) - bits) < 1e-6)
    }

    @Test("the bits received until a request's end equal its size")
    func inverse() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let start = Double.random(in: 0..<100_000, using: &random)
            let bits = Double.random(in: 1..<50_000_000, using: &random)
            let done = trace.completionTime(ofBits: bits, requestedAt: start)
            let begin = start + trace.latency(at: start)
            #expect(abs(trace.deliveredBits(from: begin, to: done) - bits) < 0.01)
            // The time is the earliest possible: shortly before, some bits are missing.
            #expect(trace.deliveredBits(from: begin, to: done - 0.01) < bits)
        }
    }

    @Test("a simple walk over the periods gives the same times")
    func referenceModel() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let rows = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                (
                    duration: Int.random(in: 1...3000, using: &random),
                    rate: Bool.random(using: &random) ? 0 : Int.random(in: 1...20_000, using: &random),
                    latency: Int.random(in: 0...300, using: &random)
                )
            }
            let text = rows.map { "\($0.duration),\($0.rate),\($0.latency)" }.joined(separator: "\n")
            let trace = try NetworkTrace(parsing: text.utf8)
            guard rows.contains(where: { $0.rate > 0 }) else { continue }
            for _ in 0..<20 {
                let start = Double.random(in: 0..<20_000, using: &random)
                let bits = Double.random(in: 1..<20_000_000, using: &random)
                let expected = Self.walk(rows, bits: bits, start: start)
                #expect(abs(trace.completionTime(ofBits: bits, requestedAt: start) - expected) < 1e-3)
            }
        }
    }

    private static func walk(
        _ rows: [(duration: Int, rate: Int, latency: Int)], bits: Double, start: Double
    ) -> Double {
        var index = 0
        var end = Double(rows[0].duration)
        func step() {
            index = (index + 1) % rows.count
            end += Double(rows[index].duration)
        }
        while end <= start { step() }
        var time = start + Double(rows[index].latency)
        while end <= time { step() }
        var left = bits
        while left > (end - time) * Double(rows[index].rate) {
            left -= (end - time) * Double(rows[index].rate)
            time = end
            step()
        }
        return time + left / Double(rows[index].rate)
    }

    @Test("a constant link has its rate and latency at any time")
    func constant() {
        let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 800_000, latency: .milliseconds(50)))
        #expect(trace.bitsPerSecond(at: 123_456.7) == 800_000)
        #expect(trace.latency(at: 1e7) == 50)
        #expect(abs(trace.completionTime(ofBits: 8_000_000, requestedAt: 1e6) - 1_010_050) < 1e-6)
        #expect(trace.meanBitsPerSecond == 800_000)
    }

    @Test("lost packets have TCP's costs: more on a long path, and none on a slow link")
    func loss() throws {
        func rate(_ loss: Double, latency: Int, link: Double = 1e9) -> Double {
            NetworkTrace(
                constant: LinkConditions(bitsPerSecond: link, latency: .milliseconds(latency), packetLoss: loss)
            ).bitsPerSecond(at: 0)
        }
        #expect(rate(0, latency: 100) == 1e9)
        // 11 680 bits every 100 ms, times the square root of 1.5 ÷ 0.01, minus the retransmitted bits.
        #expect(abs(rate(0.01, latency: 100) - 116_800 * 150.0.squareRoot() * 0.99) < 1)
        #expect(abs(rate(0.01, latency: 50) / rate(0.01, latency: 100) - 2) < 1e-9)
        #expect(rate(0.04, latency: 100) < rate(0.01, latency: 100) / 2)
        #expect(rate(0.01, latency: 100, link: 500_000) == 500_000)
        #expect(rate(1, latency: 100) == 0)
        #expect(rate(0.01, latency: 0).isFinite)
        let made = try NetworkTrace(periods: [
            .init(
                duration: .seconds(1),
                conditions: LinkConditions(bitsPerSecond: 8e6, latency: .milliseconds(80), packetLoss: 0.02)),
            .init(duration: .seconds(1), conditions: LinkConditions(bitsPerSecond: 8e6)),
        ])
        #expect(try NetworkTrace(parsing: "1000,8000,80,2\n1000,8000,0,0\n".utf8) == made)
        #expect(made.bitsPerSecond(at: 0) < 2e6 && made.bitsPerSecond(at: 1500) == 8e6)
    }

    @Test("periods made in code equal those read from a file")
    func periods() throws {
        let made = try NetworkTrace(periods: [
            .init(duration: .seconds(1), conditions: LinkConditions(bitsPerSecond: 800e3, latency: .milliseconds(50))),
            .init(
                duration: .milliseconds(500), conditions: LinkConditions(bitsPerSecond: 0, latency: .milliseconds(50))),
            .init(
                duration: .seconds(2), conditions: LinkConditions(bitsPerSecond: 1600.5e3, latency: .milliseconds(100))),
        ])
        #expect(made == trace)
        #expect(throws: HLSError.self) { try NetworkTrace(periods: []) }
    }

    @Test(
        "an invalid trace is refused with its line",
        arguments: [
            ("", nil, "no period"), ("# only\n# comments\n", nil, "no period"), ("1000,800", 1, "expected"),
            ("# x\n1000,800,50\n10,20,30,40,50", 3, "expected"), ("0,800,50", 1, "whole number"),
            ("1.5,800,50", 1, "whole number"), ("-1,800,50", 1, "duration_ms is not a number"),
            ("1,nan,50", 1, "bandwidth_kbps is not a number"), ("1,0x10,50", 1, "not a number"),
            ("1,1e9,50", 1, "not a number"), ("1,,50", 1, "not a number"), ("1,5,inf", 1, "latency_ms is not"),
            ("1,9999999999,5", 1, "above"), ("1,5,600001", 1, "above"), ("86400001,5,6", 1, "above"),
            ("\u{FEFF}1,2,3", 1, "not a number"), ("{\"a\":1}", 1, "expected"),
            ("1,5,6,101", 1, "loss_percent is above"), ("1,5,6,1%", 1, "loss_percent is not a number"),
        ] as [(String, Int?, String)])
    func refused(text: String, line: Int?, words: String) {
        let error = #expect(throws: HLSError.self) { try NetworkTrace(parsing: text.utf8) }
        #expect(error?.detail == line.map { "line \($0)" })
        #expect(error?.cause.contains(words) == true, "\(error?.cause ?? "")")
    }

    @Test("blanks, CRLF and a missing last line break do not matter")
    func lenient() throws {
        #expect(try NetworkTrace(parsing: "1000 , 800,50\r\n\r\n 500,0,50 \r\n2000,1600.5,100".utf8) == trace)
    }

    @Test("more than 16 MiB is refused unread")
    func tooLarge() {
        let bytes = repeatElement(UInt8(ascii: "#"), count: NetworkTrace.maximumByteCount + 1)
        #expect(throws: HLSError.simulation("larger than 16 MiB")) { try NetworkTrace(parsing: bytes) }
    }

    @Test("a missing file is named with the system's message")
    func missingFile() {
        #expect(throws: HLSError.simulation("cannot open: No such file or directory")) {
            try NetworkTrace(contentsOfFile: "/nonexistent/trace.csv")
        }
    }
}
