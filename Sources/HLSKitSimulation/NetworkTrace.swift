import Glibc
public import HLSKitCore

/// The bandwidth and latency of a network over time, recorded or synthetic.
///
/// Periods are consecutive from time 0. After the last one, the trace repeats forever. A request at time `t` waits for
/// the latency of the period that contains `t`. After that, bits arrive at the bandwidth of each following period. All
/// queries use cumulative bits and take O(log n) of the number of periods.
///
/// Internally, times are in milliseconds as `Double`, the precision of the recordings, because a simulation makes
/// millions of queries. 1 kbit/s is one bit per millisecond.
public struct NetworkTrace: Sendable, Hashable {
    /// Milliseconds since the start of the trace, or between two times.
    package typealias Milliseconds = Double

    /// A period with constant conditions.
    public struct Period: Sendable, Hashable {
        /// The duration of the conditions, which is above 0.
        public var duration: Duration
        /// The bandwidth and latency during the period.
        public var conditions: LinkConditions

        /// Creates a period.
        public init(duration: Duration, conditions: LinkConditions) {
            self.duration = duration
            self.conditions = conditions
        }
    }

    package static let maximumByteCount = 16 << 20
    /// The largest values of the three columns: a day, 1 Tbit/s, ten minutes. Sums within these limits are sufficiently
    /// exact.
    static let maximumDuration = 86_400_000.0
    static let maximumBandwidth = 1e9
    static let maximumLatency = 600_000.0

    /// Parallel arrays, one element per period: rate in bits per millisecond, latency in milliseconds.
    private let rates: [Double]
    private let latencies: [Double]
    /// Time and bits at the start of each period, and at the end of the last one.
    private let starts: [Double]
    private let cumulativeBits: [Double]

    /// Creates a trace with one period that lasts forever.
    public init(constant conditions: LinkConditions) {
        self.init(rows: [
            Row(duration: 1000, conditions)
        ])
    }

    /// Creates a trace.
    ///
    /// - Throws: `HLSError` if there is no period, or one without a positive duration.
    public init(periods: [Period]) throws(HLSError) {
        guard !periods.isEmpty else { throw HLSError.simulation("the trace has no period") }
        guard periods.allSatisfy({ $0.duration > .zero }) else {
            throw HLSError.simulation("a period has no duration")
        }
        self.init(rows: periods.map { Row(duration: $0.duration.milliseconds, $0.conditions) })
    }

