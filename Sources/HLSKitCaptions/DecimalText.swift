import HLSKitTime

/// Formats numbers for caption files without Foundation.
enum DecimalText {
    /// Formats a number with at most `places` digits after the point, without trailing zeros. `value` must be finite
    /// and not huge.
    static func text(_ value: Double, places: Int) -> String {
        var scale = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = (value * Double(scale)).rounded()
        guard let units = Int(exactly: scaled) else { return "0" }
        let fraction = (units.magnitude % UInt(scale)).decimals(places)
        let whole = (units < 0 ? "-" : "") + String(units.magnitude / UInt(scale))
        return fraction.isEmpty ? whole : whole + "." + fraction
    }

    /// Formats a time as `00:01:02.345`, with `point` before the fraction of a second.
    static func clock(milliseconds: Int64, point: String) -> String {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return clock(seconds: seconds) + point + rest.digits(3)
    }

    static func clock(seconds: Int64) -> String {
        (seconds / 3600).digits(2) + ":" + (seconds / 60 % 60).digits(2) + ":" + (seconds % 60).digits(2)
    }
}

struct FileTimes {
    /// The end of a caption without one: the longest time that all formats can represent.
    static let openEndSeconds: Int64 = 99 * 3600 + 59 * 60 + 59

    var start: Int64
    var end: Int64

    /// Returns nil for a caption before time zero.
    ///
    /// - Parameter timescale: The units per second.
    init?(_ range: MediaTimeRange, timescale: Int32, index: Int) throws(CaptionError) {
        guard range.isValid, range.start.isNumeric else {
            throw CaptionError(code: .invalidTime, text: "caption \(index + 1) has no start: \(range)")
        }
        let limit = Self.openEndSeconds * Int64(timescale)
        let start = range.start.converted(to: timescale)
        let end = range.end.isNumeric ? range.end.converted(to: timescale) : nil
        guard start.isNumeric, start.timescale == timescale, start.value <= limit else {
            throw CaptionError(code: .invalidTime, text: "caption \(index + 1) starts too late: \(range)")
        }
        if let end, end.value <= 0, range.duration > .zero { return nil }
        self.start = max(0, start.value)
        self.end = end.map { $0.isNumeric && $0.timescale == timescale ? min($0.value, limit) : limit } ?? limit
        self.end = max(self.start, self.end)
    }
}
