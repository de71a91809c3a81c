import Foundation
import Testing

@Suite("AVFoundation migration guide") struct MigrationDocumentTests {
    private static let catalogue = URL(
        fileURLWithPath: #filePath + "/../../../../Sources/HLSKitCore/Documentation.docc"
    )
    .standardized

    private static func rows(of name: String) throws -> [[String]] {
        let text = try String(contentsOf: catalogue.appendingPathComponent(name), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test(
        "A11: each of the three old steps has its replacement",
        arguments: [
            ("loadValuesAsynchronously(forKeys:", "asset.load("), ("statusOfValue(forKey:", "asset.status(of:"),
            ("`asset.duration`", ".loaded("), ("tracks(withMediaType:", "loadTracks(withMediaType:"),
        ])
    func oldSteps(old: String, new: String) throws {
        let row = try #require(try Self.rows(of: "InspectingAssets.md").first { $0.first?.contains(old) == true })
        #expect(row.last?.contains(new) == true)
    }

    @Test("A11: every name in the table exists", arguments: ["FromAVFoundation.md"])
    func names(document: String) throws {
        let sources = try #require(FileManager.default.enumerator(atPath: Self.sources.path))
        var declared: Set<Substring> = []
        for case let path as String in sources where path.hasSuffix(".swift") {
            let text = try String(contentsOf: Self.sources.appendingPathComponent(path), encoding: .utf8)
            for line in text.split(separator: "\n") where line.hasPrefix("public ") {
                let words = line.split { !$0.isLetter && !$0.isNumber }
                if let kind = words.firstIndex(where: { ["class", "struct", "enum", "protocol"].contains($0) }) {
                    declared.formUnion(words.dropFirst(kind + 1).prefix(1))
                }
            }
        }
        let rows = try Self.rows(of: document)
        #expect(rows.count(where: { $0.count == 3 }) > 50)
        for row in rows {
            // A row has a name, its counterpart and the difference, or a subject and its support.
            #expect(row.count == 3 || row.count == 2, "\(row)")
            for link in row.dropFirst().joined(separator: " ").matches(of: /``([A-Za-z]+)/) {
                #expect(declared.contains(link.1), "\(link.1)")
            }
        }
    }

    private static let sources = catalogue.deletingLastPathComponent().deletingLastPathComponent()
}
