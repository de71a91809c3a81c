import HLSKitTime

/// The time base of a TTML file.
///
/// Source: TTML1 §6.2 (parameters) and §10.3.1 (time expressions).
struct TimedTextTime {
    /// The number of frames counted per second.
    var frameRate = 30
    /// The fraction of these frames that actually pass per second.
    var multiplier = (numerator: 1, denominator: 1)
    var subFrameRate = 1
    var tickRate: Int?
    /// Whether hours, minutes and seconds are counted in frames.
    var isTimeCode = false
    var isDropFrame = false

    init() {}

    init(attributes: [XMLScanner.Attribute]) {
        for attribute in attributes {
            let value = attribute.value
            switch attribute.name {
            case "ttp:frameRate": frameRate = Self.number(value[...], in: 1...1000) ?? frameRate
            case "ttp:frameRateMultiplier":
                let parts = value.split { $0 == " " || $0 == ":" || $0 == "/" }
                guard let first = parts.first.flatMap({ Self.number($0, in: 1...100_000) }) else { continue }
                guard let second = parts.count > 1 ? Self.number(parts[1], in: 1...100_000) : 1 else { continue }
                multiplier = (first, second)
            case "ttp:subFrameRate": subFrameRate = Self.number(value[...], in: 1...1000) ?? subFrameRate
            case "ttp:tickRate": tickRate = Self.number(value[...], in: 1...Int(Int32.max))
            case "ttp:timeBase": isTimeCode = value == "smpte"
            case "ttp:dropMode": isDropFrame = value == "dropNTSC"
            default: break
            }
        }
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard let value = Int(text), range.contains(value) else { return nil }
        return value
    }

    func time(_ text: String) -> MediaTime? {
        let text = Substring(text.unicodeScalars[...].trimmed)
        return text.contains(":") ? clockTime(text) : offsetTime(text)
    }

    private func clockTime(_ text: Substring) -> MediaTime? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == ";" }
        guard parts.count == 3 || parts.count == 4, let hours = Self.number(parts[0], in: 0...1_000_000),
            let minutes = Self.number(parts[1], in: 0...59)
        else { return nil }
        let minuteCount = hours * 60 + minutes
        if parts.count == 3 {
            guard let (seconds, rest) = Self.decimal(parts[2]), seconds < .seconds60 else { return nil }
            guard rest.isEmpty else { return nil }
            if isTimeCode, let whole = Self.number(parts[2], in: 0...59) {
                return time(frames: frameNumber(minuteCount, whole, 0))
            }
            return MediaTime(value: Int64(minuteCount) * 60, timescale: 1) + seconds
        }
        let frameParts = parts[3].split(separator: ".", omittingEmptySubsequences: false)
        guard let seconds = Self.number(parts[2], in: 0...59), frameParts.count <= 2,
            let frames = Self.number(frameParts[0], in: 0...(frameRate - 1))
        else { return nil }
        var sub = 0
        if frameParts.count == 2 {
            guard let number = Self.number(frameParts[1], in: 0...(max(subFrameRate, 1) - 1)) else { return nil }
            sub = number
        }
        let total = isTimeCode ? frameNumber(minuteCount, seconds, frames) : Int64(frames)
        let whole =
            isTimeCode ? MediaTime.zero : MediaTime(value: Int64(minuteCount) * 60 + Int64(seconds), timescale: 1)
        guard sub > 0 else { return isTimeCode ? time(frames: total) : whole + time(frames: total) }
        return whole + time(frames: total) + time(frames: 1).multiplied(by: (Int64(sub), Int64(subFrameRate)))
    }

    private func frameNumber(_ minutes: Int, _ seconds: Int, _ frames: Int) -> Int64 {
        let dropped = isDropFrame && frameRate % 30 == 0 ? frameRate / 15 * (minutes - minutes / 10) : 0
        return (Int64(minutes) * 60 + Int64(seconds)) * Int64(frameRate) + Int64(frames) - Int64(dropped)
    }

    private func time(frames: Int64) -> MediaTime {
        MediaTime(
            value: frames * Int64(multiplier.denominator), timescale: Int32(frameRate * multiplier.numerator))
    }

    private func offsetTime(_ text: Substring) -> MediaTime? {
        guard let (number, unit) = Self.decimal(text) else { return nil }
        switch unit {
        case "h": return number.multiplied(by: Int32(3600))
        case "m": return number.multiplied(by: Int32(60))
        case "s": return number
        case "ms": return number.multipliedExactly(by: (1, 1000))
        case "f":
            return number.multipliedExactly(
                by: (Int64(multiplier.denominator), Int64(frameRate * multiplier.numerator)))
        case "t": return number.multipliedExactly(by: (1, Int64(tickRate ?? frameRate * subFrameRate)))
        default: return nil
        }
    }

    /// Reads digits with an optional fraction, of which the first six digits count. Returns the remaining text, too.
    private static func decimal(_ text: Substring) -> (value: MediaTime, rest: Substring)? {
        let whole = text.prefix { $0.isASCII && $0.isNumber }
        guard (1...12).contains(whole.count), var value = Int64(whole) else { return nil }
        var rest = text[whole.endIndex...]
        var timescale: Int32 = 1
        if rest.first == "." {
            let fraction = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard !fraction.isEmpty else { return nil }
            rest = rest[fraction.endIndex...]
            // Twelve digits before the point and six after it fit.
            for digit in fraction.prefix(6) {
                value = value * 10 + Int64(digit.wholeNumberValue ?? 0)
                timescale *= 10
            }
        }
        return (MediaTime(value: value, timescale: timescale), rest)
    }
}

extension MediaTime {
    fileprivate static let seconds60 = MediaTime(value: 60, timescale: 1)

    /// Multiplies in a timescale that can represent the product, if there is one.
    fileprivate func multipliedExactly(by ratio: (Int64, Int64)) -> MediaTime {
        let scale = Int64(timescale) * ratio.1
        let (product, overflow) = value.multipliedReportingOverflow(by: ratio.0)
        guard !overflow, let exact = Int32(exactly: scale) else {
            return converted(to: 1_000_000).multiplied(by: ratio)
        }
        return MediaTime(value: product, timescale: exact)
    }
}
