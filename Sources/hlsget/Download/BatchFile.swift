import Glibc
import HLSGetKit

/// A list of URLs, one per line, or a channel list with names. Empty lines and lines starting with `#` are skipped.
enum BatchFile {
    struct Entry: Sendable, Equatable {
        /// See ``FieldsInURL``.
        var url: String
        var name: String?
    }

    private static let maximumByteCount = 16 << 20
    /// A longer list is assumed to be a mistake.
    static let maximumCount = 100_000

    /// - Parameter path: The path of the list, or `-` for standard input.
    static func entries(at path: String) throws(ArgumentValueError) -> [Entry] {
        let source = path == "-" ? "/dev/stdin" : path
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(source, atMost: maximumByteCount + 1) } catch {
            throw ArgumentValueError(
                "--batch-file \(TerminalText.escaped(path)): cannot be read: \(FileBytes.text(of: error))")
        }
        guard bytes.count <= maximumByteCount else { throw ArgumentValueError("--batch-file: larger than 16 MiB") }
        let entries = self.entries(in: ChannelList.text(of: bytes) ?? "")
        guard !entries.isEmpty else {
            throw ArgumentValueError("--batch-file \(TerminalText.escaped(path)): the file contains no URL")
        }
        guard entries.count <= maximumCount else {
            throw ArgumentValueError("--batch-file: more than \(maximumCount) URLs")
        }
        return entries
    }

    static func entries(in text: String) -> [Entry] {
        if let list = ChannelList(parsing: text) { return list.channels.map { Entry(url: $0.url, name: $0.name) } }
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        return text.split(whereSeparator: \.isNewline).map { $0.trimmed() }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
            .map { Entry(url: $0) }
    }
}
