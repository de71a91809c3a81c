/// `--languages`: BCP 47 tags in the order of preference.
package enum LanguageListArgument {
    package static func parse(_ text: String) throws(ArgumentValueError) -> [String] {
        let tags = text.split(separator: ",", omittingEmptySubsequences: false).map { tag in
            String(tag.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard tags.allSatisfy(isTag) else {
            throw ArgumentValueError("expected language tags with commas between them, as in de,en-GB")
        }
        return tags
    }

    /// Whether all parts are letters and digits, at most eight each, and the first part is letters (RFC 5646 §2.1).
    private static func isTag(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            (1...8).contains(part.count) && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        } && parts.first?.allSatisfy(\.isLetter) == true
    }
}
