/// Times as WebVTT writes them.
enum WebVTTTime {
    /// More hours than this are refused: a thousand years, so that sums of times cannot overflow.
    private static let maxHours = 8_766_000

    /// Takes a time such as `01:02.345` or `100:01:02.345` from the front of `text`; nil where there is none.
    ///
    /// Source: WebVTT §6.4, "collect a WebVTT timestamp".
    static func take(from text: inout Substring) -> Duration? {
        var rest = text
        guard let first = digits(&rest), take(":", &rest), let second = digits(&rest), second.count == 2 else {
            return nil
        }
        var hours = 0
        var minutes = first.value
        var seconds = second.value
        // What has not two digits, or is too many minutes, is hours.
        if first.count != 2 || first.value > 59 || rest.hasPrefix(":") {
            guard take(":", &rest), let third = digits(&rest), third.count == 2 else { return nil }
            (hours, minutes, seconds) = (first.value, second.value, third.value)
        }
        guard take(".", &rest), let fraction = digits(&rest), fraction.count == 3, minutes <= 59, seconds <= 59,
            hours <= maxHours
        else { return nil }
        text = rest
        return .milliseconds(
            ((Int64(hours) * 60 + Int64(minutes)) * 60 + Int64(seconds)) * 1000 + Int64(fraction.value))
    }

    /// The two times of a cue, and the settings behind them; nil where they are not well formed.
    static func timings(of line: Substring) -> (start: Duration, end: Duration, settings: Substring)? {
        var rest = trimmed(line)
        guard let start = take(from: &rest) else { return nil }
        rest = trimmed(rest)
        guard rest.hasPrefix("-->") else { return nil }
        rest = trimmed(rest.dropFirst(3))
        guard let end = take(from: &rest) else { return nil }
        return (start, end, rest)
    }

    /// Without the spaces and tabs before it.
    static func trimmed(_ text: Substring) -> Substring { text.drop { $0 == " " || $0 == "\t" } }

    private static func take(_ character: Character, _ text: inout Substring) -> Bool {
        guard text.first == character else { return false }
        text = text.dropFirst()
        return true
    }

    private static func digits(_ text: inout Substring) -> (value: Int, count: Int)? {
        let run = text.utf8.prefix { (0x30...0x39).contains($0) }
        // Nine digits fit, and no time needs more.
        guard (1...9).contains(run.count) else { return nil }
        text = text[run.endIndex...]
        return (run.reduce(0) { $0 * 10 + Int($1 - 0x30) }, run.count)
    }
}

extension WebVTTTimestampMap {
    static let name = "X-TIMESTAMP-MAP"

    /// Reads a line `X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000`, its parts in either order and with any spaces.
    ///
    /// nil where it is no such line, or cannot be understood. A part that is missing is 0.
    init?(parsing line: Substring) {
        guard line.hasPrefix(Self.name) else { return nil }
        var rest = WebVTTTime.trimmed(line.dropFirst(Self.name.count))
        guard rest.first == "=" || rest.first == ":" else { return nil }
        rest = rest.dropFirst()
        self.init()
        var isEmpty = true
        for part in rest.split(separator: ",") {
            let part = WebVTTTime.trimmed(part)
            guard let colon = part.firstIndex(where: { $0 == ":" || $0 == "=" }) else { continue }
            let name = part[..<colon].filter { $0 != " " && $0 != "\t" }.uppercased()
            var value = WebVTTTime.trimmed(part[part.index(after: colon)...])
            switch name {
            case "LOCAL":
                guard let time = WebVTTTime.take(from: &value) else { return nil }
                local = time
            case "MPEGTS":
                let digits = value.prefix { $0.isASCII && $0.isNumber }
                guard let number = UInt64(digits) else { return nil }
                timestamp = Int64(number & 0x1_ffff_ffff)
            default: continue
            }
            isEmpty = false
        }
        guard !isEmpty else { return nil }
    }
}
