import HLSGetKit

extension Decimals {
    /// Formats a time of a session, in tenths of a second (`0:07.3`), or in whole seconds from ten minutes on.
    static func moment(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 600 else { return clock(seconds) }
        let tenths = (seconds * 10).rounded()
        let whole = (tenths / 10).rounded(.towardZero)
        return clock(whole) + "." + text(abs(tenths - whole * 10), places: 0)
    }

    /// Formats a duration with a unit and without line breaks: `340 ms`, `3.4 s`, `42 s`, `2:05 min`, `1:02:03 h`.
    static func seconds(_ seconds: Double) -> String {
        guard seconds.isFinite else { return "-" }
        switch abs(seconds) {
        case ..<0.0005: return "0\u{a0}s"
        case ..<0.9995: return text(seconds * 1000, places: 0) + "\u{a0}ms"
        case ..<9.95: return text(seconds, places: 1) + "\u{a0}s"
        case ..<99.5: return text(seconds, places: 0) + "\u{a0}s"
        case ..<3599.5: return length(seconds) + "\u{a0}min"
        default: return length(seconds) + "\u{a0}h"
        }
    }

    static func percent(_ share: Double) -> String {
        guard share.isFinite else { return "-" }
        let percent = share * 100
        return text(percent, places: percent > 0 && percent < 9.95 ? 1 : 0) + "\u{a0}%"
    }
}
