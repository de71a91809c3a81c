import HLSKitTime

/// A point in absolute time, exact to the attosecond.
///
/// `EXT-X-PROGRAM-DATE-TIME`, `START-DATE` and `END-DATE` as written, in UTC.
public struct PlaylistDate: Sendable, Hashable, Comparable, Codable {
    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    public let seconds: Int64
    /// The fraction of a second, in 10⁻¹⁸ s: 0 ..< 10¹⁸.
    public let attoseconds: Int64

    /// Creates a date.
    ///
    /// `attoseconds` beyond one second are carried.
    public init(seconds: Int64, attoseconds: Int64 = 0) {
        let unit = Self.attosecondsPerSecond
        let (quotient, remainder) = attoseconds.quotientAndRemainder(dividingBy: unit)
        let carry = remainder < 0 ? quotient - 1 : quotient
        self.attoseconds = remainder < 0 ? remainder + unit : remainder
        let (sum, overflow) = seconds.addingReportingOverflow(carry)
        self.seconds = overflow ? (carry < 0 ? .min : .max) : sum
    }

    static let attosecondsPerSecond: Int64 = 1_000_000_000_000_000_000

    package var timeIntervalSince1970: Duration {
        Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }

    public static func + (date: PlaylistDate, duration: Duration) -> PlaylistDate {
        let (seconds, attoseconds) = duration.components
        let (sum, overflow) = date.seconds.addingReportingOverflow(seconds)
        guard !overflow else { return PlaylistDate(seconds: seconds < 0 ? .min : .max) }
        return PlaylistDate(seconds: sum, attoseconds: date.attoseconds + attoseconds)
    }

    public static func - (date: PlaylistDate, duration: Duration) -> PlaylistDate {
        date + (.zero - duration)
    }

    public static func - (left: PlaylistDate, right: PlaylistDate) -> Duration {
        let (difference, overflow) = left.seconds.subtractingReportingOverflow(right.seconds)
        let seconds = overflow ? (left.seconds < 0 ? Int64.min : .max) : difference
        return Duration(secondsComponent: seconds, attosecondsComponent: 0)
            + Duration(secondsComponent: 0, attosecondsComponent: left.attoseconds - right.attoseconds)
    }

    public static func < (left: PlaylistDate, right: PlaylistDate) -> Bool {
        (left.seconds, left.attoseconds) < (right.seconds, right.attoseconds)
    }
}

// MARK: - Coding

extension PlaylistDate {
    private enum CodingKeys: String, CodingKey { case seconds, attoseconds }

    /// Validates like ``init(seconds:attoseconds:)`` because stored data may be damaged.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            seconds: try values.decode(Int64.self, forKey: .seconds),
            attoseconds: try values.decode(Int64.self, forKey: .attoseconds))
    }
}

// MARK: - Text

extension PlaylistDate: CustomStringConvertible {
    /// The date in ISO 8601 and UTC, with at least three decimals: `2024-02-29T12:00:00.000Z`.
    public var description: String {
        // Rounded down, including below zero.
        let days = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        let time = Int(seconds % 86_400 + (seconds % 86_400 < 0 ? 86_400 : 0))
        let (year, month, day) = Self.civil(days: days)
        let date = "\(year.digits(4))-\(month.digits(2))-\(day.digits(2))"
        let clock = "\((time / 3600).digits(2)):\((time / 60 % 60).digits(2)):\((time % 60).digits(2))"
        return "\(date)T\(clock).\(attoseconds.decimals(18, atLeast: 3))Z"
    }

    /// Proleptic Gregorian date of a day number since 1970 (H. Hinnant, "chrono-compatible low-level date algorithms").
    private static func civil(days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (Int(year), Int(month), Int(day))
    }

    static func days(year: Int, month: Int, day: Int) -> Int64 {
        let year = Int64(month <= 2 ? year - 1 : year)
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * Int64(month > 2 ? month - 3 : month + 9) + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Reads ISO 8601 in the forms of playlists.
    ///
    /// The zone is `Z`, `+hh:mm`, `+hhmm` or absent (read as UTC), and the fraction has any length. The result is `nil`
    /// if the text is not a date, or the date does not exist.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let date = bytes.span.date(in: 0..<bytes.count)?.date else { return nil }
        self = date
    }
}

extension Span where Element == UInt8 {
    /// Reads a date. `hasZone` is false if the text has no time zone, in which case UTC is assumed.
    func date(in range: Range<Int>) -> (date: PlaylistDate, hasZone: Bool)? {
        var position = range.lowerBound
        let end = range.upperBound

        guard let year = digits(4, &position, end), skip(0x2D, &position, end),
            let month = digits(2, &position, end), skip(0x2D, &position, end), let day = digits(2, &position, end),
            skip(0x54, &position, end) || skip(0x74, &position, end) || skip(0x20, &position, end),
            let hour = digits(2, &position, end), skip(0x3A, &position, end), let minute = digits(2, &position, end)
        else { return nil }
        var second = 0
        if skip(0x3A, &position, end) {
            guard let value = digits(2, &position, end) else { return nil }
            second = value
        }
        var attoseconds: Int64 = 0
        if skip(0x2E, &position, end) || skip(0x2C, &position, end) {
            var unit = PlaylistDate.attosecondsPerSecond
            let start = position
            while position < end, self[position] &- 0x30 < 10 {
                unit /= 10
                attoseconds += Int64(self[position] &- 0x30) * unit
                position += 1
            }
            guard position > start else { return nil }
        }
        var offset = 0
        var hasZone = true
        if position == end {
            hasZone = false
        } else if skip(0x5A, &position, end) || skip(0x7A, &position, end) {
        } else {
            let sign = self[position] == 0x2D ? -1 : 1
            guard skip(0x2B, &position, end) || skip(0x2D, &position, end), let hours = digits(2, &position, end)
            else { return nil }
            _ = skip(0x3A, &position, end)
            let minutes = position < end ? digits(2, &position, end) : 0
            guard let minutes, hours < 24, minutes < 60 else { return nil }
            offset = sign * (hours * 3600 + minutes * 60)
        }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let length =
            switch month {
            case 2: isLeap ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        // 60 is a leap second, 24:00:00 the end of a day.
        guard position == end, (1...12).contains(month), (1...length).contains(day), hour <= 24, minute < 60,
            second <= 60, hour < 24 || (minute == 0 && second == 0 && attoseconds == 0)
        else { return nil }
        let seconds =
            PlaylistDate.days(year: year, month: month, day: day) * 86_400
            + Int64(hour * 3600 + minute * 60 + second - offset)
        return (PlaylistDate(seconds: seconds, attoseconds: attoseconds), hasZone)
    }
    @inline(__always)
    private func digits(_ count: Int, _ position: inout Int, _ end: Int) -> Int? {
        guard end &- position >= count else { return nil }
        var value = 0
        for index in position..<position &+ count {
            let digit = self[index] &- 0x30
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int(digit)
        }
        position &+= count
        return value
    }

    @inline(__always)
    private func skip(_ byte: UInt8, _ position: inout Int, _ end: Int) -> Bool {
        guard position < end, self[position] == byte else { return false }
        position &+= 1
        return true
    }
}
