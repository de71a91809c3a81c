import Glibc
package import HLSKitCore

/// The value of `--until`: a date, the next occurrence of a local time of day, or a time from now on.
package enum UntilArgument: Sendable, Equatable {
    /// Seconds since midnight.
    case timeOfDay(Int)
    case date(PlaylistDate)
    case after(Duration)

    /// Parses `22:30`, `22:30:15`, `+10m`, or ISO 8601.
    package init(parsing text: String) throws(ArgumentValueError) {
        if let time = Self.timeOfDay(text) {
            self = .timeOfDay(time)
            return
        }
        if text.hasPrefix("+"), let time = DurationArgument.parseOptional(String(text.dropFirst())) {
            self = .after(time)
            return
        }
        guard let date = Self.date(text) else {
            throw ArgumentValueError("write a time of day, as in 22:30, +10m, or a date: 2026-01-31T22:30:00Z")
        }
        self = .date(date)
    }

    /// Parses ISO 8601. A date without a time zone is local, and one without a time is midnight.
    static func date(_ text: String) -> PlaylistDate? {
        let time = text.drop { $0 != "T" && $0 != "t" && $0 != " " }
        if time.last?.uppercased() == "Z" || time.contains(where: { "+-".contains($0) }) { return PlaylistDate(text) }
        guard text.split(separator: "-", omittingEmptySubsequences: false).count == 3,
            let date = PlaylistDate(text + (time.isEmpty ? "T00:00:00Z" : "Z"))
        else { return nil }
        var (seconds, parts) = (Int(date.seconds), tm())
        guard gmtime_r(&seconds, &parts) != nil else { return nil }
        parts.tm_isdst = -1
        return PlaylistDate(seconds: Int64(mktime(&parts)), attoseconds: date.attoseconds)
    }

    /// A message with the end time; a past time of day means tomorrow.
    package var announcement: String {
        let (now, secondOfDay) = Self.now
        return announcement(from: now, secondOfDay: secondOfDay)
    }

    func announcement(from now: PlaylistDate, secondOfDay: Int) -> String {
        let length = Decimals.length(interval(from: now, secondOfDay: secondOfDay) / .seconds(1))
        switch self {
        case .date(let date): return "until \(date) (in \(length))"
        case .after: return "for \(length)"
        case .timeOfDay(let end):
            let seconds = end % 60 == 0 ? "" : ":\((end % 60).digits(2))"
            let day = end <= secondOfDay ? " tomorrow" : ""
            return "until \((end / 3600).digits(2)):\((end / 60 % 60).digits(2))\(seconds)\(day) (in \(length))"
        }
    }

    private static func timeOfDay(_ text: String) -> Int? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count) else { return nil }
        var total = 0
        for (index, limit) in [24, 60, 60].enumerated() {
            guard index < fields.count else {
                total *= 60
                continue
            }
            let field = fields[index]
            guard (1...2).contains(field.count), field.allSatisfy({ $0.isASCII && $0.isNumber }),
                let number = Int(field), number < limit
            else { return nil }
            total = total * 60 + number
        }
        return total
    }

    /// The time from a date to the end, or zero if the end is past.
    ///
    /// - Parameter secondOfDay: The time of day of that date, in the local time zone.
    func interval(from now: PlaylistDate, secondOfDay: Int) -> Duration {
        switch self {
        case .date(let date): return max(.zero, date - now)
        case .after(let time): return time
        case .timeOfDay(let end):
            let fraction = Duration.nanoseconds(now.attoseconds / 1_000_000_000)
            return .seconds((end - secondOfDay + 86_399) % 86_400 + 1) - fraction
        }
    }

    /// Replaces a time of day by its date, because it would mean tomorrow after it has passed.
    func fixed(from now: PlaylistDate, secondOfDay: Int) -> UntilArgument {
        .date(now + interval(from: now, secondOfDay: secondOfDay))
    }

    package var fixed: UntilArgument {
        let (now, secondOfDay) = Self.now
        return fixed(from: now, secondOfDay: secondOfDay)
    }

    package var interval: Duration {
        let (now, secondOfDay) = Self.now
        return interval(from: now, secondOfDay: secondOfDay)
    }

    private static var now: (date: PlaylistDate, secondOfDay: Int) {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        let secondOfDay = Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + min(59, Int(parts.tm_sec))
        return (PlaylistDate(seconds: Int64(now)), secondOfDay)
    }
}
