import HLSGetKit
import HLSKitCore

struct MonitorEntry: Sendable, Hashable {
    /// Unique; also used as a label of metrics.
    var name: String
    /// An absolute URL.
    var url: String
    /// Whether to decode the stream, or `nil` to use the command's option.
    var decodes: Bool?
    var quality: QualityExpression?
    var holdTime: Duration?
    var ignored: Set<HealthIssue> = []
    /// Header fields to send with each request, in addition to the command's.
    var fields: [TransportField] = []

    init(name: String, url: String) {
        let parts = FieldsInURL(url)
        self.name = name
        self.url = parts.url
        fields = parts.fields
    }
}

/// The streams of a list file or of the command's arguments.
///
/// A line is `URL` or `name = URL`, followed by `option=value` pairs; `#` at the start of a line begins a comment. A
/// channel list (IPTV) is accepted too and supplies the names.
package struct MonitorList: Sendable, Hashable {
    /// The maximum number of streams, because each one needs a player.
    static let maximumCount = 100_000
    static let maximumByteCount = 32 << 20
    private static let maximumNameLength = 200
    private static let warningCount = 5

    private(set) var entries: [MonitorEntry] = []
    /// The channels of a channel list that cannot be watched, each with the reason.
    private var skipped: [String] = []
    private var lines: [String: Int] = [:]

    init() {}

    /// - Parameters:
    ///   - file: The file name for error messages.
    ///   - directory: The directory that relative paths start from.
    init(parsing text: String, file: String, in directory: String) throws(ArgumentValueError) {
        if let channels = ChannelList(parsing: text) {
            var counts: [String: Int] = [:]
            for channel in channels.channels {
                let name = String(channel.name.prefix(Self.maximumNameLength))
                counts[name, default: 0] += 1
                let count = counts[name] ?? 1
                let url: String
                do throws(ArgumentValueError) { url = try InputLocation.url(of: channel.url, in: directory) } catch {
                    skipped.append("\(channel.name) is skipped: \(error.description)")
                    continue
                }
                try add(MonitorEntry(name: count == 1 ? name : "\(name) (\(count))", url: url), line: nil)
            }
            return
        }
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmed()
            guard let first = line.first, first != "#" else { continue }
            do throws(ArgumentValueError) {
                try add(Self.entry(line, in: directory), line: index + 1)
            } catch {
                throw ArgumentValueError("\(TerminalText.escaped(file)):\(index + 1): \(error.description)")
            }
        }
    }

    mutating func add(url: String, in directory: String) throws(ArgumentValueError) {
        let url = try InputLocation.url(of: url, in: directory)
        try add(MonitorEntry(name: Self.name(of: url), url: url), line: nil)
    }

    mutating func add(_ other: MonitorList) throws(ArgumentValueError) {
        for entry in other.entries { try add(entry, line: nil) }
        skipped += other.skipped
    }

    /// A line for each of the first skipped channels, and one for the others.
    var warnings: [String] {
        let rest = skipped.count - Self.warningCount
        return skipped.prefix(Self.warningCount) + (rest > 0 ? ["\(Decimals.count(rest, "more channel")) skipped"] : [])
    }

    mutating func keep(_ shard: MonitorShard) { entries.removeAll { !shard.holds($0.name) } }

    private mutating func add(_ entry: MonitorEntry, line: Int?) throws(ArgumentValueError) {
        guard entries.count < Self.maximumCount else {
            throw ArgumentValueError("more than \(Self.maximumCount) streams")
        }
        if let other = lines[entry.name] {
            let place = other > 0 ? " (line \(other))" : ""
            throw ArgumentValueError(
                "the name \"\(TerminalText.escaped(entry.name))\" is taken\(place); write name = URL")
        }
        lines[entry.name] = line ?? 0
        entries.append(entry)
    }

    // MARK: Lines

    private static func entry(_ line: String, in directory: String) throws(ArgumentValueError) -> MonitorEntry {
        var rest = line[...]
        var name: String?
        // A name contains no "://", and an equals sign in a URL comes after one.
        if let equals = line.firstIndex(of: "="), !line[..<equals].contains("://"),
            !line[..<equals].trimmed().hasPrefix("/")
        {
            name = line[..<equals].trimmed()
            rest = line[line.index(after: equals)...]
        }
        var words = try words(of: rest)
        guard !words.isEmpty else { throw ArgumentValueError("the URL is missing") }
        let url = try InputLocation.url(of: words.removeFirst(), in: directory)
        var entry = MonitorEntry(name: name ?? Self.name(of: url), url: url)
        guard !entry.name.isEmpty else { throw ArgumentValueError("the name is empty") }
        guard entry.name.count <= maximumNameLength else {
            throw ArgumentValueError("a name of more than \(maximumNameLength) characters")
        }
        for word in words { try apply(word, to: &entry) }
        return entry
    }

    private static func apply(_ word: String, to entry: inout MonitorEntry) throws(ArgumentValueError) {
        guard let equals = word.firstIndex(of: "=") else {
            throw ArgumentValueError("\"\(TerminalText.escaped(word))\" is no option; write option=value")
        }
        let (option, value) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
        switch option {
        case "decode":
            guard ["yes", "no"].contains(value) else { throw ArgumentValueError("decode is yes or no") }
            entry.decodes = value == "yes"
        case "quality": entry.quality = try QualityExpression(argument: value, for: .variants)
        case "for": entry.holdTime = try DurationArgument.parse(value)
        case "ignore":
            for part in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let trouble = HealthIssue(rawValue: String(part)), trouble != .failed, trouble != .stalled
                else {
                    throw ArgumentValueError("ignore takes \(Self.ignorable), with commas")
                }
                entry.ignored.insert(trouble)
            }
        default:
            throw ArgumentValueError(
                "there is no option \"\(TerminalText.escaped(option))\" of a stream; there are decode, quality, for, ignore"
            )
        }
    }

    private static let ignorable = HealthIssue.allCases.filter { $0 != .failed && $0 != .stalled }.map(\.rawValue)
        .joined(separator: ", ")

    /// Splits text at blanks. Quotation marks around a word or a value protect its blanks.
    private static func words(of text: Substring) throws(ArgumentValueError) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "\"" || (character == "'" && word.hasSuffix("=")) {
                quote = character
            } else if character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        guard quote == nil else { throw ArgumentValueError("a quotation mark is not closed") }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// The default name of a stream: its URL without scheme, user and query, which may hold secrets.
    static func name(of url: String) -> String {
        let bare = Redaction.urlWithoutQuery(FieldsInURL(url).url)
        let start = bare.firstRange(of: "://")?.upperBound ?? bare.startIndex
        return String(bare[start...].prefix(maximumNameLength))
    }
}

package struct MonitorShard: Sendable, Hashable {
    /// Counts from 0.
    var index: Int
    var count: Int

    init(parsing text: String) throws(ArgumentValueError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ part in !part.isEmpty && part.allSatisfy { $0.isASCII && $0.isNumber } }),
            let index = Int(parts[0]), let count = Int(parts[1]), (1...10_000).contains(count), index < count
        else { throw ArgumentValueError("write i/n, with i from 0 to n - 1, as in 0/3") }
        self.index = index
        self.count = count
    }

    func holds(_ name: String) -> Bool { StableHash.value(of: name) % UInt64(count) == UInt64(index) }
}
