import HLSKitCore

/// The command line: `ChannelRecorder [--keep DAYS] [--every MINUTES] FOLDER NAME=URL…`.
struct RecorderOptions: Sendable, Equatable {
    struct Channel: Sendable, Equatable {
        /// The name of the channel, and of the folder for its files.
        var name: String
        var url: String
    }

    struct Mistake: Error, CustomStringConvertible {
        var description: String
    }

    static let usage = "usage: ChannelRecorder [--keep DAYS] [--every MINUTES] FOLDER NAME=URL…"

    var folder = ""
    var channels: [Channel] = []
    /// The age at which files are removed, or `nil` to keep all files.
    var age: Duration?
    /// The length of a file. The day is split into pieces of this length from midnight UTC.
    var length: Duration = .seconds(3600)

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--keep": age = .seconds(try Self.number(rest.popFirst(), in: 1...3650) * 86_400)
            case "--every": length = .seconds(try Self.number(rest.popFirst(), in: 1...1440) * 60)
            case _ where argument.hasPrefix("--"): throw Mistake(description: "unknown option \(argument)")
            case _ where folder.isEmpty: folder = argument
            default: channels.append(try Self.channel(argument))
            }
        }
        guard !folder.isEmpty, !channels.isEmpty else { throw Mistake(description: Self.usage) }
        guard Set(channels.map(\.name)).count == channels.count else {
            throw Mistake(description: "two channels have one name")
        }
    }

    private static func number(_ text: String?, in range: ClosedRange<Int>) throws -> Int {
        guard let text, let number = Int(text), range.contains(number) else {
            throw Mistake(description: "a number from \(range.lowerBound) to \(range.upperBound) is wanted")
        }
        return number
    }

    private static func channel(_ text: String) throws -> Channel {
        let parts = text.split(separator: "=", maxSplits: 1)
        let isName = parts.first?.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" } ?? false
        guard parts.count == 2, isName else {
            throw Mistake(description: "\(text): NAME=URL is wanted, with a name of letters, digits, - and _")
        }
        return Channel(name: String(parts[0]), url: String(parts[1]))
    }
}
