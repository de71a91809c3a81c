import Glibc
import HLSGetKit

/// A list of URLs, one per line. Empty lines and lines starting with `#` are skipped.
enum BatchFile {
    private static let maximumByteCount = 16 << 20
    /// A longer list is assumed to be a mistake.
    static let maximumCount = 100_000

    /// - Parameter path: The path of the list, or `-` for standard input.
    static func urls(at path: String) throws(ArgumentValueError) -> [String] {
        let source = path == "-" ? "/dev/stdin" : path
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(source, atMost: maximumByteCount + 1) } catch {
            throw ArgumentValueError(
                "--batch-file \(TerminalText.escaped(path)): cannot be read: \(FileBytes.text(of: error))")
        }
        guard bytes.count <= maximumByteCount else { throw ArgumentValueError("--batch-file: larger than 16 MiB") }
        let urls = self.urls(in: String(decoding: bytes, as: UTF8.self))
        guard !urls.isEmpty else {
            throw ArgumentValueError("--batch-file \(TerminalText.escaped(path)): the file contains no URL")
        }
        guard urls.count <= maximumCount else {
            throw ArgumentValueError("--batch-file: more than \(maximumCount) URLs")
        }
        return urls
    }

    static func urls(in text: String) -> [String] {
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        return text.split(whereSeparator: \.isNewline).map { $0.trimmed() }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