    /// Reads the text of a trace file.
    ///
    /// Its lines are `duration_ms,bandwidth_kbps,latency_ms`, optionally with `,loss_percent`. `#` begins a comment
    /// line.
    ///
    /// - Throws: `HLSError` with the line if the text is not a trace, or exceeds 16 MiB.
    public init(parsing bytes: some Collection<UInt8>) throws(HLSError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw HLSError.simulation("larger than \(Self.maximumByteCount >> 20) MiB")
        }
        var rows: [Row] = []
        var number = 0
        var hasHeader = false
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let text = Self.trimmed(line)
            guard let first = text.first, first != UInt8(ascii: "#") else { continue }
            if rows.isEmpty, !hasHeader, Self.isHeader(text) {
                hasHeader = true
                continue
            }
            rows.append(try Self.row(text, line: number))
        }
        guard !rows.isEmpty else { throw HLSError.simulation("the trace has no period") }
        self.init(rows: rows)
    }

    /// Reads a trace file.
    ///
    /// - Throws: `HLSError`, with the system's message if the file cannot be read.
    public init(contentsOfFile path: String) throws(HLSError) {
        try self.init(parsing: Self.read(path))
    }

    private struct Row {
        var duration: Double
        var rate: Double
        var latency: Double

        init(duration: Double, rate: Double, latency: Double) {
            (self.duration, self.rate, self.latency) = (duration, rate, latency)
        }

        init(duration: Double, _ conditions: LinkConditions) {
            self.init(
                duration: duration, rate: conditions.throughput / 1000, latency: conditions.latency.milliseconds)
        }
    }

    private init(rows: [Row]) {
        rates = rows.map(\.rate)
        latencies = rows.map(\.latency)
        var starts = [0.0]
        var bits = [0.0]
        starts.reserveCapacity(rows.count + 1)
        bits.reserveCapacity(rows.count + 1)
        var time = 0.0
        var sum = 0.0
        for row in rows {
            time += row.duration
            sum += row.duration * row.rate
            starts.append(time)
            bits.append(sum)
        }
        self.starts = starts
        cumulativeBits = bits
        cycleLength = time
        bitsPerCycle = sum
    }

    /// The time until the trace repeats.
    public var duration: Duration { .milliseconds(rounding: cycleLength) }
    package let cycleLength: Milliseconds
    private let bitsPerCycle: Double

    /// The mean over one cycle, in bits per second.
    package var meanBitsPerSecond: Double { bitsPerCycle / cycleLength * 1000 }

    // MARK: Questions

    package func bitsPerSecond(at time: Milliseconds) -> Double { rates[position(of: time).period] * 1000 }

    package func latency(at time: Milliseconds) -> Milliseconds { latencies[position(of: time).period] }

    /// The earliest time at which `bits` have arrived for a request at `time` that has the link to itself.
    ///
    /// It is `.infinity` if they never do because no period has bandwidth.
    package func completionTime(ofBits bits: Double, requestedAt time: Milliseconds) -> Milliseconds {
        arrivalTime(ofBits: bits, from: time + latency(at: time))
    }

    /// The earliest time at which a link has carried `bits` if it is continuously used from `time` on.
    package func arrivalTime(ofBits bits: Double, from time: Milliseconds) -> Milliseconds {
        guard bits > 0 else { return time }
        guard bitsPerCycle > 0 else { return .infinity }
        let target = deliveredBits(before: time) + bits
        // The last bit of a cycle arrives in that cycle, not at the start of the next one.
        let cycle = max(0, (target / bitsPerCycle).rounded(.up) - 1)
        let rest = target - cycle * bitsPerCycle
        let period = Self.firstIndex(in: cumulativeBits) { $0 >= rest } - 1
        guard rates.indices.contains(period), rates[period] > 0 else { return max(time, (cycle + 1) * cycleLength) }
        let within = (rest - cumulativeBits[period]) / rates[period]
        return max(time, cycle * cycleLength + starts[period] + within)
    }

    /// The bits that a continuously used link carries between two times.
    package func deliveredBits(from start: Milliseconds, to end: Milliseconds) -> Double {
        guard end > start else { return 0 }
        return max(0, deliveredBits(before: end) - deliveredBits(before: start))
    }

    private func deliveredBits(before time: Milliseconds) -> Double {
        let (cycle, offset, period) = position(of: time)
        return cycle * bitsPerCycle + cumulativeBits[period] + (offset - starts[period]) * rates[period]
    }

    /// The number of whole cycles before `time`, the time within its cycle, and the period that contains it.
    private func position(of time: Milliseconds) -> (cycle: Double, offset: Double, period: Int) {
        let time = time.isFinite ? max(0, time) : 0
        let cycle = (time / cycleLength).rounded(.down)
        let offset = min(max(0, time - cycle * cycleLength), cycleLength)
        // A period includes its start and excludes its end.
        let period = Self.firstIndex(in: starts) { $0 > offset } - 1
        return (cycle, offset, min(max(0, period), rates.count - 1))
    }

    /// The first index whose element satisfies `predicate`, which is false up to some element and true from there on.
    private static func firstIndex(in values: [Double], where predicate: (Double) -> Bool) -> Int {
        var low = 0
        var high = values.count
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(values[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

// MARK: - Text

extension NetworkTrace {
    /// Whether every field of a line begins with a letter, perhaps after a quotation mark.
    private static func isHeader(_ line: some Collection<UInt8>) -> Bool {
        line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy { field in
            let first = trimmed(field).first { $0 != UInt8(ascii: "\"") } ?? 0
            return (0x61...0x7A).contains(first | 0x20)
        }
    }

    private static func row(_ line: some Collection<UInt8>, line number: Int) throws(HLSError) -> Row {
        let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard fields.count == 3 || fields.count == 4 else {
            throw HLSError.simulation(
                line: number, "expected duration_ms,bandwidth_kbps,latency_ms[,loss_percent]")
        }
        let duration = try value(fields[0], "duration_ms", number, in: 0...maximumDuration)
        guard duration > 0, duration == duration.rounded() else {
            throw HLSError.simulation(line: number, "duration_ms must be a whole number above 0")
        }
        var row = Row(
            duration: duration, rate: try value(fields[1], "bandwidth_kbps", number, in: 0...maximumBandwidth),
            latency: try value(fields[2], "latency_ms", number, in: 0...maximumLatency))
        guard fields.count == 4 else { return row }
        let loss = try value(fields[3], "loss_percent", number, in: 0...100)
        let conditions = LinkConditions(
            bitsPerSecond: row.rate * 1000, latency: .milliseconds(rounding: row.latency), packetLoss: loss / 100)
        if loss > 0 { row.rate = conditions.throughput / 1000 }
        return row
    }

    private static func value(
        _ field: some Collection<UInt8>, _ name: String, _ line: Int, in range: ClosedRange<Double>
    ) throws(HLSError) -> Double {
        let digits = trimmed(field)
        let isPlain = digits.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, digits.count <= 24, let value = Double(String(decoding: digits, as: UTF8.self)) else {
            throw HLSError.simulation(line: line, "\(name) is not a number")
        }
        guard range.contains(value) else {
            throw HLSError.simulation(line: line, "\(name) is above \(Int(range.upperBound))")
        }
        return value
    }

    private static func trimmed(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let trimmed = Array(bytes.drop(while: isBlank))
        let end = trimmed.lastIndex { !isBlank($0) } ?? -1
        return Array(trimmed.prefix(end + 1))
    }

    static func read(_ path: String, atMost limit: Int = maximumByteCount) throws(HLSError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw HLSError.simulation("cannot open: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard let bytes = Descriptor.read(descriptor, atMost: limit + 1) else {
            throw HLSError.simulation("cannot read: \(String(cString: strerror(errno)))")
        }
        return bytes
    }
}

extension Duration {
    /// A number of milliseconds, to the nanosecond. Used for sums of periods, never for media times.
    package static func milliseconds(rounding value: Double) -> Duration {
        .nanoseconds(Int64(exactly: (min(max(0, value), 9e12) * 1e6).rounded()) ?? 0)
    }
}
