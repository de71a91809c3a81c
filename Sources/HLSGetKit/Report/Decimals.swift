package import HLSKitCore

/// Formats numbers for people, independent of the locale.
package enum Decimals {
    /// Formats `value` with exactly `places` decimals (0…6), or as `-` if it is not finite.
    package static func text(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "-" }
        var scale = 1
        for _ in 0..<max(0, min(6, places)) { scale *= 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard scale > 1 else { return sign + String(scaled) }
        return "\(sign)\(scaled / scale).\((scaled % scale).digits(min(6, places)))"
    }

    /// Formats a time such as `0:07`, `12:34` or `1:02:03`, rounded down as on a clock.
    package static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e9 else { return "-:--" }
        let total = Int(abs(seconds))
        let minutes = total >= 3600 ? "\(total / 3600):\((total / 60 % 60).digits(2))" : "\(total / 60)"
        let text = "\(minutes):\((total % 60).digits(2))"
        return seconds < 0 && total > 0 ? "-" + text : text
    }

    /// Formats a duration like ``clock(_:)``, rounded to the nearest second: 59.99 s are a minute.
    package static func length(_ seconds: Double) -> String { clock(seconds.rounded()) }

    /// Formats `45 s`, `14 min` or `3 h`, rounded down.
    package static func roughLength(_ seconds: Double) -> String {
        let (unit, name): (Double, String) = seconds < 100 ? (1, "s") : seconds < 6000 ? (60, "min") : (3600, "h")
        return "\(text((seconds / unit).rounded(.down), places: 0)) \(name)"
    }

    package static func rate(_ rate: Double) -> String {
        var text = text(rate, places: 2)
        while text.contains("."), let last = text.last, last == "0" || last == "." {
            text.removeLast()
            if last == "." { break }
        }
        return text + "x"
    }

    package static func bitRate(_ bitsPerSecond: Double) -> String {
        scaled(bitsPerSecond, letters: ["", "k", "M", "G", "T"])
    }

    package static func bitRateWithUnit(_ bitsPerSecond: Double) -> String {
        scaled(bitsPerSecond, letters: [" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s"])
    }

    package static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

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
        // Use one decimal below ten, unless it is zero or the value has no unit letter.
        let tenths = (value * 10).rounded() / 10
        let places = tenths < 10 && tenths != tenths.rounded() && letters.count < 5 ? 1 : 0
        return text(value, places: places) + (letters.first ?? "")
    }
}

extension MediaTime {
    package var finiteSeconds: Double? { isNumeric && seconds.isFinite ? seconds : nil }
}

extension Duration {
    package var inSeconds: Double { self / .seconds(1) }
}
