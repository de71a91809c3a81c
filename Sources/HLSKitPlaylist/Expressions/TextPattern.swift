import Synchronization

/// A user's regular expression for URIs and attributes. It matches if a part of the text matches.
///
/// The syntax is Swift's `Regex` syntax, which resembles that in other languages. Matching is case-sensitive. `^` and
/// `$` match the ends of the text.
package final class TextPattern: Sendable, Hashable {
    package let text: String
    private let regex: Mutex<Regex<AnyRegexOutput>>
    /// The bytes to search for if the pattern has no special characters, which is many times as fast.
    private let literal: [UInt8]?

    package init(_ text: String) throws(ExpressionError) {
        guard !text.isEmpty else { throw ExpressionError("an empty pattern matches everything") }
        do {
            regex = Mutex(try Regex(text).matchingSemantics(.unicodeScalar))
        } catch {
            throw ExpressionError("\"\(text)\" is not a regular expression: \(error)")
        }
        self.text = text
        let isLiteral = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "/-_=%&,:;@~".utf8.contains(byte)
            }
        }
        literal = isLiteral ? Array(text.utf8) : nil
    }

    /// Whether a part of `subject` matches.
    ///
    /// - Complexity: Depends on the pattern. Nested repetitions can take very long.
    package func matches(_ subject: String) -> Bool {
        if let literal { return Self.contains(literal, in: subject) }
        return regex.withLock { (try? $0.firstMatch(in: subject)) != nil }
    }

    private static func contains(_ literal: [UInt8], in subject: String) -> Bool {
        var subject = subject
        return subject.withUTF8 { bytes in
            guard let first = literal.first, literal.count <= bytes.count else { return false }
            for start in 0...(bytes.count - literal.count) where bytes[start] == first {
                if literal.indices.allSatisfy({ bytes[start + $0] == literal[$0] }) { return true }
            }
            return false
        }
    }

    package static func == (one: TextPattern, other: TextPattern) -> Bool { one.text == other.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension TextPattern {
    package func matches(_ segment: MediaSegment, of playlist: MediaPlaylist) -> Bool {
        matches(segment.uri) || playlist.resolve(segment.uri).map { matches($0) } ?? false
    }
}

package struct ExpressionError: Error, Hashable, CustomStringConvertible {
    package var description: String
    init(_ description: String) { self.description = description }
}
