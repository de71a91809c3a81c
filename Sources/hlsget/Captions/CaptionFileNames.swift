/// Names for several caption files: `film.vtt` becomes `film.de.vtt`, which players find next to `film.mp4`.
struct CaptionFileNames: Sendable {
    private let stem: String
    private let ending: String
    private var taken: Set<String> = []

    init(_ path: String) {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let dot = path[name...].lastIndex(of: ".").flatMap { $0 > name ? $0 : nil } ?? path.endIndex
        stem = String(path[..<dot])
        ending = String(path[dot...])
    }

    /// Returns the name of the next file. All names are unique.
    ///
    /// - Parameters:
    ///   - language: The BCP 47 language tag, or `nil` if undeclared.
    ///   - name: The name of the rendition, which distinguishes renditions in one language.
    mutating func next(language: String?, name: String?) -> String {
        let word = Self.word(language ?? name ?? "")
        var candidates = [word.isEmpty ? "1" : word]
        if language != nil, let name { candidates.append("\(word)-\(Self.word(name))") }
        let last = candidates.last ?? word
        var number = 2
        while candidates.allSatisfy({ taken.contains($0) }) {
            candidates.append("\(last)-\(number)")
            number += 1
        }
        let chosen = candidates.first { !taken.contains($0) } ?? last
        taken.insert(chosen)
        return "\(stem).\(chosen)\(ending)"
    }

    private static func word(_ text: String) -> String {
        String(text.prefix(60).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "_" })
    }
}
