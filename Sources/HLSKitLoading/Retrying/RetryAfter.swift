import Glibc

/// The `Retry-After` field (RFC 9110 §10.2.3): a number of seconds or a date.
enum RetryAfter {
    /// Returns the time to wait from the arrival of the response.
    ///
    /// - Parameters:
    ///   - date: The response's `Date`, which compensates for a wrong clock on either side.
    ///   - now: The time in seconds since 1970, for a response without a `Date`.
    ///
    /// - Returns: The time, or nil if the value is invalid.
    static func delay(_ value: String, date: String?, now: Int64) -> Duration? {
        if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !value.isEmpty {
            // Further digits make no difference to the result.
            return .seconds(Int64(value.prefix(9)) ?? 0)
        }
        guard let until = HTTPDate.seconds(value) else { return nil }
        return .seconds(max(0, until - (date.flatMap { HTTPDate.seconds($0) } ?? now)))
    }
}

/// HTTP dates in the three formats that RFC 9110 §5.6.7 requires.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the seconds since 1970-01-01 00:00 UTC, or nil unless the text is a date between 1970 and 9999.
    package static func seconds(_ text: String) -> Int64? {
        let words = text.split(whereSeparator: { " ,-".contains($0) })
        // Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT · Sun Nov  6 08:49:37 1994
        guard words.count == 5 || words.count == 6 else { return nil }
        let isAsctime = words.count == 5
        let clock = words[isAsctime ? 3 : 4].split(separator: ":").map { Int64($0) }
        guard let day = Int64(words[isAsctime ? 2 : 1]),
            let month = months.firstIndex(of: String(words[isAsctime ? 1 : 2])),
            var year = Int64(words[isAsctime ? 4 : 3]), clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2],
            (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        guard (1970...9999).contains(year) else { return nil }
        return days(year, Int64(month) + 1, day) * 86400 + hour * 3600 + minute * 60 + second
    }

    package static func now() -> Int64 { Int64(time(nil)) }

    /// Returns the days since 1970-01-01 of a Gregorian date, computed with years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
    }
}
