package import HLSKitCore
import Synchronization

/// The value of `--split`: the duration (`1h`, `30m`, `1:00:00`) or size (`500M`, `2G`) of each file. Sizes use steps
/// of 1000.
package enum SplitArgument: Sendable, Equatable {
    case duration(Duration)
    case byteCount(Int)

    static let minimumByteCount = 100_000

    package init(parsing text: String) throws(ArgumentValueError) {
        // A lower-case `m` means minutes, as elsewhere; units of size are upper case.
        if let last = text.last, "kKMG".contains(last) {
            guard let size = SuffixedNumber.parse(text, step: 1000), size <= 1e15 else { throw Self.failure }
            guard Int(size) >= Self.minimumByteCount else { throw ArgumentValueError("the least size is 100k") }
            self = .byteCount(Int(size))
            return
        }
        guard let duration = DurationArgument.parseOptional(text) else { throw Self.failure }
        guard duration >= .seconds(1) else { throw ArgumentValueError("the least length is 1 s") }
        self = .duration(duration)
    }

    private static var failure: ArgumentValueError {
        ArgumentValueError("write the length of each file, as in 1h or 30m, or its size, as in 500M or 2G")
    }

    package var limit: SplitWriter.Limit {
        switch self {
        case .duration(let duration): .duration(MediaTime(duration))
        case .byteCount(let count): .byteCount(count)
        }
    }
}

package enum SplitNames {
    package static let word = "{part}"

    /// The name of a file: `a.ts` becomes `a-001.ts`, `a-002.ts` …, and a name with `{part}` gets the number there.
    ///
    /// - Parameter number: The number of the file, from 1.
    package static func path(_ path: String, number: Int) -> String {
        let text = number.digits(3)
        guard !path.contains(word) else { return path.replacing(word, with: text) }
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: "."), dot > name else { return "\(path)-\(text)" }
        return "\(path[..<dot])-\(text)\(path[dot...])"
    }
}

/// Names the files of `--split`. A file whose name contains `{date}` or `{time}` is named after its own start.
package final class PartNames: Sendable {
    private let path: String
    private let template: NameTemplate?
    private let containsTime: Bool
    private let url: String
    private let ending: String
    private let urlNumber: Int
    private let latest = Mutex("")

    /// - Parameters:
    ///   - path: The name at the start of the command.
    ///   - template: The typed name if it has placeholders, or `nil`.
    ///   - urlNumber: The number of the URL, from 1.
    package init(path: String, template: String?, url: String, ending: String, urlNumber: Int = 1) {
        self.path = path
        self.template = template.flatMap { try? NameTemplate(parsing: $0) }
        containsTime = template?.contains("{time}") ?? false
        self.url = url
        self.ending = ending
        self.urlNumber = urlNumber
    }

    /// Returns the path of the next file, and creates its folder if the name has placeholders.
    ///
    /// - Parameter number: The number of the file, from 1.
    package func path(_ number: Int) throws(HLSError) -> String {
        var name = path
        if let now = try? template?.path(url: url, ending: ending, number: urlNumber) { name = now }
        let isNew = latest.withLock { latest in
            defer { latest = name }
            return latest != name
        }
        if name.contains(SplitNames.word) || !containsTime || !isNew { name = SplitNames.path(name, number: number) }
        if template != nil { try NameTemplate.makeFolders(of: name) }
        return name
    }
}
