/// Keeps of the argument parser's suggestions those that help: `--quailty` is `--quality`, but `--json` is not `--from`.
enum Suggestion {
    private static let words = " Did you mean '"

    /// `message` without a suggestion that has little in common with what was typed.
    static func filtered(_ message: String) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let range = line.firstRange(of: words), let end = line[range.upperBound...].firstIndex(of: "'"),
                let typed = quoted(in: line[..<range.lowerBound])
            else { return String(line) }
            if isNear(typed, String(line[range.upperBound..<end])) { return String(line) }
            var rest = line[line.index(after: end)...]
            if rest.first == "?" { rest = rest.dropFirst() }
            return String(line[..<range.lowerBound]) + rest
        }.joined(separator: "\n")
    }

    private static func quoted(in text: Substring) -> String? {
        let parts = text.split(separator: "'", omittingEmptySubsequences: false)
        return parts.count >= 3 ? String(parts[1]) : nil
    }

    /// One change for three letters.
    private static func isNear(_ typed: String, _ known: String) -> Bool {
        let (typed, known) = (typed.drop { $0 == "-" }, known.drop { $0 == "-" })
        return distance(Array(typed), Array(known)) * 3 <= typed.count
    }

    /// Letters to put in, take out or exchange (Levenshtein).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (i, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, candidate) in other.enumerated() {
                let next = min(row[j] + 1, row[j + 1] + 1, diagonal + (letter == candidate ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[other.count]
    }
}
