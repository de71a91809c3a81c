public import FoundationEssentials
import FoundationInternationalization
public import HLSKitCore

/// Names of options for people, in their language.
extension MediaSelectionOption {
    /// ``extendedLanguageTag`` as a locale; nil if undeclared.
    public var locale: Locale? {
        extendedLanguageTag.map { Locale(identifier: LanguageTag.shortest($0)) }
    }

    /// The name of the option for people who read `locale`: that of its language, with what ``displayName`` tells
    /// besides: `Englisch (Director's cut)` for `English - Director's cut`.
    ///
    /// ``displayName`` itself where the option declares no language, or one that has no name.
    public func displayName(with locale: Locale) -> String {
        guard let own = self.locale, let name = LanguageNames.name(of: own, in: locale) else { return displayName }
        let rest = LanguageNames(of: own, in: locale).removed(from: displayName)
        return rest.isEmpty ? name : "\(name) (\(rest))"
    }
}

/// What a language is called where a `NAME` may call it: in its own words, in English, in those of a reader, by its tag.
private struct LanguageNames {
    /// The longest first, in lower case.
    private let names: [String]

    init(of language: Locale, in reader: Locale) {
        let code = language.language.languageCode?.identifier
        let readers = [reader, language, Locale(identifier: "en")]
        let whole = readers.compactMap { Self.name(of: language, in: $0) }
        let short = code.map { code in readers.compactMap { $0.localizedString(forLanguageCode: code) } } ?? []
        let tags = [language.identifier(.bcp47), language.identifier, code].compactMap(\.self)
        names = Set((whole + short + tags).map { $0.lowercased() }).sorted { ($1.count, $0) < ($0.count, $1) }
    }

    /// The name of a language with its script and region, in the words of a reader; nil where it has none.
    static func name(of language: Locale, in reader: Locale) -> String? {
        let identifier = language.identifier
        guard let name = reader.localizedString(forIdentifier: identifier), !name.isEmpty,
            name.lowercased() != identifier.lowercased()
        else { return nil }
        return name
    }

    /// What is left of a text that begins with a name of the language as a word; all of it if it does not.
    func removed(from text: String) -> String {
        let lowercased = text.lowercased()
        // Lower case may have another length; then nothing is told apart by it.
        guard lowercased.count == text.count,
            let name = names.first(where: { name in
                lowercased.hasPrefix(name) && !(lowercased.dropFirst(name.count).first?.isLetter ?? false)
            })
        else { return text }
        var rest = text.dropFirst(name.count)
        while let first = rest.first, !first.isLetter, !first.isNumber { rest = rest.dropFirst() }
        while let last = rest.last, last.isWhitespace || last == ")" || last == "]" { rest = rest.dropLast() }
        // What was opened inside is closed inside.
        if rest.contains("("), !rest.contains(")") { rest += ")" }
        return String(rest)
    }
}
