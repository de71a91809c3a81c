package import HLSKitCore

/// Numbers as people read them, without a locale.
package enum Decimals {
    /// `value` with exactly `places` decimals (0…6); `-` where it is not finite.
    package static func text(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "-" }
        var scale = 1
        for _ in 0..<max(0, min(6, places)) { scale *= 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard scale > 1 else { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: max(0, min(6, places) - fraction.count))
        return "\(sign)\(scaled / scale).\(zeros)\(fraction)"
    }

    /// `0:07`, `12:34`, `1:02:03`; rounded down, as clocks are.
    package static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e9 else { return "-:--" }
        let total = Int(abs(seconds))
        let twoDigits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        let minutes = total / 60 % 60
        let text =
            total >= 3600
            ? "\(total / 3600):\(twoDigits(minutes)):\(twoDigits(total % 60))" : "\(minutes):\(twoDigits(total % 60))"
        return seconds < 0 && total > 0 ? "-" + text : text
    }

    /// A length of time as ``clock(_:)`` writes it, to the nearest second: 59.99 s are a minute.
    package static func length(_ seconds: Double) -> String { clock(seconds.rounded()) }

    /// `1x`, `1.5x`, `0.25x`.
    package static func rate(_ rate: Double) -> String {
        var text = text(rate, places: 2)
        while text.contains("."), let last = text.last, last == "0" || last == "." {
            text.removeLast()
            if last == "." { break }
        }
        return text + "x"
    }

    /// Three figures and the letter for thousands: `800k`, `2.4M`, `12M`.
    package static func bitRate(_ bitsPerSecond: Double) -> String {
        scaled(bitsPerSecond, letters: ["", "k", "M", "G", "T"])
    }

    /// `2.4 Mbit/s`.
    package static func bitRateWithUnit(_ bitsPerSecond: Double) -> String {
        scaled(bitsPerSecond, letters: [" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s"])
    }

    /// `1 segment`, `2 segments`.
    package static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// `532 B`, `1.2 MB`.
    package static func bytes(_ count: Int) -> String {
        scaled(Double(count), letters: [" B", " kB", " MB", " GB", " TB"])
    }

    private static func scaled(_ value: Double, letters: [String]) -> String {
        guard value.isFinite, value >= 0 else { return "-" }
        var value = value
        var letters = letters[...]
        while value >= 999.5, letters.count > 1 {
            value /= 1000
            letters = letters.dropFirst()
        }
        // Below ten one decimal, unless it is a zero or there is no letter to be a fraction of.
        let tenths = (value * 10).rounded() / 10
        let places = tenths < 10 && tenths != tenths.rounded() && letters.count < 5 ? 1 : 0
        return text(value, places: places) + (letters.first ?? "")
    }
}

extension MediaTime {
    /// Seconds; nil if the time is not a number.
    package var finiteSeconds: Double? { isNumeric && seconds.isFinite ? seconds : nil }
}

extension Duration {
    /// Seconds, rounded to the precision of a `Double`.
    package var inSeconds: Double { self / .seconds(1) }
}
