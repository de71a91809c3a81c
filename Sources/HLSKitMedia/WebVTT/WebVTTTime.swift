/// Reads and writes the times of WebVTT.
enum WebVTTTime {
    /// The largest number of hours, a thousand years, so that sums of times cannot overflow.
    private static let maxHours = 8_766_000

    /// Removes a time such as `01:02.345` or `100:01:02.345` from the front of `text`. Returns nil if there is none.
    ///
    /// Source: WebVTT §6.4, "collect a WebVTT timestamp".
    ///
    /// - Parameter allowsComma: Whether a comma may precede the fraction, as in SubRip.
    static func take(from text: inout Substring, allowsComma: Bool = false) -> Duration? {
        var rest = text
        guard let first = digits(&rest), take(":", &rest), let second = digits(&rest), second.count == 2 else {
            return nil
        }
        var hours = 0
        var minutes = first.value
        var seconds = second.value
        // A number without two digits, or with too many minutes, is the hours.
        if first.count != 2 || first.value > 59 || rest.hasPrefix(":") {
            guard take(":", &rest), let third = digits(&rest), third.count == 2 else { return nil }
            (hours, minutes, seconds) = (first.value, second.value, third.value)
        }
        guard take(".", &rest) || allowsComma && take(",", &rest), let fraction = digits(&rest), fraction.count == 3,
            minutes <= 59, seconds <= 59,
            hours <= maxHours
        else { return nil }
        text = rest
        return .milliseconds(
            ((Int64(hours) * 60 + Int64(minutes)) * 60 + Int64(seconds)) * 1000 + Int64(fraction.value))
    }

    /// Reads a time in the form of some packagers. Hours and fraction may be missing, and the fraction has any number
    /// of digits after a point or a comma.
    static func loose(_ text: Substring) -> Duration? {
        var rest = text
        var numbers: [Int] = []
        repeat {
            guard let number = digits(&rest) else { return nil }
            numbers.append(number.value)
        } while numbers.count < 3 && take(":", &rest)
        guard numbers.count >= 2 else { return nil }
        if numbers.count == 2 { numbers.insert(0, at: 0) }
        guard numbers[0] <= maxHours, numbers[1] <= 59, numbers[2] <= 59 else { return nil }
        var nanoseconds: Int64 = 0
        if take(".", &rest) || take(",", &rest), let fraction = digits(&rest) {
            nanoseconds = (fraction.count..<9).reduce(Int64(fraction.value)) { value, _ in value * 10 }
        }
        return .seconds((numbers[0] * 60 + numbers[1]) * 60 + numbers[2]) + .nanoseconds(nanoseconds)
    }

    static func timings(
        of line: Substring, allowsComma: Bool = false
    ) -> (start: Duration, end: Duration, settings: Substring)? {
        var rest = trimmed(line)
        guard let start = take(from: &rest, allowsComma: allowsComma) else { return nil }
        rest = trimmed(rest)
        guard rest.hasPrefix("-->") else { return nil }
        rest = trimmed(rest.dropFirst(3))
        guard let end = take(from: &rest, allowsComma: allowsComma) else { return nil }
        return (start, end, rest)
    }

    /// Removes leading white space: spaces, tabs and form feeds, the only kinds within lines.
    static func trimmed(_ text: Substring) -> Substring { text.drop(while: isWhitespace) }

    static func isWhitespace(_ character: Character) -> Bool {
        character == " " || character == "\t" || character == "\u{c}"
    }

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

    /// Reads a line `X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000`, with its parts in either order and any
    /// separator.
    ///
    /// Returns nil if it is a different line or invalid. A missing part is 0.
    init?(parsing line: Substring) {
        guard line.hasPrefix(Self.name) else { return nil }
        let rest = WebVTTTime.trimmed(line.dropFirst(Self.name.count))
        guard rest.first == "=" || rest.first == ":" else { return nil }
        let text = rest.dropFirst().uppercased()
        let (time, number) = (Self.value(of: "LOCAL", in: text), Self.value(of: "MPEGTS", in: text))
        guard time != nil || number != nil else { return nil }
        self.init()
        if let time {
            guard let time = WebVTTTime.loose(time) else { return nil }
            local = time
        }
        if let number {
            let digits = number.drop { $0 == "+" }.prefix { $0.isASCII && $0.isNumber }
            guard let value = UInt64(digits) else { return nil }
            timestamp = Int64(value & 0x1_ffff_ffff)
        }
    }

    private static func value(of name: String, in text: String) -> Substring? {
        guard let range = text.firstRange(of: name) else { return nil }
        let rest = WebVTTTime.trimmed(text[range.upperBound...])
        guard rest.first == ":" || rest.first == "=" else { return nil }
        return WebVTTTime.trimmed(rest.dropFirst())
    }
}
