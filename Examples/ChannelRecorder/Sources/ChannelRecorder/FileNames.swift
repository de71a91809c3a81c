import Foundation
import HLSKitCore

/// The paths of a channel's files, by the start time in UTC: `FOLDER/NAME/2026-11-27/21-00-00.ts`.
struct FileNames: Sendable {
    var folder: String
    var channel: String

    /// Returns the path of a file that begins at `date`. A second file in the same second gets a number.
    func path(at date: Date) -> String {
        let path = "\(folder)/\(channel)/\(Self.text(date, "yyyy-MM-dd"))/\(Self.text(date, "HH-mm-ss"))"
        func isFree(_ path: String) -> Bool {
            !FileManager.default.fileExists(atPath: path) && !FileManager.default.fileExists(atPath: path + ".part")
        }
        var name = "\(path).ts"
        var number = 2
        while !isFree(name), number < 1000 {
            name = "\(path)-\(number).ts"
            number += 1
        }
        return name
    }

    /// Returns the time until the current piece of the day, and with it the file, ends.
    static func rest(of length: Duration, at date: Date) -> Duration {
        let length = Double(length.components.seconds)
        let passed = date.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400)
        let rest = length - passed.truncatingRemainder(dividingBy: length)
        // If the length does not divide the day evenly, the last piece ends with the day.
        return .milliseconds(Int64((min(rest, 86_400 - passed) * 1000).rounded(.up)))
    }

    /// Returns the date on which the file with this name began, or `nil` if the file is not ours.
    static func date(ofFile path: String) -> Date? {
        let parts = path.split(separator: "/").suffix(2)
        guard let day = parts.first, let name = parts.last, parts.count == 2 else { return nil }
        guard name.hasSuffix(".ts") || name.hasSuffix(".ts.part") else { return nil }
        return formatter("yyyy-MM-dd/HH-mm-ss").date(from: "\(day)/\(name.prefix(8))")
    }

    private static func text(_ date: Date, _ format: String) -> String { formatter(format).string(from: date) }

    private static func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = format
        return formatter
    }
}
