import Synchronization

/// A regular expression that a user wrote, for URIs and attributes: matches where a part of the text does.
///
/// The syntax is that of Swift's `Regex`, which is that of other languages; upper and lower case differ. `^` and `$` stand
/// for the ends of the text.
package final class TextPattern: Sendable, Hashable {
    /// As written.
    package let text: String
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// - Throws: what is wrong with the text.
    package init(_ text: String) throws(ExpressionError) {
        guard !text.isEmpty else { throw ExpressionError("an empty pattern matches everything") }
        do {
            regex = Mutex(try Regex(text).matchingSemantics(.unicodeScalar))
        } catch {
            throw ExpressionError("\"\(text)\" is not a regular expression: \(error)")
        }
        self.text = text
    }

    /// Whether a part of `subject` matches.
    ///
    /// - Complexity: as the pattern has it: one with nested repetitions can take very long.
    package func matches(_ subject: String) -> Bool {
        regex.withLock { (try? $0.firstMatch(in: subject)) != nil }
    }

    package static func == (one: TextPattern, other: TextPattern) -> Bool { one.text == other.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension TextPattern {
    /// Whether the URL of a segment matches, or what the playlist has for it.
    package func matches(_ segment: MediaSegment, of playlist: MediaPlaylist) -> Bool {
        matches(segment.uri) || playlist.resolve(segment.uri).map { matches($0) } ?? false
    }
}

/// Why the text of an expression cannot be used.
package struct ExpressionError: Error, Hashable, CustomStringConvertible {
    package var description: String
    init(_ description: String) { self.description = description }
}
