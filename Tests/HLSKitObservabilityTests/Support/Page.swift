import Foundation
import TestSupport

/// The tables of a page of the documentation.
struct Page {
    /// The cells of each row whose first cell is a name in backquotes.
    let rows: [[String]]

    init(_ path: String) throws {
        let url = URL(filePath: SampleMedia.fixtures).appending(path: "../../\(path)").standardized
        rows = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// What is in backquotes in a cell.
    static func names(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
            index % 2 == 1 ? String(part) : nil
        }
    }
}
