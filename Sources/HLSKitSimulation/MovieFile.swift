import FoundationEssentials
public import HLSKitCore

/// A movie for simulations: the bit rates of its variants and the sizes of their segments.
///
/// The JSON file contains `segment_duration_ms`, `bitrates_kbps` (ascending averages), `segment_sizes_bits` (one row
/// per segment, one column per variant) and optionally `peak_bitrates_kbps`. Without it, the peak of a variant is the
/// rate of its largest segment, rounded up. All segments of such a file have the same duration. In a movie created from
/// playlists, each segment has its own duration.
public struct MovieFile: Sendable, Hashable {
    package static let maximumByteCount = 64 << 20
    static let maximumVariantCount = 100
    static let maximumSegmentCount = 100_000
    static let maximumSegmentBits = 1e12

    /// The duration of the longest segment.
    public let segmentDuration: Duration
    /// The number of segments, at least 1.
    public let segmentCount: Int
    /// The starts of the segments, and the end of the last one.
    private let starts: [Duration]
    /// Bits per second of each variant, ascending.
    package let averageBitRates: [Double]
    /// The highest segment bit rate of each variant, in bits per second, in the order of ``averageBitRates``.
    package let peakBitRates: [Double]
    /// The sizes, row by row.
    private let sizes: [Double]

    /// Reads the text of a movie file.
    ///
    /// - Throws: `HLSError` if the text is not a movie, or exceeds 64 MiB.
    public init(parsing bytes: [UInt8]) throws(HLSError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw HLSError.simulation("larger than \(Self.maximumByteCount >> 20) MiB")
        }
        let contents: Contents
        do {
            contents = try JSONDecoder().decode(Contents.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw HLSError.simulation(error)
        } catch {
            throw HLSError.simulation("not JSON")
        }
        let duration = contents.segment_duration_ms
        guard duration >= 100, duration <= 3_600_000 else {
            throw HLSError.simulation("segment_duration_ms must be from 100 to 3600000")
        }
        let rates = contents.bitrates_kbps
        guard !rates.isEmpty, rates.count <= Self.maximumVariantCount else {
            throw HLSError.simulation("bitrates_kbps must have from 1 to \(Self.maximumVariantCount) numbers")
        }
        guard rates.allSatisfy({ $0 > 0 && $0 <= 1e9 }), zip(rates, rates.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw HLSError.simulation("bitrates_kbps must be positive and ascending")
        }
        let rows = contents.segment_sizes_bits
        guard !rows.isEmpty, rows.count <= Self.maximumSegmentCount else {
            throw HLSError.simulation("segment_sizes_bits must have from 1 to \(Self.maximumSegmentCount) rows")
        }
        for (number, row) in rows.enumerated() {
            guard row.count == rates.count else {
                throw HLSError.simulation(
                    "segment_sizes_bits: row \(number) has \(row.count) numbers for \(rates.count) variants")
            }
            guard row.allSatisfy({ $0 > 0 && $0 <= Self.maximumSegmentBits }) else {
                throw HLSError.simulation("segment_sizes_bits: row \(number) has an impossible size")
            }
        }
        let segmentDuration = Duration.milliseconds(rounding: duration)
        self.segmentDuration = segmentDuration
        segmentCount = rows.count
        starts = (0...rows.count).map { segmentDuration * $0 }
        averageBitRates = rates.map { $0 * 1000 }
        sizes = rows.flatMap(\.self)
        if let peaks = contents.peak_bitrates_kbps {
            guard peaks.count == rates.count, peaks.allSatisfy({ $0 > 0 && $0 <= 1e9 }) else {
                throw HLSError.simulation("peak_bitrates_kbps must have a positive number for each variant")
            }
            peakBitRates = peaks.map { $0 * 1000 }
        } else {
            peakBitRates = rates.indices.map { column in
                let largest = rows.map { $0[column] }.max() ?? 0
                return (largest / duration).rounded(.up) * 1000
            }
        }
    }

    /// Creates a movie from its segments and variants.
    ///
    /// The bit rates are in bits per second, in ascending order of the variants.
    init(
        segmentDurations: [Duration], averageBitRates: [Double], peakBitRates: [Double], segmentSizes: [[Double]]
    ) throws(HLSError) {
        guard !segmentDurations.isEmpty, segmentDurations.count <= Self.maximumSegmentCount,
            segmentSizes.count == segmentDurations.count
        else { throw HLSError.simulation("from 1 to \(Self.maximumSegmentCount) segments can be simulated") }
        guard !averageBitRates.isEmpty, averageBitRates.count <= Self.maximumVariantCount else {
            throw HLSError.simulation("from 1 to \(Self.maximumVariantCount) variants can be simulated")
        }
        guard segmentDurations.allSatisfy({ $0 > .zero }) else {
            throw HLSError.simulation("a segment of no duration")
        }
        guard segmentSizes.joined().allSatisfy({ $0 > 0 && $0 <= Self.maximumSegmentBits }) else {
            throw HLSError.simulation("a segment has an impossible size")
        }
        var starts = [Duration.zero]
        for duration in segmentDurations { starts.append((starts.last ?? .zero) + duration) }
        self.starts = starts
        segmentDuration = segmentDurations.max() ?? .zero
        segmentCount = segmentDurations.count
        self.averageBitRates = averageBitRates
        self.peakBitRates = peakBitRates
        sizes = segmentSizes.flatMap(\.self)
    }

    /// Reads a movie file.
    ///
    /// - Throws: `HLSError`, with the system's message if the file cannot be read.
    public init(contentsOfFile path: String) throws(HLSError) {
        try self.init(parsing: NetworkTrace.read(path, atMost: Self.maximumByteCount))
    }

    /// Number of variants, at least 1.
    package var variantCount: Int { averageBitRates.count }
    /// The duration of all segments together.
    public var duration: Duration { starts.last ?? .zero }
    package var hasUnevenSegments: Bool { duration != segmentDuration * segmentCount }

    /// - Precondition: The segment exists, or is the one after the last.
    package func start(ofSegment segment: Int) -> Duration { starts[segment] }

    /// Returns the duration of a segment.
    ///
    /// - Precondition: The segment exists.
    public func duration(ofSegment segment: Int) -> Duration { starts[segment + 1] - starts[segment] }

    /// Returns the size of a segment in bits.
    ///
    /// - Precondition: Both exist.
    package func bitCount(ofSegment segment: Int, variant: Int) -> Double {
        precondition(variant >= 0 && variant < variantCount, "no such variant")
        return sizes[segment * variantCount + variant]
    }

    private struct Contents: Decodable {
        var segment_duration_ms: Double
        var bitrates_kbps: [Double]
        var peak_bitrates_kbps: [Double]?
        var segment_sizes_bits: [[Double]]
    }
}

extension HLSError {
    fileprivate static func simulation(_ error: DecodingError) -> HLSError {
        let text: String
        func path(_ keys: [any CodingKey]) -> String {
            keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined()
        }
        switch error {
        case .keyNotFound(let key, _): text = "\(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            text = "\(path(context.codingPath)) is not of the right type"
        case .dataCorrupted: text = "not JSON"
        @unknown default: text = "cannot be read"
        }
        return simulation(text)
    }
}
