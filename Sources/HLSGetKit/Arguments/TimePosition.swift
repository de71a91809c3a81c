import FoundationEssentials
import Glibc
package import HLSKitCore

/// A position on the item's timeline as `--from` and `--to` take it.
package enum TimePosition: Sendable, Equatable {
    case fromStart(Duration)
    /// Before the end of the item or the live edge.
    case fromEnd(Duration)
    case date(PlaylistDate)
    case segment(Int)

    /// Parses `1:30` from the start, `-30s` from the end, `2026-01-31T22:30:00Z` or `#12`.
    init(parsing text: String) throws(ArgumentValueError) {
        if text.hasPrefix("-") {
            self = .fromEnd(try DurationArgument.parse(String(text.dropFirst())))
        } else if text.hasPrefix("#") {
            let digits = text.dropFirst()
            guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits) else {
                throw ArgumentValueError("not a segment; write its media sequence number, as in '#12'")
            }
            self = .segment(number)
        } else if let date = UntilArgument.date(text) {
            self = .date(date)
        } else if let time = DurationArgument.parseOptional(text) {
            self = .fromStart(time)
        } else {
            throw ArgumentValueError(
                "not a time; write seconds (90), 1:30, 1:02:03.5 or 1m30s, a date, or '#12'")
        }
    }

    package var start: StartPosition {
        switch self {
        case .fromStart(let time): .time(MediaTime(time))
        case .fromEnd(let time): .time(MediaTime(.zero - time))
        case .date(let date): .date(Date(date))
        case .segment(let number): .segment(number)
        }
    }

    package var end: EndPosition {
        switch self {
        case .fromStart(let time): .time(MediaTime(time))
        case .fromEnd(let time): .time(MediaTime(.zero - time))
        case .date(let date): .date(Date(date))
        case .segment(let number): .segment(number)
        }
    }
}
